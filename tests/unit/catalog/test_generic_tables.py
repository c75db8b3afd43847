from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.transport import batching
from lakeward_protocol.catalog.v1 import (
    generic_tables_pb2,
    namespaces_pb2,
    tables_pb2,
    tabulars_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import (
    ANYTHING,
    House,
    a_house,
    context,
    generic_body,
    ident,
    refusal_of,
    table_body,
    tabular,
    tabular_ref,
    view_body,
)
from tests.support.catalog.memory_rows import Fate
from tests.support.deciding import Rule

VENDED = context_pb2.DELEGATION_VENDED_CREDENTIALS
MANAGED = context_pb2.DELEGATION_CLIENT_MANAGED


def create(house: House, name: str = "vectors", *, key: object = "", register: bool = False, **members: Any) -> Any:
    return house.generic_tables.CreateGenericTable(
        generic_tables_pb2.CreateGenericTableRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=generic_body(name, **members),
            register=register,
        )
    )


def load(house: House, *path: str, **members: Any) -> Any:
    return house.generic_tables.LoadGenericTable(
        generic_tables_pb2.LoadGenericTableRequest(
            context=context(**members), warehouse_id=house.warehouse_id, table=tabular(*(path or ("sales", "vectors")))
        )
    )


def credentials(house: House) -> Any:
    return house.generic_tables.LoadGenericTableCredentials(
        generic_tables_pb2.LoadGenericTableCredentialsRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "vectors")
        )
    )


def update(house: House, document: Any, *, if_match: tuple[str, ...] = (), key: object = "") -> Any:
    return house.generic_tables.UpdateGenericTable(
        generic_tables_pb2.UpdateGenericTableRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            table=tabular("sales", "vectors"),
            body=document if isinstance(document, bytes) else json.dumps(document).encode(),
            if_match=if_match,
        )
    )


def drop(house: House, **members: Any) -> Any:
    return house.generic_tables.DropGenericTable(
        generic_tables_pb2.DropGenericTableRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), **members
        )
    )


def rename(house: House, *destination: str) -> Any:
    return house.generic_tables.RenameGenericTable(
        generic_tables_pb2.RenameGenericTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", "vectors"), destination=tabular(*destination)
        )
    )


async def listed(house: House) -> generic_tables_pb2.ListGenericTablesResponse:
    found: generic_tables_pb2.ListGenericTablesResponse = await house.generic_tables.ListGenericTables(
        generic_tables_pb2.ListGenericTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"))
    )
    return found


async def test_what_is_created_is_what_is_loaded_under_any_case_of_its_name() -> None:
    house = await a_house()
    made = (
        await create(
            house,
            "Vectors",
            doc="CLIP",
            properties={"embedding-dim": "768"},
            schema={"b": 1.0, "a": [9007199254740993]},
            statistics={"rows": 3},
        )
    ).table
    found = (await load(house, "SALES", "vECTORS")).table
    assert found.table == made.table
    assert (found.table.ident.name, found.table.format, found.table.doc) == ("Vectors", "lance", "CLIP")
    assert dict(found.table.properties) == {"embedding-dim": "768"}
    assert (found.table.schema, found.table.statistics) == (b'{"b":1.0,"a":[9007199254740993]}', b'{"rows":3}')
    assert found.table.location == house.tabular("Vectors").location
    assert not found.table.protected
    assert not found.table.registered


async def test_making_one_writes_no_file_and_gives_access_to_who_said_how_it_may_reach_them() -> None:
    house = await a_house()
    before = dict(house.files.stored)
    plain = await create(house, "plain")
    assert (plain.table.has_config, house.access.vended) == (False, house.access.vended)
    given = len(house.access.vended)
    asked = await house.generic_tables.CreateGenericTable(
        generic_tables_pb2.CreateGenericTableRequest(
            context=context(delegation=[VENDED]),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=generic_body("asked"),
        )
    )
    assert asked.table.storage_credentials[0].prefix == house.tabular("asked").location
    assert len(house.access.vended) == given + 1
    own = await house.generic_tables.CreateGenericTable(
        generic_tables_pb2.CreateGenericTableRequest(
            context=context(delegation=[MANAGED]),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=generic_body("own"),
        )
    )
    assert not own.table.has_config
    assert house.files.stored == before


@pytest.mark.parametrize("table_format", ["", "  ", "\t\n", "l" * 65, "a\0b"])
async def test_a_format_that_is_empty_or_can_not_be_shown_is_refused(table_format: str) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    refusal = await refusal_of(create(house, format=table_format))
    assert refusal.reason == Reason.REASON_INVALID_TABLE_FORMAT
    assert house.catalog.rows == before


@pytest.mark.parametrize("table_format", ["lance", "delta", "paimon", "my-own_format9", "Apache Hudi", "x"])
async def test_any_other_format_is_welcome_and_is_listed(table_format: str) -> None:
    house = await a_house()
    await create(house, format=f" {table_format} ")
    found = await listed(house)
    assert (list(found.names), list(found.formats)) == (["vectors"], [table_format])
    assert list(found.ids) == [str(house.tabular("vectors").tabular_id)]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", "$"),
        (b"[]", "$"),
        (b"{", "$"),
        (b'{"format": "lance"}', "$"),
        (b'{"name": "t"}', "$"),
        (b'{"name": "t", "format": "lance", "properties": {"a": 1}}', "properties[...]"),
        (b'{"name": "t", "format": "lance", "base-location": 7}', "base-location"),
        (b'{"name": "t", "format": "lance", "schema": {"a": "\\ud800"}}', "$"),
        (b'{"name": "t", "format": "lance", "schema": ' + b"[" * 200 + b"]" * 200 + b"}", "$"),
    ],
)
async def test_a_document_that_can_not_be_read_is_refused_where_it_is_wrong(body: bytes, path: str) -> None:
    house = await a_house()
    request = generic_tables_pb2.CreateGenericTableRequest(
        warehouse_id=house.warehouse_id, namespace=ident("sales"), body=body
    )
    refusal = await refusal_of(house.generic_tables.CreateGenericTable(request))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_MALFORMED_DOCUMENT, {"path": path})


@pytest.mark.parametrize("what", ["schema", "statistics"])
async def test_a_mebibyte_of_json_is_kept_and_a_byte_more_is_not(what: str) -> None:
    house = await a_house()
    most = {"a": "x" * (2**20 - len('{"a":""}'))}
    await create(house, **{what: most})
    assert len(getattr((await load(house)).table.table, what)) == 2**20
    refusal = await refusal_of(create(house, "more", **{what: {"a": most["a"] + "x"}}))
    assert (refusal.reason, refusal.metadata["what"]) == (Reason.REASON_TOO_LARGE, what)


@pytest.mark.parametrize("name", ["", "a+b", "a\0b", "x" * 256])
async def test_a_name_that_nothing_can_have_is_refused_at_create_and_at_rename(name: str) -> None:
    house = await a_house()
    assert (await refusal_of(create(house, name))).reason == Reason.REASON_INVALID_TABULAR_NAME
    await create(house)
    assert (await refusal_of(rename(house, "sales", name))).reason == Reason.REASON_INVALID_TABULAR_NAME


async def test_a_name_is_one_tabulars_whatever_their_kinds_and_case() -> None:
    house = await a_house()
    await create(house)
    for taken in ("ORDERS", "recent", "Vectors"):
        refusal = await refusal_of(create(house, taken))
        assert (refusal.reason, refusal.metadata["tabular"]) == (Reason.REASON_TABULAR_EXISTS, f"sales.{taken}")
    for call in (
        house.tables.CreateTable(
            tables_pb2.CreateTableRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=table_body("VECTORS")
            )
        ),
        house.views.CreateView(
            views_pb2.CreateViewRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=view_body("VECTORS")
            )
        ),
        rename(house, "sales", "orders"),
    ):
        refusal = await refusal_of(call)
        assert refusal.reason == Reason.REASON_TABULAR_EXISTS
    assert "Generic table with same name already exists" in str(await refusal_of(house.make_table("sales", "vectors")))


async def test_kinds_do_not_see_each_other() -> None:
    house = await a_house()
    await create(house)
    assert (await refusal_of(load(house, "sales", "orders"))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE
    request = tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"))
    assert (await refusal_of(house.tables.LoadTable(request))).reason == Reason.REASON_NO_SUCH_TABLE
    tables = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"), with_names=True)
    )
    assert list(tables.names) == ["orders"]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("s3://lake/elsewhere/x", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://lake/demo", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://other/demo/x", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://lake/demo/../x", Reason.REASON_MALFORMED_LOCATION),
        ("s3://lake/demo/a/./b", Reason.REASON_MALFORMED_LOCATION),
        ("s3://lake/demo/a%2Fb", Reason.REASON_MALFORMED_LOCATION),
        ("s3://lake/demo/*/b", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("", Reason.REASON_MALFORMED_LOCATION),
        ("file:///etc", Reason.REASON_MALFORMED_LOCATION),
    ],
)
async def test_a_location_outside_or_with_dots_or_encoded_slashes_is_refused(
    location: str, reason: Reason.ValueType
) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    assert (await refusal_of(create(house, **{"base-location": location}))).reason == reason
    assert house.catalog.rows == before


async def test_a_location_on_above_or_below_any_other_tabulars_is_refused_even_a_dropped_ones() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=1))
    await create(house, **{"base-location": "s3://lake/demo/mine/t1"})
    await drop(house)
    table = house.tabular("orders").location
    for taken in ("s3://lake/demo/mine/t1", "s3://lake/demo/mine", "s3://lake/demo/mine/t1/deep/", f"{table}/data"):
        refusal = await refusal_of(create(house, "other", **{"base-location": taken}))
        assert refusal.reason == Reason.REASON_LOCATION_TAKEN, taken
    await create(house, "beside", **{"base-location": "s3://lake/demo/mine/t10"})


@pytest.mark.parametrize(
    ("denied", "level"),
    [
        ((), Access.READ_WRITE_DELETE),
        ((Action.GENERIC_TABLE_READ_DATA,), Access.READ_WRITE_DELETE),
        ((Action.GENERIC_TABLE_WRITE_DATA,), Access.READ),
        ((Action.GENERIC_TABLE_READ_DATA, Action.GENERIC_TABLE_WRITE_DATA), None),
    ],
)
async def test_access_goes_as_far_as_the_callers_rights(denied: tuple[Action, ...], level: Access | None) -> None:
    house = await a_house()
    await create(house)
    house.access.vended.clear()
    house.authorizer.replace(*(Rule(allows=False, action=action) for action in denied), ANYTHING)
    found = (await load(house)).table
    assert [each[1] for each in house.access.vended] == ([] if level is None else [level])
    assert found.has_config is (level is not None)
    if level is None:
        refusal = await refusal_of(credentials(house))
        assert (refusal.reason, len(house.access.vended)) == (Reason.REASON_NO_SUCH_GENERIC_TABLE, 0)
    else:
        (entry,) = (await credentials(house)).storage_credentials
        assert entry.prefix == house.tabular("vectors").location
        assert entry.config["s3.session-token"].startswith(level.name)


async def test_an_update_changes_what_it_names_and_the_tag() -> None:
    house = await a_house()
    await create(house, doc="old", properties={"a": "1", "b": "2"}, schema=[1], statistics={"rows": 1})
    before = (await load(house)).table
    after = (
        await update(
            house,
            {"set-properties": {"b": "3", "c": "4"}, "remove-properties": ["a", "absent"], "schema": {"x": 1}},
            if_match=('"of another"', before.etag),
        )
    ).table
    assert dict(after.table.properties) == {"b": "3", "c": "4"}
    assert (after.table.doc, after.table.schema, after.table.statistics) == ("old", b'{"x":1}', b'{"rows":1}')
    assert not after.has_config
    gone = (await update(house, {"doc": None, "schema": None, "statistics": None})).table
    assert (gone.table.HasField("doc"), gone.table.schema, gone.table.statistics) == (False, b"", b"")
    loaded = (await load(house)).table
    assert loaded.table == gone.table
    assert len({before.etag, after.etag, gone.etag}) == 3
    assert loaded.etag == gone.etag


async def test_an_update_of_a_state_that_is_no_more_is_refused_and_changes_nothing() -> None:
    house = await a_house()
    await create(house)
    stale = (await load(house)).table.etag
    await update(house, {"doc": "new"})
    before = house.catalog.rows.copy()
    for tags in ((stale,), ('"never"',), (f"W/{stale}",)):
        refusal = await refusal_of(update(house, {"doc": "other"}, if_match=tags))
        assert (refusal.reason, refusal.metadata["requirement"]) == (Reason.REASON_COMMIT_CONFLICT, "if-match")
    assert house.catalog.rows == before
    await update(house, {"doc": "any"}, if_match=("*",))
    current = (await load(house)).table.etag
    await update(house, {"doc": "weak"}, if_match=(f"W/{current}",))


async def test_of_two_updates_of_one_state_one_wins() -> None:
    house = await a_house()
    await create(house)
    tag = (await load(house)).table.etag
    outcomes = await asyncio.gather(
        *(update(house, {"doc": doc}, if_match=(tag,)) for doc in ("first", "second")), return_exceptions=True
    )
    won = [each for each in outcomes if not isinstance(each, BaseException)]
    assert len(won) == 1
    assert (await load(house)).table.table.doc == won[0].table.table.doc


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        {"format": "delta"},
        {"base-location": "s3://lake/demo/other"},
        {"set-properties": {"a": 1}},
        {"remove-properties": "a"},
        {"set-properties": {"a": "1"}, "remove-properties": ["a"]},
        {"doc": 1},
    ],
)
async def test_an_update_of_what_never_changes_or_of_the_wrong_shape_is_refused(document: Any) -> None:
    house = await a_house()
    await create(house)
    before = house.catalog.rows.copy()
    assert (await refusal_of(update(house, document))).reason == Reason.REASON_MALFORMED_DOCUMENT
    assert house.catalog.rows == before


async def test_an_update_that_changes_nothing_is_no_event() -> None:
    house = await a_house()
    await create(house, doc="same")
    tag, told = (await load(house)).table.etag, len(house.events())
    assert (await update(house, {"doc": "same"})).table.etag == tag
    assert len(house.events()) == told


async def test_an_update_whose_outcome_was_lost_is_found_to_have_happened() -> None:
    house = await a_house()
    await create(house)
    house.catalog.next_commit = Fate.LOST_AFTER
    assert (await update(house, {"doc": "new"})).table.table.doc == "new"
    house.catalog.next_commit = Fate.LOST_BEFORE
    assert (await refusal_of(update(house, {"doc": "never"}))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert (await load(house)).table.table.doc == "new"


async def test_a_repeated_request_is_made_once() -> None:
    house = await a_house()
    key, other = uuid4(), uuid4()
    first = await create(house, key=key)
    again = await create(house, key=key)
    assert again.table.table == first.table.table
    await update(house, {"doc": "once"}, key=other)
    told = house.events()
    await update(house, {"doc": "once"}, key=other)
    assert house.events() == told
    assert (await refusal_of(update(house, {"doc": "twice"}, key=other))).reason == Reason.REASON_IDEMPOTENCY_KEY_REUSED


async def test_events_tell_of_each_turn_of_its_life() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=1))
    told = len(house.events())
    await create(house)
    created = house.event()
    await update(house, {"doc": "new"})
    await rename(house, "sales", "renamed")
    await rename_back(house)
    await protect(house, protected=True)
    await protect(house, protected=False)
    await drop(house)
    await undrop(house)
    assert house.events()[told:] == [
        "createGenericTable",
        "updateGenericTable",
        "renameGenericTable",
        "renameGenericTable",
        "updateGenericTableProtection",
        "updateGenericTableProtection",
        "dropGenericTable",
        "undropTabulars",
    ]
    assert (created["tabular-type"], created["name"], created["namespace"]) == ("generic-table", "vectors", "sales")
    assert created["data"]["tabular"]["staged"] is False
    assert created["data"]["request"]["format"] == "lance"
    assert {event.kind for event in house.catalog.rows.events[told:]} == {"generic-table"}


async def rename_back(house: House) -> None:
    await house.generic_tables.RenameGenericTable(
        generic_tables_pb2.RenameGenericTableRequest(
            warehouse_id=house.warehouse_id,
            source=tabular("sales", "renamed"),
            destination=tabular("sales", "vectors"),
        )
    )


async def protect(house: House, *, protected: bool) -> None:
    await house.generic_tables.SetGenericTableProtection(
        generic_tables_pb2.SetGenericTableProtectionRequest(
            warehouse_id=house.warehouse_id,
            tabular_id=str(house.tabular("vectors").tabular_id),
            protected=protected,
        )
    )


async def undrop(house: House) -> None:
    await house.tabulars.UndropTabulars(
        tabulars_pb2.UndropTabularsRequest(
            warehouse_id=house.warehouse_id,
            tabulars=[tabular_ref(Kind.GENERIC_TABLE, house.tabular("vectors").tabular_id)],
        )
    )


async def test_a_rename_keeps_everything_but_the_name_and_changes_the_tag() -> None:
    house = await a_house()
    await house.make_namespace("archive")
    await create(house, doc="kept")
    before = (await load(house)).table
    await rename(house, "archive", "Renamed")
    after = (await load(house, "archive", "renamed")).table
    assert (after.table.location, after.table.tabular_id) == (before.table.location, before.table.tabular_id)
    assert (after.table.ident.name, after.table.doc) == ("Renamed", "kept")
    assert after.etag != before.etag
    assert (await refusal_of(load(house))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE


async def test_what_is_protected_is_dropped_by_force_alone() -> None:
    house = await a_house()
    await create(house)
    await protect(house, protected=True)
    assert (await load(house)).table.table.protected
    assert (await refusal_of(drop(house))).reason == Reason.REASON_TABULAR_PROTECTED
    await drop(house, force=True)
    assert (await refusal_of(load(house))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE


async def test_what_was_dropped_is_listed_as_such_and_comes_back_as_it_was() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=1))
    await create(house, doc="kept")
    before = (await load(house)).table.table
    await drop(house)
    found = await house.tabulars.ListDeletedTabulars(
        tabulars_pb2.ListDeletedTabularsRequest(warehouse_id=house.warehouse_id)
    )
    assert [each.tabular.kind for each in found.tabulars] == [tabulars_pb2.TABULAR_KIND_GENERIC_TABLE]
    assert (await refusal_of(load(house))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE
    assert (await refusal_of(credentials(house))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE
    await undrop(house)
    assert (await load(house)).table.table == before
    assert list((await listed(house)).formats) == ["lance"]


@pytest.mark.parametrize(
    ("occupied", "asked", "purged"),
    [(False, None, True), (False, False, False), (True, None, False), (True, True, True), (True, False, False)],
)
async def test_files_that_lay_there_before_are_purged_where_that_is_asked_for_alone(
    occupied: bool, asked: bool | None, purged: bool
) -> None:
    house = await a_house()
    if occupied:
        house.files.stored["s3://lake/demo/landing/a.csv"] = b"1"
    await create(house, **{"base-location": "s3://lake/demo/landing"})
    assert (await load(house)).table.table.registered is occupied
    await drop(house, **({} if asked is None else {"purge": asked}))
    purges = [task for task in house.catalog.rows.tasks.values() if task.queue is Queue.TABULAR_PURGE]
    assert [task.location for task in purges] == (["s3://lake/demo/landing"] if purged else [])


async def test_files_that_lay_there_before_outlive_a_namespace_that_is_dropped_with_all_that_is_in_it() -> None:
    house = await a_house()
    house.files.stored["s3://lake/demo/landing/a.csv"] = b"1"
    await create(house, **{"base-location": "s3://lake/demo/landing"})
    await create(house, "fresh")
    fresh = house.tabular("fresh").location
    await house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(
            warehouse_id=house.warehouse_id, ident=ident("sales"), recursive=True, purge=True
        )
    )
    purged = {task.location for task in house.catalog.rows.tasks.values()}
    assert fresh in purged
    assert "s3://lake/demo/landing" not in purged


async def test_registering_takes_what_is_there_and_refuses_what_is_not() -> None:
    house = await a_house()
    place = {"base-location": "s3://lake/demo/landing"}
    assert (await refusal_of(create(house, register=True))).reason == Reason.REASON_LOCATION_EMPTY
    assert (await refusal_of(create(house, register=True, **place))).reason == Reason.REASON_LOCATION_EMPTY
    house.files.stored["s3://lake/demo/landing/a.csv"] = b"1"
    made = await create(house, register=True, **place)
    assert made.table.table.registered
    assert house.files.stored["s3://lake/demo/landing/a.csv"] == b"1"


async def test_a_search_and_the_counts_know_generic_tables() -> None:
    house = await a_house()
    await create(house)
    found = await house.tabulars.SearchTabulars(
        tabulars_pb2.SearchTabularsRequest(warehouse_id=house.warehouse_id, search="vectors")
    )
    assert found.matches[0].tabular.kind == tabulars_pb2.TABULAR_KIND_GENERIC_TABLE
    counts = await house.warehouses.GetWarehouseStatistics(
        warehouses_pb2.GetWarehouseStatisticsRequest(warehouse_id=house.warehouse_id)
    )
    assert (counts.tables, counts.views, counts.generic_tables) == (1, 1, 1)


async def test_authz_is_told_of_it_from_its_making_to_its_end() -> None:
    house = await a_house()
    await house.make_namespace("archive")
    told = len(house.catalog.rows.growth)
    await create(house)
    incarnation = house.tabular("vectors").incarnation
    await rename(house, "archive", "vectors")
    await house.generic_tables.DropGenericTable(
        generic_tables_pb2.DropGenericTableRequest(warehouse_id=house.warehouse_id, table=tabular("archive", "vectors"))
    )
    changes = [change for _, change in house.catalog.rows.growth[told:]]
    assert [type(change).__name__ for change in changes] == ["Made", "Moved", "Gone"]
    assert {change.object.kind.word for change in changes} == {"generic_table"}
    assert {change.object.id for change in changes} == {incarnation.bytes}


async def test_who_sees_some_of_them_is_shown_these_in_a_listing() -> None:
    house = await a_house()
    await create(house, "seen")
    await create(house, "hidden")
    house.authorizer.replace(
        Rule(allows=True, id=house.tabular("seen").incarnation),
        Rule(allows=False, kind=ObjectKind.GENERIC_TABLE),
        Rule(allows=False, action=Action.NAMESPACE_LIST_EVERYTHING),
        ANYTHING,
    )
    assert list((await listed(house)).names) == ["seen"]


async def test_loads_that_come_together_have_each_its_own_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH_SECONDS", 60.0)
    house = await a_house()
    await create(house)
    items = [
        generic_tables_pb2.LoadGenericTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name))
        for name in ("vectors", "absent", "VECTORS")
    ]
    answer = await house.generic_tables.BatchLoadGenericTables(
        generic_tables_pb2.BatchLoadGenericTablesRequest(items=items)
    )
    first, absent, second = answer.items
    assert first.response.table.table == second.response.table.table == (await load(house)).table.table
    assert absent.failure.reason == Reason.REASON_NO_SUCH_GENERIC_TABLE
