from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from lakeward_catalog.adapters.postgres.locating import Key, Locating
from lakeward_catalog.application.ports.stores import Located
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.values import a_project, a_warehouse, uuid7

HERE = WarehouseId(uuid7())


def _ident(name: str) -> TabularIdent:
    return TabularIdent(NamespaceIdent(("ns",)), name)


class Slow(Locating):
    """Answers batches when it is told to, with a warehouse per batch, so that a test sees who shared one."""

    def __init__(self, **most: int) -> None:
        nothing: Any = None  # neither a pool nor containers: batches are answered here
        super().__init__(nothing, nothing, **most)
        self.batches: list[list[Key]] = []
        self.answers: asyncio.Semaphore = asyncio.Semaphore(0)
        self.failure: Exception | None = None

    async def locate_many(self, keys: Sequence[Key]) -> Sequence[Located]:
        self.batches.append(list(keys))
        number = len(self.batches)
        await self.answers.acquire()
        if self.failure is not None:
            raise self.failure
        return [Located(a_warehouse(a_project(), str(number)), None, None) for _ in keys]


async def _turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def _batch_of(located: Located) -> str:
    assert located.warehouse is not None
    return located.warehouse.name


async def test_calls_of_one_moment_share_a_batch_and_equal_keys_share_a_place() -> None:
    tabulars = Slow()
    tabulars.answers.release()
    names = ["a", "b", "A"]
    found = await asyncio.gather(*(tabulars.locate(HERE, _ident(name)) for name in names))
    assert [_batch_of(each) for each in found] == ["1", "1", "1"]
    assert [key.name_key for key in tabulars.batches[0]] == ["a", "b"]


async def test_a_call_never_joins_a_batch_that_was_sent() -> None:
    tabulars = Slow(most_batches=1)
    first = asyncio.create_task(tabulars.locate(HERE, _ident("a")))
    await _turns()
    second = asyncio.create_task(tabulars.locate(HERE, _ident("a")))
    await _turns()
    assert len(tabulars.batches) == 1
    tabulars.answers.release()
    tabulars.answers.release()
    assert [_batch_of(await first), _batch_of(await second)] == ["1", "2"]


async def test_no_more_batches_than_allowed_are_under_way_and_none_is_too_long() -> None:
    tabulars = Slow(most_items=3, most_batches=2)
    calls = [asyncio.create_task(tabulars.locate(HERE, _ident("first")))]
    await _turns()
    calls += [asyncio.create_task(tabulars.locate(HERE, _ident(str(index)))) for index in range(8)]
    await _turns()
    assert [len(batch) for batch in tabulars.batches] == [1, 3]
    for _ in range(10):
        tabulars.answers.release()
    await asyncio.gather(*calls)
    assert max(len(batch) for batch in tabulars.batches) == 3


async def test_a_call_that_comes_as_a_sender_ends_is_answered() -> None:
    tabulars = Slow(most_batches=1)
    for _ in range(50):
        tabulars.answers.release()
        async with asyncio.timeout(5):
            await tabulars.locate(HERE, _ident("a"))


async def test_a_cancelled_caller_takes_the_answer_from_nobody() -> None:
    tabulars = Slow()
    gone, stays = (asyncio.create_task(tabulars.locate(HERE, _ident("a"))) for _ in range(2))
    await _turns()
    gone.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await gone
    tabulars.answers.release()
    assert _batch_of(await stays) == "1"


async def test_a_refused_batch_is_refused_to_each_caller_and_the_next_is_sent() -> None:
    tabulars = Slow(most_batches=1)
    tabulars.failure = Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")
    tabulars.answers.release()
    outcomes = await asyncio.gather(*(tabulars.locate(HERE, _ident(name)) for name in "ab"), return_exceptions=True)
    assert all(isinstance(each, Refusal) for each in outcomes)
    assert outcomes[0] is not outcomes[1]
    tabulars.failure = None
    tabulars.answers.release()
    await tabulars.locate(HERE, _ident("a"))


async def test_a_fault_in_a_batch_reaches_its_callers() -> None:
    tabulars = Slow()
    tabulars.failure = ZeroDivisionError()
    tabulars.answers.release()
    with pytest.raises(ZeroDivisionError):
        await tabulars.locate(HERE, _ident("a"))
