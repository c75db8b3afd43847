"""Commits that meet others: who wins, what a lost race leaves, and what is said when the outcome is not known."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.outcomes import LOOKS
from lakeward_catalog.application.tabulars.queueing import Queues
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, a_house, refusal_of
from tests.support.catalog.memory_rows import Fate
from tests.support.catalog.tables import (
    Json,
    commit,
    document,
    drop,
    load,
    once_after,
    prop,
    properties,
    ref,
    snapshot,
    until,
)

AWAY = Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is away")
NO_SNAPSHOT: Json = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}


@pytest.fixture
async def house() -> House:
    return await a_house()


@pytest.fixture
def elsewhere(house: House) -> House:
    """Another process, over the same database and store."""
    return House(shares=house)


async def unshielded(work: Any) -> Any:
    return await work


def written(house: House, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Locations of files, as they are written."""
    found, write = list[str](), house.files.write

    async def noted(*args: Any, **kwargs: Any) -> None:
        found.append(args[2])
        await write(*args, **kwargs)

    monkeypatch.setattr(house.files, "write", noted)
    return found


# -- races


async def test_a_race_that_was_lost_is_run_again_on_what_won_it(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = once_after(house.files.write, lambda: commit(elsewhere, prop("theirs")))
    monkeypatch.setattr(house.files, "write", theirs)
    reply = await commit(house, prop("mine"))
    assert properties(reply) == properties(await load(elsewhere)) == ["mine", "theirs"]
    assert [entry["metadata-file"] for entry in document(reply)["metadata-log"]][1:] == [
        house.event(-2)["data"]["tabular"]["metadata-location"]
    ]
    assert len(house.files.stored) == 4, "of orders, of recent, theirs and mine"
    assert house.events()[4:] == ["updateTable", "updateTable"]


async def test_a_race_is_not_run_again_where_a_requirement_does_not_hold_any_more(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = once_after(house.files.write, lambda: commit(elsewhere, *snapshot(1)))
    monkeypatch.setattr(house.files, "write", theirs)
    added, _ = snapshot(1, **{"snapshot-id": 9})
    refusal = await refusal_of(commit(house, added, ref("main", 9), requirements=[NO_SNAPSHOT]))
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT
    assert document(await load(house))["current-snapshot-id"] == 1
    assert len(house.files.stored) == 3


async def test_who_loses_every_race_is_told_so_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house(shield=unshielded)  # so that each commit is one task
    elsewhere = House(shares=house, shield=unshielded)
    write, rounds = house.files.write, 0

    async def after_another(*args: Any, **kwargs: Any) -> None:
        nonlocal rounds
        await write(*args, **kwargs)
        if asyncio.current_task() not in others:
            rounds += 1
            task = asyncio.ensure_future(commit(elsewhere, prop(f"theirs{rounds}")))
            others.add(task)
            await task

    others: set[Any] = set()
    monkeypatch.setattr(house.files, "write", after_another)
    refusal = await refusal_of(commit(house, prop("mine")))
    assert (refusal.reason, refusal.metadata["object"]) == (Reason.REASON_COMMIT_CONFLICT, "sales.orders")
    assert rounds == 4
    assert properties(await load(house)) == [f"theirs{n}" for n in range(1, rounds + 1)]
    assert len(house.files.stored) == 2 + rounds


async def test_a_document_that_was_replaced_before_it_was_read_costs_no_file(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, read = House(shares=house), house.catalog.bodies.body

    async def replaced_meanwhile(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(house.catalog.bodies, "body", read)
        await commit(elsewhere, prop("theirs"))
        return await read(*args, **kwargs)

    monkeypatch.setattr(house.catalog.bodies, "body", replaced_meanwhile)
    files = written(house, monkeypatch)
    await commit(fresh, prop("mine"))
    assert properties(await load(house)) == ["mine", "theirs"]
    assert len(files) == 2


async def test_a_table_that_is_dropped_while_the_file_is_written_is_absent_and_the_file_gone(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict(house.files.stored)
    monkeypatch.setattr(house.files, "write", once_after(house.files.write, lambda: drop(elsewhere, "orders")))
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_NO_SUCH_TABLE
    assert house.files.stored == files


async def _writes_of_eight(house: House, monkeypatch: pytest.MonkeyPatch) -> int:
    files = written(house, monkeypatch)
    calls = [commit(house, prop(f"k{n}")) for n in range(8)]
    for refused in await asyncio.gather(*calls, return_exceptions=True):
        assert not isinstance(refused, Refusal) or refused.reason == Reason.REASON_COMMIT_CONFLICT
    return len(files)


async def test_commits_of_one_process_write_no_file_for_a_race_that_they_lose_among_themselves(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await _writes_of_eight(house, monkeypatch) == 8


async def test_without_a_queue_they_do(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.asynccontextmanager
    async def unqueued(*_: Any) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(Queues, "turn", unqueued)
    assert await _writes_of_eight(house, monkeypatch) > 8


async def test_commits_of_two_processes_at_once_lose_nothing(house: House, elsewhere: House) -> None:
    async def until_it_is_in(process: House, key: str) -> None:
        while True:
            try:
                await commit(process, prop(key))
            except Refusal as refusal:
                if refusal.reason != Reason.REASON_COMMIT_CONFLICT:
                    raise
            else:
                return

    await asyncio.gather(
        *(until_it_is_in(process, f"{n}{m}") for n in range(6) for m, process in enumerate((house, elsewhere)))
    )
    assert len(properties(await load(house))) == 12
    assert len(house.files.stored) == 2 + 12
    assert house.events().count("updateTable") == 12


# -- unknown outcomes


async def test_a_commit_that_went_on_elsewhere_before_it_could_be_read_back_is_unknown_and_keeps_its_file(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.catalog.next_commit = Fate.LOST_AFTER
    before = once_before(house.catalog.changes.current_metadata, lambda: commit(elsewhere, prop("theirs")))
    monkeypatch.setattr(house.catalog.changes, "current_metadata", before)
    assert (await refusal_of(commit(house, prop("mine")))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert properties(await load(elsewhere)) == ["mine", "theirs"]
    for entry in document(await load(elsewhere))["metadata-log"]:
        assert entry["metadata-file"] in house.files.stored


async def test_a_table_that_is_gone_before_a_commit_could_be_read_back_is_unknown(
    house: House, elsewhere: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.catalog.next_commit = Fate.LOST_BEFORE
    before = once_before(house.catalog.changes.current_metadata, lambda: drop(elsewhere, "orders"))
    monkeypatch.setattr(house.catalog.changes, "current_metadata", before)
    assert (await refusal_of(commit(house, prop("mine")))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert len(house.files.stored) == 3


@pytest.mark.parametrize("away_for", [1, LOOKS - 1])
async def test_reading_back_waits_for_the_database(
    house: House, away_for: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, asked = house.catalog.changes.current_metadata, 0

    async def away_first(*args: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked <= away_for:
            raise AWAY
        return await read(*args)

    monkeypatch.setattr(house.catalog.changes, "current_metadata", away_first)
    house.catalog.next_commit = Fate.LOST_AFTER
    assert properties(await commit(house, prop("a"))) == ["a"]
    assert asked == away_for + 1


@pytest.mark.parametrize("fate", [Fate.LOST_BEFORE, Fate.LOST_AFTER])
async def test_a_commit_that_changes_nothing_has_no_outcome_to_be_unknown(house: House, fate: Fate) -> None:
    await commit(house, prop("a"))
    house.catalog.next_commit = fate
    assert properties(await commit(house, prop("a"), key=uuid4())) == ["a"]


def once_before(read: Any, happens: Any) -> Any:
    pending = [happens]

    async def later(*args: Any) -> Any:
        if pending:
            await pending.pop()()
        return await read(*args)

    return later


# -- callers who leave


async def test_a_caller_who_leaves_after_the_file_was_written_has_committed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()

    async def told() -> None:
        reached.set()
        await asyncio.sleep(0)

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, told))
    caller = asyncio.ensure_future(commit(house, prop("a")))
    await reached.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await until(lambda: house.events()[-1] == "updateTable")
    assert properties(await load(house)) == ["a"]
    assert house.tabular("orders").metadata_location in house.files.stored


async def test_without_a_shield_a_file_would_be_left_that_nothing_points_to(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house(shield=unshielded)
    reached = asyncio.Event()

    async def told() -> None:
        reached.set()
        await asyncio.sleep(0)

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, told))
    caller = asyncio.ensure_future(commit(house, prop("a")))
    await reached.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert (len(house.files.stored), properties(await load(house))) == (3, [])


async def test_who_comes_after_a_caller_who_left_builds_on_what_that_one_committed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def held() -> None:
        reached.set()
        await go_on.wait()

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, held))
    caller = asyncio.ensure_future(commit(house, prop("left")))
    await reached.wait()
    caller.cancel()
    await asyncio.wait([caller])
    after = asyncio.ensure_future(commit(house, prop("after")))
    go_on.set()
    await after
    await until(lambda: house.events().count("updateTable") == 2)
    assert properties(await load(house)) == ["after", "left"]
    assert len(house.files.stored) == 4


async def test_a_caller_who_leaves_the_queue_lets_the_next_one_in(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def held() -> None:
        reached.set()
        await go_on.wait()

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, held))
    first, leaves, third = (asyncio.ensure_future(commit(house, prop(key))) for key in "abc")
    await reached.wait()
    leaves.cancel()
    go_on.set()
    await asyncio.gather(first, third)
    assert properties(await load(house)) == ["a", "c"]
