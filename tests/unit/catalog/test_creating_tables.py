"""Tables that are made: what is refused before anything is written, and what becomes of a create that fails halfway."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import State
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, SCHEMA, House, a_house, ident, refusal_of, table_body
from tests.support.catalog.memory_rows import Fate
from tests.support.catalog.tables import STAGED, Json, commit, create, document, drop, load, once_after, prop, until
from tests.support.deciding import Rule

PLACE = "s3://lake/demo/deep/place"
FIELD: Json = {"id": 1, "name": "id", "required": True, "type": "long"}


def refuses(monkeypatch: pytest.MonkeyPatch, role: Any, method: str, refusal: Refusal) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise refusal

    monkeypatch.setattr(role, method, refused)


def java_updates(staged: Json) -> tuple[Json, ...]:
    """What Java's client sends to finish a create that it staged: everything that it was told, again."""
    return (
        {"action": "assign-uuid", "uuid": staged["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": staged["format-version"]},
        {"action": "add-schema", "schema": staged["schemas"][0], "last-column-id": staged["last-column-id"]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": staged["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": staged["location"]},
        {"action": "set-properties", "updates": {"owner": "anna"}},
    )


CREATED: Json = {"type": "assert-create"}


@pytest.mark.parametrize("where", [PLACE, f"{PLACE}/inner", "s3://lake/demo/deep"])
@pytest.mark.parametrize("state", list(State))
async def test_no_table_is_made_at_inside_or_around_another(state: State, where: str) -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=1))
    await create(house, "first", location=PLACE, **(STAGED if state is State.STAGED else {}))
    if state is State.DROPPED:
        await drop(house, "first")
    house.files.stored.clear()  # or a place around it would be refused for its files
    rows = house.catalog.rows.copy()
    refusal = await refusal_of(create(house, location=where))
    assert (refusal.reason, refusal.metadata["location"]) == (Reason.REASON_LOCATION_TAKEN, where)
    assert (house.catalog.rows, house.files.stored) == (rows, {})


@pytest.mark.parametrize("where", [PLACE, f"{PLACE}/inner"])
async def test_no_file_is_ever_put_at_a_place_that_is_anothers(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    await create(house, "first", location=PLACE, **STAGED)
    refuses(monkeypatch, house.files, "write", Refusal(Reason.REASON_STORE_DENIED, "written", store="s3"))
    assert (await refusal_of(create(house, location=where))).reason == Reason.REASON_LOCATION_TAKEN


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"name": "ORDERS"}, Reason.REASON_TABULAR_EXISTS),
        ({"name": "Recent"}, Reason.REASON_TABULAR_EXISTS),
        ({"name": "a+b"}, Reason.REASON_INVALID_TABULAR_NAME),
        ({"name": ""}, Reason.REASON_INVALID_TABULAR_NAME),
        ({"location": "place"}, Reason.REASON_MALFORMED_LOCATION),
        ({"location": "s3://lake/demo/a/../b"}, Reason.REASON_MALFORMED_LOCATION),
        ({"location": "s3://lake/demo"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://lake/demo2/t"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://pond/demo/t"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "gs://lake/demo/t"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://lake/demo/a*"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://lake/demo/a*b/c"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://lake/demo/${aws:username}"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"properties": {"format-version": "4"}}, Reason.REASON_INVALID_FORMAT_VERSION),
        ({"properties": {"write.metadata.path": "x"}}, Reason.REASON_PROPERTY_FORBIDDEN),
        ({"schema": {**SCHEMA, "fields": [FIELD, FIELD]}}, Reason.REASON_INVALID_METADATA),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
async def test_a_table_that_cannot_be_leaves_nothing_behind(
    members: Json, reason: Reason.ValueType, staged: bool
) -> None:
    house = await a_house()
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    refusal = await refusal_of(create(house, **{"name": "new", **members, "stage-create": staged}))
    assert refusal.reason == reason
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_a_format_version_that_the_warehouse_does_not_allow_is_refused() -> None:
    house = await a_house()
    house.change_warehouse(allowed_format_versions=(2,))
    refusal = await refusal_of(create(house, properties={"format-version": "3"}))
    assert refusal.reason == Reason.REASON_FORMAT_VERSION_NOT_ALLOWED


@pytest.mark.parametrize("place", [{}, {"location": PLACE}], ids=["by the layout", "by the caller"])
@pytest.mark.parametrize(
    ("role", "method", "refusal"),
    [
        (
            lambda house: house.parts.gate,
            "check",
            Refusal(Reason.REASON_CHANGE_REFUSED, "a contract", gate="g", object="t"),
        ),
        (lambda house: house.access, "vend", Refusal(Reason.REASON_CREDENTIAL_NOT_ISSUED, "STS", store="s3")),
        (lambda house: house.files, "write", Refusal(Reason.REASON_STORE_DENIED, "no", store="s3")),
        (lambda house: house.catalog.changes, "change", None),
    ],
    ids=["the gate", "credentials", "the file", "the row"],
)
async def test_what_fails_on_the_way_to_a_table_leaves_nothing_behind(
    role: Callable[[House], Any],
    method: str,
    refusal: Refusal | None,
    place: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    if refusal is None:
        house.catalog.next_commit = Fate.AWAY
        refusal = Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")
    else:
        refuses(monkeypatch, role(house), method, refusal)
    assert (await refusal_of(create(house, **place))).reason == refusal.reason
    assert (house.catalog.rows, house.files.stored) == (rows, files)


@pytest.mark.parametrize("members", [{"location": PLACE}, {"stage-create": True}], ids=["by the caller", "staged"])
async def test_a_store_that_can_not_be_asked_whether_a_place_is_empty_leaves_nothing_behind(
    members: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house()
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    refuses(monkeypatch, house.files, "is_empty", Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3"))
    assert (await refusal_of(create(house, **members))).reason == Reason.REASON_STORE_UNAVAILABLE
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_nobody_is_asked_whether_a_place_is_empty_that_has_a_fresh_uuid_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    refuses(monkeypatch, house.files, "is_empty", Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3"))
    await create(house)
    assert house.tabular("new").location in str(house.files.stored)


async def test_who_may_not_create_learns_nothing_but_that() -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=False, action=Action.NAMESPACE_CREATE_TABLE), ANYTHING)
    for members in ({"name": "orders"}, {"name": ""}, {"location": "nonsense"}, {"location": "s3://lake/demo"}):
        assert (await refusal_of(create(house, **{"name": "new", **members}))).reason == Reason.REASON_FORBIDDEN


async def test_the_name_is_looked_at_before_the_place_and_the_place_before_its_files() -> None:
    house = await a_house()
    taken = house.tabular("orders").location
    assert (await refusal_of(create(house, "orders", location=taken))).reason == Reason.REASON_TABULAR_EXISTS
    assert any(stored.startswith(taken) for stored in house.files.stored)
    assert (await refusal_of(create(house, location=taken))).reason == Reason.REASON_LOCATION_TAKEN


async def test_a_create_whose_outcome_is_not_known_keeps_its_file_and_says_so() -> None:
    house = await a_house()
    house.catalog.next_commit = Fate.LOST_BEFORE
    assert (await refusal_of(create(house))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert len(house.files.stored) == 3


async def test_a_create_that_is_seen_to_have_happened_succeeds() -> None:
    house = await a_house()
    house.catalog.next_commit = Fate.LOST_AFTER
    reply = await create(house)
    assert reply.table.metadata_location == house.tabular("new").metadata_location
    assert reply.table.metadata_location in house.files.stored


async def test_a_create_that_can_not_be_read_back_keeps_the_file_that_its_row_points_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    refuses(monkeypatch, house.catalog.changes, "current_metadata", Refusal(Reason.REASON_DATABASE_UNAVAILABLE, ""))
    house.catalog.next_commit = Fate.LOST_AFTER
    assert (await refusal_of(create(house))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert house.tabular("new").metadata_location in house.files.stored


async def test_a_caller_who_leaves_after_the_file_was_written_has_made_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    written = asyncio.Event()

    async def then_told() -> None:
        written.set()
        await asyncio.sleep(0)

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, then_told))
    caller = asyncio.ensure_future(create(house))
    await written.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await until(lambda: house.events()[-1] == "createTable")
    assert house.tabular("new").metadata_location in house.files.stored


async def test_a_caller_who_leaves_before_the_file_was_written_has_made_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    asked, files = asyncio.Event(), dict(house.files.stored)

    async def endless(*_: Any, **__: Any) -> bool:
        asked.set()
        return await asyncio.Event().wait()

    monkeypatch.setattr(house.files, "is_empty", endless)
    caller = asyncio.ensure_future(create(house, location=PLACE))
    await asked.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert house.files.stored == files


@pytest.mark.parametrize("places", [[PLACE] * 6, [f"{PLACE}{'/in' * n}" for n in range(6)], [None] * 6])
async def test_of_creates_at_once_of_one_name_or_place_exactly_one_wins(places: list[str | None]) -> None:
    house = await a_house()
    names = ["new"] * 6 if places[0] is None else [f"n{n}" for n in range(6)]
    calls = [
        create(house, name, **({} if place is None else {"location": place}))
        for name, place in zip(names, places, strict=True)
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [each for each in results if isinstance(each, Refusal)]
    assert len(refused) == 5
    assert {each.reason for each in refused} <= {
        Reason.REASON_TABULAR_EXISTS,
        Reason.REASON_LOCATION_TAKEN,
        Reason.REASON_LOCATION_NOT_EMPTY,
    }
    assert len(house.files.stored) == 3, "those of the others were taken back"


async def test_the_maker_gets_access_to_write_and_delete_and_a_tag_that_holds() -> None:
    house = await a_house()
    reply = await create(house)
    assert house.access.vended[-1][:2] == (house.tabular("new").location, Access.READ_WRITE_DELETE)
    assert [entry.prefix for entry in reply.table.storage_credentials] == [house.tabular("new").location]
    assert (await load(house, "sales", "new", if_none_match=[reply.table.etag])).not_modified == reply.table.etag


@pytest.mark.parametrize(("codec", "magic"), [("gzip", b"\x1f\x8b"), ("none", b"{")])
async def test_the_file_is_the_document_that_the_reply_shows(codec: str, magic: bytes) -> None:
    house = await a_house()
    reply = await create(house, properties={"write.metadata.compression-codec": codec})
    content = house.files.stored[reply.table.metadata_location]
    assert content.startswith(magic)
    text = gzip.decompress(content) if codec == "gzip" else content
    assert json.loads(text) == document(reply) == document(await load(house, "sales", "new"))


@pytest.mark.parametrize("staged", [False, True])
async def test_a_create_tells_once_what_was_made_and_asked_for(staged: bool) -> None:
    house = await a_house()
    before = len(house.events())
    await create(house, **(STAGED if staged else {}))
    assert house.events()[before:] == ["createTable"]
    data = house.event()["data"]
    made = data["tabular"]
    assert (made["staged"], made["metadata-location"]) == (staged, house.tabular("new").metadata_location)
    assert data["request"]["name"] == "new"


# -- staged


async def test_a_staged_table_has_no_file_and_its_commit_writes_the_first() -> None:
    house = await a_house()
    files = dict(house.files.stored)
    staged = document(await create(house, properties={"owner": "bert"}, **STAGED))
    assert house.files.stored == files
    reply = await commit(house, *java_updates(staged), path=("sales", "new"), requirements=[CREATED])
    table = house.tabular("new")
    assert (table.state, table.metadata_location) == (State.LIVE, reply.table.metadata_location)
    name = reply.table.metadata_location.rpartition("/")[2]
    assert name.startswith("00000-")
    after = document(reply)
    changed = {"properties": {"owner": "anna"}, "last-updated-ms": after["last-updated-ms"]}
    assert after == {**staged, **changed}
    assert after["metadata-log"] == []
    assert document(await load(house, "sales", "new")) == after


async def test_a_table_that_is_there_can_not_be_created_by_a_commit() -> None:
    house = await a_house()
    refusal = await refusal_of(commit(house, prop("a"), requirements=[CREATED]))
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT


async def test_who_staged_first_loses_to_who_staged_last_and_can_not_finish_the_others_table() -> None:
    house = await a_house()
    first = document(await create(house, **STAGED))
    second = document(await create(house, **STAGED))
    assert first["table-uuid"] != second["table-uuid"]
    refusal = await refusal_of(commit(house, *java_updates(first), path=("sales", "new"), requirements=[CREATED]))
    assert refusal.reason == Reason.REASON_ASSIGN_UUID_NOT_ALLOWED
    await commit(house, *java_updates(second), path=("sales", "new"), requirements=[CREATED])
    assert str(house.tabular("new").tabular_id) == second["table-uuid"]


async def test_a_staged_create_may_be_tried_again_at_its_own_place_and_by_nobody_elses_name() -> None:
    house = await a_house()
    await create(house, location=PLACE, **STAGED)
    assert (await refusal_of(create(house, "other", location=PLACE))).reason == Reason.REASON_LOCATION_TAKEN
    await create(house, location=PLACE, **STAGED)
    await create(house, location=PLACE)
    assert (house.tabular("new").state, house.tabular("new").location) == (State.LIVE, PLACE)


async def test_a_staged_table_whose_commit_comes_first_does_not_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    staged = document(await create(house, location=PLACE, **STAGED))

    async def finished() -> None:
        await commit(house, *java_updates(staged), path=("sales", "new"), requirements=[CREATED])

    monkeypatch.setattr(house.files, "is_empty", once_after(house.files.is_empty, finished))
    refusal = await refusal_of(create(house, location=f"{PLACE}/inner"))
    assert refusal.reason == Reason.REASON_LOCATION_TAKEN
    assert str(house.tabular("new").tabular_id) == staged["table-uuid"]
    assert len(house.files.stored) == 3


# -- under a key


async def test_a_repeated_create_answers_with_the_table_and_fresh_credentials() -> None:
    house, key = await a_house(), uuid4()
    first = await create(house, key=key)
    vended = len(house.access.vended)
    again = await create(house, key=key)
    assert again.table.metadata_location == first.table.metadata_location
    assert len(house.access.vended) == vended + 1
    assert len(house.files.stored) == 3


async def test_a_repeated_create_is_not_answered_with_a_table_that_took_the_name_since() -> None:
    house, key = await a_house(), uuid4()
    await create(house, key=key)
    await drop(house, "new")
    assert (await refusal_of(create(house, key=key))).reason == Reason.REASON_NO_SUCH_TABLE
    await create(house)
    assert (await refusal_of(create(house, key=key))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_namespace_that_is_gone_when_the_row_is_written_takes_the_file_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    await house.make_namespace("brief")
    files = dict(house.files.stored)

    async def goes() -> None:
        rows = house.catalog.rows
        gone = house.namespace("brief")
        del rows.namespaces[gone.warehouse_id, gone.namespace_id]

    monkeypatch.setattr(house.files, "write", once_after(house.files.write, goes))
    request = tables_pb2.CreateTableRequest(
        warehouse_id=house.warehouse_id, namespace=ident("brief"), body=table_body("new")
    )
    assert (await refusal_of(house.tables.CreateTable(request))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    assert house.files.stored == files
