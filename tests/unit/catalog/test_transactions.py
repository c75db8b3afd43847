"""Transactions over tables: all or none, in one database transaction and one set of events."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.gates import ProposedChange
from lakeward_catalog.application.tables import updates
from lakeward_catalog.domain.model import State
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.memory_rows import Fate
from tests.support.catalog.tables import (
    STAGED,
    Json,
    commit,
    create,
    drop,
    load,
    once_after,
    prop,
    properties,
    transaction,
)
from tests.support.deciding import Rule

ORDERS, ITEMS, LINES = (("sales", name) for name in ("orders", "items", "lines"))
FAILS: Json = {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 99}


@pytest.fixture
async def house() -> House:
    house = await a_house()
    for name in ("items", "lines"):
        await house.make_table("sales", name)
    return house


def all_three(house: House, update: Json, **members: Any) -> Any:
    return transaction(house, *((path, update) for path in (ORDERS, ITEMS, LINES)), **members)


async def seen(house: House) -> list[list[str]]:
    return [properties(await load(house, *path)) for path in (ORDERS, ITEMS, LINES)]


async def test_every_table_of_a_transaction_changes_and_tells(house: House) -> None:
    told = len(house.events())
    before = [house.tabular(name).metadata_location for name in ("orders", "items", "lines")]
    await transaction(house, (ORDERS, prop("a")), (ITEMS, prop("b")), (LINES, prop("c")))
    assert await seen(house) == [["a"], ["b"], ["c"]]
    events = [house.event(index) for index in range(told, len(house.events()))]
    assert [event["type"] for event in events] == ["updateTable"] * 3
    assert [(event["sequence-number"], event["num-events"]) for event in events] == [(0, 3), (1, 3), (2, 3)]
    assert len({event["id"] for event in events}) == 3
    assert [event["data"]["previous-metadata-location"] for event in events] == before
    assert [event["data"]["tabular"]["metadata-location"] for event in events] == [
        house.tabular(name).metadata_location for name in ("orders", "items", "lines")
    ]
    assert [event["data"]["request"]["updates"] for event in events] == [[prop(key)] for key in "abc"]


@pytest.mark.parametrize("bad", ["requirement", "absent", "staged", "denied", "hidden", "update", "gate", "lost"])
async def test_one_table_that_can_not_change_keeps_all_from_changing(
    house: House, bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: list[Any] = [(ORDERS, prop("a")), (ITEMS, prop("a")), (LINES, prop("a"))]
    requirements: dict[str, list[Json]] = {}
    theirs = house.tabular("items").incarnation
    expected = {
        "requirement": Reason.REASON_COMMIT_CONFLICT,
        "absent": Reason.REASON_NO_SUCH_TABLE,
        "staged": Reason.REASON_COMMIT_CONFLICT,
        "denied": Reason.REASON_FORBIDDEN,
        "hidden": Reason.REASON_NO_SUCH_TABLE,
        "update": Reason.REASON_INVALID_UPDATE,
        "gate": Reason.REASON_CHANGE_REFUSED,
        "lost": Reason.REASON_DATABASE_UNAVAILABLE,
    }[bad]
    match bad:
        case "requirement":
            requirements["items"] = [FAILS]
        case "absent":
            changes[1] = (("sales", "nowhere"), prop("a"))
        case "staged":
            await create(house, **STAGED)
            changes[1], requirements["new"] = (("sales", "new"), prop("a")), [FAILS]
        case "denied":
            house.authorizer.replace(Rule(allows=False, id=theirs, action=Action.TABLE_COMMIT), ANYTHING)
        case "hidden":
            house.authorizer.replace(Rule(allows=False, id=theirs), ANYTHING)
        case "update":
            changes[1] = (ITEMS, {"action": "set-current-schema", "schema-id": 77})
        case "gate":

            async def objects(change: ProposedChange) -> bool:
                if change.name == "items":
                    raise Refusal(Reason.REASON_CHANGE_REFUSED, "no", gate="g", object="sales.items")
                return True

            monkeypatch.setattr(house.parts.gate, "check", objects)
        case _:
            house.catalog.next_commit = Fate.AWAY
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    refusal = await refusal_of(transaction(house, *changes, requirements=requirements))
    assert refusal.reason == expected
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_a_race_lost_at_one_table_runs_all_of_them_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = House(shares=house)
    theirs = once_after(house.files.write, lambda: commit(elsewhere, prop("theirs"), path=ITEMS))
    monkeypatch.setattr(house.files, "write", theirs)
    await all_three(house, prop("mine"))
    assert await seen(elsewhere) == [["mine"], ["mine", "theirs"], ["mine"]]
    assert len(house.files.stored) == 4 + 3 + 1


async def test_of_transactions_over_the_same_tables_in_any_order_none_is_lost_and_none_waits_forever(
    house: House,
) -> None:
    orders = [(ORDERS, ITEMS), (ITEMS, LINES), (LINES, ORDERS), (ITEMS, ORDERS)]
    async with asyncio.timeout(30):
        await asyncio.gather(
            *(transaction(house, *((path, prop(f"t{n}")) for path in paths)) for n, paths in enumerate(orders))
        )
    assert await seen(house) == [["t0", "t2", "t3"], ["t0", "t1", "t3"], ["t1", "t2"]]
    assert len(house.files.stored) == 4 + 8


async def test_a_table_that_stays_as_it_is_writes_and_tells_nothing(house: House) -> None:
    await commit(house, prop("a"))
    files, told, metadata = len(house.files.stored), len(house.events()), house.tabular("orders").metadata_id
    await transaction(house, (ORDERS, prop("a")), (ITEMS, prop("a")))
    assert (len(house.files.stored), len(house.events())) == (files + 1, told + 1)
    assert house.tabular("orders").metadata_id == metadata
    assert (house.event()["name"], house.event()["num-events"]) == ("items", 1)


async def test_a_staged_table_may_begin_in_a_transaction(house: House) -> None:
    await create(house, **STAGED)
    created: Json = {"type": "assert-create"}
    await transaction(house, (ORDERS, prop("a")), (("sales", "new"), prop("a")), requirements={"new": [created]})
    assert house.tabular("new").state is State.LIVE
    assert house.tabular("new").metadata_location in house.files.stored


@pytest.mark.parametrize(("fate", "happened"), [(Fate.LOST_BEFORE, False), (Fate.LOST_AFTER, True)])
async def test_what_is_read_back_of_one_table_holds_for_all(house: House, fate: Fate, happened: bool) -> None:
    files = len(house.files.stored)
    house.catalog.next_commit = fate
    if happened:
        await all_three(house, prop("a"))
    else:
        assert (await refusal_of(all_three(house, prop("a")))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert await seen(house) == [["a"] if happened else []] * 3
    assert len(house.files.stored) == files + (3 if happened else 0)


async def test_files_of_a_transaction_whose_outcome_is_not_known_all_stay(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")

    monkeypatch.setattr(house.catalog.changes, "current_metadata", away)
    house.catalog.next_commit = Fate.LOST_AFTER
    assert (await refusal_of(all_three(house, prop("a")))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert {row.metadata_location for row in house.catalog.rows.tabulars.values()} <= house.files.stored.keys()


async def test_a_transaction_of_nothing_succeeds_for_who_may_use_the_warehouse_alone(house: House) -> None:
    rows = house.catalog.rows.copy()
    await transaction(house)
    assert house.catalog.rows == rows
    house.authorizer.replace(Rule(allows=False))
    assert (await refusal_of(transaction(house))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_repeated_transaction_under_a_key_changes_nothing_though_a_table_is_gone(house: House) -> None:
    key = uuid4()
    await all_three(house, prop("a"), key=key)
    told = len(house.events())
    await drop(house, "items")
    await all_three(house, prop("a"), key=key)
    assert len(house.events()) == told + 1  # the drop


async def test_a_change_without_a_table_and_too_many_of_them_are_refused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"table-changes": [{"requirements": [], "updates": []}]}).encode()
    request = tables_pb2.CommitTransactionRequest(warehouse_id=house.warehouse_id, body=body)
    assert (await refusal_of(house.tables.CommitTransaction(request))).reason == Reason.REASON_IDENTIFIER_REQUIRED
    monkeypatch.setattr(updates, "MAX_TABLES", 2)
    assert (await refusal_of(all_three(house, prop("a")))).reason == Reason.REASON_TOO_MANY_TABLES


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"table-changes": {}}',
        b'{"table-changes": [], "table-changes": [{"updates": []}]}',
        b'{"table-changes": [{"identifier": {"namespace": ["sales"], "name": 1}, "requirements": [], "updates": []}]}',
    ],
)
async def test_what_is_no_transaction_is_refused_as_such(house: House, body: bytes) -> None:
    request = tables_pb2.CommitTransactionRequest(warehouse_id=house.warehouse_id, body=body)
    refusal = await refusal_of(house.tables.CommitTransaction(request))
    assert refusal.reason in {Reason.REASON_MALFORMED_DOCUMENT, Reason.REASON_IDENTIFIER_REQUIRED}
