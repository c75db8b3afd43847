"""Files that become tables: who may have one read, and where it may lie."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, commit_body, ident, refusal_of, tabular
from tests.support.deciding import Rule

PLACE = "s3://lake/demo/found"
FILE = f"{PLACE}/metadata/00003-x.metadata.json"
ELSEWHERE = "s3://lake/demo/other/metadata/00002-x.metadata.json"


def found(**members: Any) -> bytes:
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
    return json.dumps(
        {
            "format-version": 2,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": PLACE,
            "last-sequence-number": 0,
            "last-updated-ms": 1,
            "last-column-id": 1,
            "current-schema-id": 0,
            "schemas": [schema],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            **members,
        }
    ).encode()


def register(house: House, location: str = FILE, *, name: str = "found", **members: Any) -> Any:
    return house.tables.RegisterTable(
        tables_pb2.RegisterTableRequest(
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            name=name,
            metadata_location=location,
            **members,
        )
    )


def drop(house: House, name: str, *, purge: bool) -> Any:
    return house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name), purge=purge)
    )


@pytest.mark.parametrize("location", [FILE, ELSEWHERE, "s3://lake/demo/absent/metadata/x.metadata.json"])
async def test_who_may_not_create_a_table_learns_nothing_of_a_file(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house()
    house.files.stored[FILE], house.files.stored[ELSEWHERE] = found(), b"no metadata"
    house.authorizer.replace(Rule(allows=False, action=Action.NAMESPACE_CREATE_TABLE), ANYTHING)
    read: list[str] = []

    async def remembered(_: Any, location: str, **__: Any) -> bytes:
        read.append(location)
        return found()

    monkeypatch.setattr(house.files, "read", remembered)
    assert (await refusal_of(register(house, location))).reason == Reason.REASON_FORBIDDEN
    assert read == []


async def test_a_file_inside_another_tables_location_is_not_read() -> None:
    house = await a_house()
    theirs = house.tabular("orders").metadata_location
    assert theirs is not None
    assert (await refusal_of(register(house, theirs))).reason == Reason.REASON_LOCATION_TAKEN


@pytest.mark.parametrize(("content", "says"), [(b"no metadata", "JSON"), (b"{}", "format-version"), (None, "no such")])
async def test_a_file_that_is_no_metadata_is_named(content: bytes | None, says: str) -> None:
    house = await a_house()
    if content is not None:
        house.files.stored[FILE] = content
    refusal = await refusal_of(register(house))
    assert (refusal.reason, refusal.metadata["location"]) == (Reason.REASON_INVALID_METADATA_FILE, FILE)
    assert FILE in refusal.message
    assert says in refusal.message


async def test_files_that_wait_to_be_purged_are_not_registered() -> None:
    house = await a_house()
    house.files.stored[FILE] = found()
    await register(house)
    await drop(house, "found", purge=True)
    assert (await refusal_of(register(house))).reason == Reason.REASON_LOCATION_BEING_PURGED


async def test_files_that_were_dropped_without_purge_are_registered_again_under_their_id() -> None:
    house = await a_house()
    house.files.stored[FILE] = found()
    await register(house)
    first = house.tabular("found")
    await drop(house, "found", purge=False)
    await register(house)
    again = house.tabular("found")
    assert again.tabular_id == first.tabular_id
    assert again.incarnation != first.incarnation


async def test_a_logged_file_of_somebody_else_outlives_the_commits_that_drop_it_from_the_log() -> None:
    house = await a_house()
    house.files.stored[ELSEWHERE] = b"somebody else's"
    house.files.stored[FILE] = found(
        **{
            "metadata-log": [{"timestamp-ms": 1, "metadata-file": ELSEWHERE}],
            "properties": {"write.metadata.previous-versions-max": "1"},
        }
    )
    await register(house)
    for key in ("a", "b"):
        update = {"action": "set-properties", "updates": {key: "x"}}
        await house.tables.CommitTable(
            tables_pb2.CommitTableRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "found"), body=commit_body(update)
            )
        )
    while FILE in house.files.stored:  # its own file, which left the log too
        await asyncio.sleep(0)
    assert ELSEWHERE in house.files.stored
