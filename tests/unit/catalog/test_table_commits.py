"""Commits to tables: what is written, what is taken back, and what is said when the outcome is not known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, commit_body, context, refusal_of, tabular
from tests.support.catalog.memory_rows import Fate
from tests.support.deciding import Rule

Json = dict[str, Any]


def prop(key: str, value: str = "x") -> Json:
    return {"action": "set-properties", "updates": {key: value}}


def statistics(path: str) -> Json:
    entry = {
        "snapshot-id": 7,
        "statistics-path": path,
        "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1,
        "blob-metadata": [],
    }
    return {"action": "set-statistics", "statistics": entry}


def commit(house: House, *updates: Json, path: tuple[str, ...] = ("sales", "orders"), **members: Any) -> Any:
    body = json.loads(commit_body(*updates)) | members
    return house.tables.CommitTable(
        tables_pb2.CommitTableRequest(
            warehouse_id=house.warehouse_id, table=tabular(*path), body=json.dumps(body).encode()
        )
    )


def transaction(house: House, *changes: tuple[tuple[str, ...], Json]) -> Any:
    entries = [
        {"identifier": {"namespace": list(path[:-1]), "name": path[-1]}, "requirements": [], "updates": [update]}
        for path, update in changes
    ]
    return house.tables.CommitTransaction(
        tables_pb2.CommitTransactionRequest(
            warehouse_id=house.warehouse_id, body=json.dumps({"table-changes": entries}).encode()
        )
    )


def load(house: House, *path: str, **members: Any) -> Any:
    return house.tables.LoadTable(
        tables_pb2.LoadTableRequest(
            warehouse_id=house.warehouse_id, table=tabular(*(path or ("sales", "orders"))), **members
        )
    )


def document(reply: Any) -> Mapping[str, Any]:
    found: Json = json.loads(reply.table.metadata.plain)
    return found


@pytest.mark.parametrize(("fate", "happened"), [(Fate.AWAY, False), (Fate.LOST_BEFORE, False), (Fate.LOST_AFTER, True)])
async def test_no_table_points_to_a_file_that_is_not_there_whatever_becomes_of_a_commit(
    fate: Fate, happened: bool
) -> None:
    house = await a_house()
    house.catalog.next_commit = fate
    if happened:
        await commit(house, prop("a"))
    else:
        assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert house.tabular("orders").metadata_location in house.files.stored
    assert ("a" in document(await load(house))["properties"]) is happened
    assert len(house.files.stored) == 2 + happened  # of orders, of recent, and of the commit


@pytest.mark.parametrize("fate", [Fate.LOST_BEFORE, Fate.LOST_AFTER])
async def test_a_commit_that_can_not_be_read_back_keeps_its_file_and_is_said_to_be_unknown(
    fate: Fate, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house()

    async def away(*_: Any) -> None:
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is away")

    monkeypatch.setattr(house.catalog.changes, "current_metadata", away)
    house.catalog.next_commit = fate
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert len(house.files.stored) == 3
    assert house.tabular("orders").metadata_location in house.files.stored


async def test_commits_at_once_lose_nothing_and_write_no_file_that_none_of_them_needs() -> None:
    house = await a_house()
    await asyncio.gather(*(commit(house, prop(f"k{n}")) for n in range(16)))
    assert sorted(document(await load(house))["properties"]) == sorted(f"k{n}" for n in range(16))
    assert len(house.files.stored) == 2 + 16


async def test_a_transaction_of_which_one_file_can_not_be_written_leaves_none_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    await house.make_table("sales", "items")
    rows, files, write = house.catalog.rows.copy(), dict(house.files.stored), house.files.write

    async def fails_for_items(warehouse: Any, table: Any, *args: Any, **kwargs: Any) -> None:
        if table.ident.name == "items":
            raise Refusal(Reason.REASON_STORE_UNAVAILABLE, "the store is away", store="s3")
        await write(warehouse, table, *args, **kwargs)

    monkeypatch.setattr(house.files, "write", fails_for_items)
    changes = [(("sales", "orders"), prop("a")), (("sales", "items"), prop("a"))]
    assert (await refusal_of(transaction(house, *changes))).reason == Reason.REASON_STORE_UNAVAILABLE
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_a_transaction_names_no_table_twice_in_two_spellings() -> None:
    house = await a_house()
    refusal = await refusal_of(transaction(house, (("sales", "orders"), prop("a")), (("Sales", "ORDERS"), prop("b"))))
    assert refusal.reason == Reason.REASON_IDENTIFIERS_NOT_UNIQUE


async def test_the_identifier_in_a_body_may_be_spelt_unlike_the_path() -> None:
    house = await a_house()
    reply = await commit(house, prop("a"), identifier={"namespace": ["SALES"], "name": "Orders"})
    assert document(reply)["properties"] == {"a": "x"}


async def test_statistics_that_replace_others_are_the_ones_that_a_load_shows() -> None:
    house = await a_house()
    added = {
        "action": "add-snapshot",
        "snapshot": {
            "snapshot-id": 7,
            "sequence-number": 1,
            "timestamp-ms": int(house.clock.now().timestamp() * 1000),
            "manifest-list": "s3://lake/demo/m.avro",
            "summary": {"operation": "append"},
            "schema-id": 0,
        },
    }
    await commit(house, added, statistics("s3://lake/demo/old.puffin"))
    await commit(house, statistics("s3://lake/demo/new.puffin"))
    (entry,) = document(await load(house))["statistics"]
    assert entry["statistics-path"] == "s3://lake/demo/new.puffin"


async def test_the_tag_of_a_commit_promises_no_credential_to_whoever_could_have_one() -> None:
    house = await a_house()
    tag = (await commit(house, prop("a"))).table.etag
    loaded = await load(house, if_none_match=[tag], context=context(base_uri="http://lake"))
    assert loaded.table.config["s3.session-token"]
    house.authorizer.replace(
        Rule(allows=False, action=Action.TABLE_READ_DATA), Rule(allows=False, action=Action.TABLE_WRITE_DATA), ANYTHING
    )
    assert (await load(house, if_none_match=[tag])).not_modified == tag
