"""What a commit leaves in the store and tells the world, and what keeps it from happening."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.gates import ProposedChange
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of, tabular
from tests.support.catalog.memory_rows import Fate
from tests.support.catalog.tables import (
    Json,
    commit,
    create,
    document,
    drop,
    load,
    prop,
    properties,
    snapshot,
    until,
)
from tests.support.deciding import Rule

KEPT = "write.metadata.previous-versions-max"
DELETES = "write.metadata.delete-after-commit.enabled"


@pytest.fixture
async def house() -> House:
    return await a_house()


def requirement(kind: str, **members: Any) -> Json:
    return {"type": kind, **members}


@pytest.mark.parametrize(
    "fails",
    [
        requirement("assert-create"),
        requirement("assert-table-uuid", uuid=str(uuid4())),
        requirement("assert-ref-snapshot-id", ref="main", **{"snapshot-id": 5}),
        requirement("assert-last-assigned-field-id", **{"last-assigned-field-id": 9}),
        requirement("assert-last-assigned-partition-id", **{"last-assigned-partition-id": 9}),
        requirement("assert-current-schema-id", **{"current-schema-id": 9}),
        requirement("assert-default-spec-id", **{"default-spec-id": 9}),
        requirement("assert-default-sort-order-id", **{"default-sort-order-id": 9}),
    ],
    ids=lambda fails: str(fails["type"]),
)
async def test_a_requirement_that_does_not_hold_is_a_conflict_and_writes_nothing(house: House, fails: Json) -> None:
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    refusal = await refusal_of(commit(house, prop("a"), requirements=[fails]))
    assert (refusal.reason, refusal.metadata["requirement"]) == (Reason.REASON_COMMIT_CONFLICT, fails["type"])
    assert (house.catalog.rows, house.files.stored) == (rows, files)


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"action": "set-location", "location": "s3://lake/demo/elsewhere"}, Reason.REASON_SET_LOCATION_NOT_ALLOWED),
        ({"action": "assign-uuid", "uuid": str(uuid4())}, Reason.REASON_ASSIGN_UUID_NOT_ALLOWED),
        ({"action": "set-current-schema", "schema-id": 9}, Reason.REASON_INVALID_UPDATE),
        (prop("write.data.path"), Reason.REASON_PROPERTY_FORBIDDEN),
        ({"action": "fly"}, Reason.REASON_UNKNOWN_UPDATE),
    ],
)
async def test_an_update_that_can_not_be_applied_keeps_the_ones_before_it_out_too(
    house: House, update: Json, reason: Reason.ValueType
) -> None:
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    assert (await refusal_of(commit(house, prop("a"), update))).reason == reason
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_a_commit_writes_the_next_file_and_its_reply_file_and_load_are_one_document(house: House) -> None:
    before = house.tabular("orders").metadata_location
    assert before is not None
    reply = await commit(house, *snapshot(1))
    place = reply.table.metadata_location
    assert before.rpartition("/")[2].startswith("00000-")
    assert place.rpartition("/")[2].startswith("00001-")
    assert (
        json.loads(gzip.decompress(house.files.stored[place]))
        == document(reply)
        == document(await load(house))
        == document(await load(House(shares=house), accept_deflate=True))
        == document(await commit(house, deflated=True))
    )
    assert [entry["metadata-file"] for entry in document(reply)["metadata-log"]] == [before]


async def test_a_commit_tells_once_where_the_table_was_and_is(house: House) -> None:
    before, told = house.tabular("orders").metadata_location, len(house.events())
    await commit(house, prop("a"), authorization="oidc~anna")
    assert house.events()[told:] == ["updateTable"]
    event = house.event()
    after = house.tabular("orders")
    data = event["data"]
    assert (data["previous-metadata-location"], data["tabular"]["metadata-location"]) == (
        before,
        after.metadata_location,
    )
    assert (event["tabular-id"], data["tabular"]["incarnation"]) == (str(after.tabular_id), str(after.incarnation))
    assert json.loads(event["actor"])["principal"] == "oidc~anna"
    assert event["data"]["request"] == {"requirements": [], "updates": [prop("a")]}


@pytest.mark.parametrize("updates", [(), (prop("a"),), ({"action": "remove-properties", "removals": ["absent"]},)])
async def test_a_commit_that_changes_nothing_writes_and_tells_nothing(house: House, updates: tuple[Json, ...]) -> None:
    await commit(house, prop("a"))
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    tag = (await load(house)).table.etag
    reply = await commit(house, *updates)
    assert reply.table.metadata_location == house.tabular("orders").metadata_location
    assert (house.catalog.rows, house.files.stored) == (rows, files)
    assert (await load(house, if_none_match=[tag])).not_modified


async def test_the_gate_sees_both_documents_and_its_objection_keeps_everything_as_it_is(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Json, Json]] = []

    async def objects(change: ProposedChange) -> bool:
        assert change.old is not None
        assert change.proposed is not None
        asked.append((change.shown, json.loads(change.old()), json.loads(change.proposed())))
        raise Refusal(Reason.REASON_CHANGE_REFUSED, "no", gate="g", object=change.shown)

    monkeypatch.setattr(house.parts.gate, "check", objects)
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    before = document(await load(house))
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_CHANGE_REFUSED
    assert (house.catalog.rows, house.files.stored) == (rows, files)
    ((name, old, proposed),) = asked
    assert (name, old, proposed["properties"]) == ("sales.orders", before, {"a": "x"})


async def test_the_gate_is_not_asked_about_what_does_not_change(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked(**_: Any) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(house.parts.gate, "check", asked)
    await commit(house)


async def test_who_may_load_a_table_may_not_therefore_commit_to_it(house: House) -> None:
    house.authorizer.replace(Rule(allows=False, action=Action.TABLE_COMMIT), ANYTHING)
    rows = house.catalog.rows.copy()
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_FORBIDDEN
    assert house.catalog.rows == rows


async def test_a_store_that_is_away_refuses_a_commit_and_nothing_changes(house: House) -> None:
    rows = house.catalog.rows.copy()
    house.files.refuses = Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3")
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_STORE_UNAVAILABLE
    assert house.catalog.rows == rows
    house.files.refuses = None
    assert properties(await commit(house, prop("a"))) == ["a"]


# -- files that fall out of the log


def metadata_files(house: House, name: str = "orders") -> list[str]:
    folder = f"{house.tabular(name).location}/metadata/"
    return sorted(place.removeprefix(folder)[:5] for place in house.files.stored if place.startswith(folder))


async def test_files_that_fall_out_of_the_log_are_deleted_and_the_logged_ones_stay(house: House) -> None:
    await commit(house, prop(KEPT, "2"))
    for key in "abc":
        await commit(house, prop(key))
    await until(lambda: metadata_files(house) == ["00002", "00003", "00004"])
    logged = [entry["metadata-file"] for entry in document(await load(house))["metadata-log"]]
    assert all(place in house.files.stored for place in logged)


@pytest.mark.parametrize("word", ["false", "FALSE", "no", "0", "off"])
async def test_they_stay_where_deleting_is_switched_off(house: House, word: str) -> None:
    await commit(house, prop(KEPT, "1"), prop(DELETES, word))
    for key in "abc":
        await commit(house, prop(key))
    for _ in range(20):
        await asyncio.sleep(0)
    assert metadata_files(house) == ["00000", "00001", "00002", "00003", "00004"]


async def test_nothing_is_deleted_for_a_commit_that_does_not_happen(house: House) -> None:
    await commit(house, prop(KEPT, "1"))
    files = dict(house.files.stored)
    house.catalog.next_commit = Fate.AWAY
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    for _ in range(20):
        await asyncio.sleep(0)
    assert house.files.stored == files


async def test_a_store_that_will_not_delete_old_files_spoils_no_commit(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def denied(*_: Any, **__: Any) -> None:
        raise Refusal(Reason.REASON_STORE_DENIED, "no", store="s3")

    monkeypatch.setattr(house.files, "delete", denied)
    await commit(house, prop(KEPT, "1"))
    await commit(house, prop("a"))
    assert properties(await commit(house, prop("b"))) == sorted(["a", "b", KEPT])
    await until(lambda: len(caplog.records) > 0)
    assert {record.message for record in caplog.records} == {
        "metadata files that nothing points to could not be deleted"
    }


# -- under a key


async def test_a_repeated_commit_is_one_commit_and_is_answered_with_the_table_as_it_is(house: House) -> None:
    key = uuid4()
    await commit(house, prop("a"), key=key)
    await commit(house, prop("b"))
    told = len(house.events())
    assert properties(await commit(house, prop("a"), key=key)) == ["a", "b"]
    assert len(house.events()) == told


async def test_a_repeated_commit_is_not_answered_with_a_table_that_took_the_name_since(house: House) -> None:
    key = uuid4()
    await commit(house, prop("a"), key=key)
    await drop(house, "orders")
    assert (await refusal_of(commit(house, prop("a"), key=key))).reason == Reason.REASON_NO_SUCH_TABLE
    await create(house, "orders")
    assert (await refusal_of(commit(house, prop("a"), key=key))).reason == Reason.REASON_NO_SUCH_TABLE
    assert properties(await load(house)) == []


async def test_a_conflict_is_not_kept_under_its_key(house: House) -> None:
    key, fails = uuid4(), requirement("assert-ref-snapshot-id", ref="main", **{"snapshot-id": 1})
    assert (await refusal_of(commit(house, prop("a"), requirements=[fails], key=key))).reason == (
        Reason.REASON_COMMIT_CONFLICT
    )
    await commit(house, *snapshot(1))
    assert properties(await commit(house, prop("a"), requirements=[fails], key=key)) == ["a"]


# -- whom a path and a body name


@pytest.mark.parametrize(
    ("path", "named", "reason"),
    [
        (("sales", "orders", "audit"), (["sales"], "orders"), None),
        (("sales", "orders"), (["sales"], "items"), Reason.REASON_IDENTIFIER_MISMATCH),
        (("sales", "orders", "audit"), (["sales"], "items"), Reason.REASON_IDENTIFIER_MISMATCH),
        (("sales", "orders", "audit"), (["sales", "orders"], "audit"), Reason.REASON_NO_SUCH_TABLE),
        (("sales", "items", "audit"), (["sales"], "orders"), Reason.REASON_IDENTIFIER_MISMATCH),
        (("sales", "orders"), (["sales", "orders"], "audit"), Reason.REASON_IDENTIFIER_MISMATCH),
        (("sales", "orders"), ([], "orders"), Reason.REASON_NAMESPACE_PART_EMPTY),
        (("sales", "orders"), (["a.b"], "orders"), Reason.REASON_NAMESPACE_PART_CONTAINS_DOT),
    ],
)
async def test_a_body_names_the_paths_table_or_the_one_whose_branch_the_path_is(
    house: House, path: tuple[str, ...], named: tuple[list[str], str], reason: Reason.ValueType | None
) -> None:
    called = commit(house, prop("a"), path=path, identifier={"namespace": named[0], "name": named[1]})
    if reason is None:
        await called
        assert properties(await load(house)) == ["a"]
    else:
        assert (await refusal_of(called)).reason == reason


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"updates": {}}', b'{"updates": [1]}', b"\xff"])
async def test_what_is_no_commit_is_refused_as_such(house: House, body: bytes) -> None:
    rows = house.catalog.rows.copy()
    request = tables_pb2.CommitTableRequest(
        warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=body
    )
    assert (await refusal_of(house.tables.CommitTable(request))).reason == Reason.REASON_MALFORMED_DOCUMENT
    assert house.catalog.rows == rows
