"""Listing, looking, renaming, dropping: alike for tables and views."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.domain.model import State
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import tables_pb2, views_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, RULES, House, a_house, context, ident, refusal_of, tabular
from tests.support.catalog.values import NOON
from tests.support.deciding import Rule

TABLE, VIEW = "orders", "recent"


def rename(house: House, old: tuple[str, ...], new: tuple[str, ...], *, key: object = "") -> Any:
    members: dict[str, Any] = {
        "context": context(idempotency_key=str(key)),
        "warehouse_id": house.warehouse_id,
        "source": tabular(*old),
        "destination": tabular(*new),
    }
    if old[-1].lower() == VIEW:
        return house.views.RenameView(views_pb2.RenameViewRequest(**members))
    return house.tables.RenameTable(tables_pb2.RenameTableRequest(**members))


def drop(house: House, name: str, *, key: object = "", **flags: bool) -> Any:
    members: dict[str, Any] = {
        "context": context(idempotency_key=str(key)),
        "warehouse_id": house.warehouse_id,
        **flags,
    }
    if name == VIEW:
        return house.views.DropView(views_pb2.DropViewRequest(view=tabular("sales", name), **members))
    return house.tables.DropTable(tables_pb2.DropTableRequest(table=tabular("sales", name), **members))


def exists(house: House, *path: str) -> Any:
    return house.tables.TableExists(
        tables_pb2.TableExistsRequest(warehouse_id=house.warehouse_id, table=tabular(*path))
    )


def report(house: House, body: bytes, *path: str) -> Any:
    return house.tables.ReportMetrics(
        tables_pb2.ReportMetricsRequest(
            warehouse_id=house.warehouse_id, table=tabular(*(path or ("sales", TABLE))), body=body
        )
    )


async def listed(house: House, **page: Any) -> tuple[list[str], str]:
    response = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(
            warehouse_id=house.warehouse_id,
            namespace=ident("SALES"),
            page=context_pb2.Page(**page) if page else None,
        )
    )
    return [each.name for each in response.identifiers], response.next_page_token


@pytest.mark.parametrize("name", [TABLE, VIEW])
async def test_a_rename_changes_the_name_and_nothing_else(name: str) -> None:
    house = await a_house()
    await house.make_namespace("archive")
    before = house.tabular(name)
    await rename(house, ("Sales", name.upper()) if name == TABLE else ("Sales", name), ("ARCHIVE", "New"))
    after = house.tabular("New")
    assert str(after.ident) == "archive.New"
    assert (after.location, after.tabular_id, after.incarnation, after.metadata_location) == (
        before.location,
        before.tabular_id,
        before.incarnation,
        before.metadata_location,
    )
    assert (house.events()[-1], house.event()["name"]) == ("renameTable" if name == TABLE else "renameView", name)
    assert house.event()["data"]["request"]["destination"]["name"] == "New"


async def test_a_name_may_change_by_case_alone() -> None:
    house = await a_house()
    await rename(house, ("sales", TABLE), ("sales", "Orders"))
    assert (await listed(house))[0] == ["Orders"]


async def test_a_rename_onto_itself_is_no_change_and_no_event_but_still_needs_the_right() -> None:
    house = await a_house()
    before = house.events()
    await rename(house, ("sales", TABLE), ("sales", TABLE))
    assert house.events() == before
    house.authorizer.replace(Rule(allows=False, action=Action.TABLE_RENAME), ANYTHING)
    refusal = await refusal_of(rename(house, ("sales", TABLE), ("sales", TABLE)))
    assert refusal.reason == Reason.REASON_FORBIDDEN


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (("sales", "RECENT"), Reason.REASON_TABULAR_EXISTS),
        (("absent", "t"), Reason.REASON_NO_SUCH_NAMESPACE),
        (("sales", "a+b"), Reason.REASON_INVALID_TABULAR_NAME),
        (("sales", ""), Reason.REASON_INVALID_TABULAR_NAME),
    ],
)
async def test_a_rename_to_where_nothing_may_be_is_refused(new: tuple[str, ...], reason: Reason.ValueType) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    assert (await refusal_of(rename(house, ("sales", TABLE), new))).reason == reason
    assert house.catalog.rows == before


async def test_a_staged_table_is_neither_renamed_dropped_nor_there() -> None:
    house = await a_house()
    await house.make_table("sales", "staged", **{"stage-create": True})
    for call in (
        rename(house, ("sales", "staged"), ("sales", "x")),
        drop(house, "staged"),
        exists(house, "sales", "staged"),
    ):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_TABLE
    assert (await listed(house))[0] == [TABLE]


async def test_a_repeated_rename_under_a_key_succeeds_though_the_old_name_is_gone() -> None:
    house, key = await a_house(), uuid4()
    await rename(house, ("sales", TABLE), ("sales", "new"), key=key)
    await rename(house, ("sales", TABLE), ("sales", "new"), key=key)
    assert house.events().count("renameTable") == 1


async def test_of_a_rename_and_a_drop_at_once_exactly_one_wins() -> None:
    house = await a_house()
    results = await asyncio.gather(
        rename(house, ("sales", TABLE), ("sales", "new")), drop(house, TABLE), return_exceptions=True
    )
    refused = [each for each in results if isinstance(each, Refusal)]
    assert [each.reason for each in refused] == [Reason.REASON_NO_SUCH_TABLE]


@pytest.mark.parametrize("name", [TABLE, VIEW])
async def test_a_drop_is_final_and_purges_unless_told_otherwise(name: str) -> None:
    house = await a_house()
    gone = house.tabular(name)
    await drop(house, name)
    assert gone.incarnation not in {row.incarnation for row in house.catalog.rows.tabulars.values()}
    (task,) = house.catalog.rows.tasks.values()
    assert (task.queue, task.incarnation, task.location, task.scheduled_for) == (
        Queue.TABULAR_PURGE,
        gone.incarnation,
        gone.location,
        NOON + RULES.purge_after,
    )
    assert house.events()[-1] == ("dropTable" if name == TABLE else "dropView")
    assert house.event()["data"]["purge"] is True
    assert gone.metadata_location in house.files.stored


async def test_a_drop_without_purge_leaves_files_and_queues_nothing() -> None:
    house = await a_house()
    await drop(house, TABLE, purge=False)
    assert not house.catalog.rows.tasks


@pytest.mark.parametrize("purge", [True, False])
async def test_a_soft_drop_marks_the_row_and_queues_its_end_with_what_becomes_of_the_files(purge: bool) -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    await drop(house, TABLE, purge=purge)
    (task,) = house.catalog.rows.tasks.values()
    ends = NOON + timedelta(days=7)
    assert (task.queue, task.purge, task.scheduled_for) == (Queue.SOFT_DELETION, purge, ends)
    assert (house.tabular(TABLE).state, house.tabular(TABLE).expires_at) == (State.DROPPED, ends)
    assert (await listed(house))[0] == []
    await house.make_table("sales", TABLE)


async def test_force_drops_at_once_where_drops_can_be_restored() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    await drop(house, TABLE, force=True)
    assert [task.queue for task in house.catalog.rows.tasks.values()] == [Queue.TABULAR_PURGE]


async def test_a_protected_table_is_dropped_by_force_alone() -> None:
    house = await a_house()
    house.change_tabular(TABLE, protected=True)
    assert (await refusal_of(drop(house, TABLE))).reason == Reason.REASON_TABULAR_PROTECTED
    await drop(house, TABLE, force=True)


async def test_a_repeated_drop_under_a_key_succeeds_and_a_kept_refusal_stays_one() -> None:
    house, key, refused = await a_house(), uuid4(), uuid4()
    house.change_tabular(VIEW, protected=True)
    await drop(house, TABLE, key=key)
    await drop(house, TABLE, key=key)
    assert (await refusal_of(drop(house, VIEW, key=refused))).reason == Reason.REASON_TABULAR_PROTECTED
    house.change_tabular(VIEW, protected=False)
    assert (await refusal_of(drop(house, VIEW, key=refused))).reason == Reason.REASON_TABULAR_PROTECTED
    await drop(house, VIEW)


async def test_a_table_that_was_replaced_after_the_decision_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    decide = house.authorizer.decide

    async def replaced_meanwhile(*args: Any) -> Any:
        outcomes = await decide(*args)
        monkeypatch.undo()
        await drop(house, TABLE)
        await house.make_table("sales", TABLE)
        return outcomes

    monkeypatch.setattr(house.authorizer, "decide", replaced_meanwhile)
    assert (await refusal_of(drop(house, TABLE))).reason == Reason.REASON_NO_SUCH_TABLE
    await exists(house, "sales", TABLE)


async def test_a_listing_is_in_the_order_of_making_with_ids_and_protection_beside() -> None:
    house = await a_house()
    for name in ("z", "a"):
        house.clock.advance(timedelta(seconds=1))
        await house.make_table("sales", name)
    house.change_tabular("z", protected=True)
    reply = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(
            warehouse_id=house.warehouse_id, namespace=ident("sales"), with_ids=True, with_protection=True
        )
    )
    assert [each.name for each in reply.identifiers] == [TABLE, "z", "a"]
    assert list(reply.ids) == [str(house.tabular(name).tabular_id) for name in (TABLE, "z", "a")]
    assert list(reply.protection) == [False, True, False]


@pytest.mark.parametrize("service", ["tables", "views"])
async def test_a_listing_by_names_says_the_namespace_once_and_else_the_same(service: str) -> None:
    house = await a_house()
    await house.make_table("sales", "second")
    list_them = house.tables.ListTables if service == "tables" else house.views.ListViews
    request_of = tables_pb2.ListTablesRequest if service == "tables" else views_pb2.ListViewsRequest

    async def answer(**asked: bool) -> Any:
        return await list_them(
            request_of(
                warehouse_id=house.warehouse_id,
                namespace=ident("SALES"),
                page=context_pb2.Page(size=1),
                with_ids=True,
                with_protection=True,
                **asked,
            )
        )

    whole, short = await answer(), await answer(with_names=True)
    assert [(list(short.namespace.parts), name) for name in short.names] == [
        (list(each.namespace.parts), each.name) for each in whole.identifiers
    ]
    assert len(short.names) == 1
    assert not short.identifiers
    for reply in (whole, short):
        for field in ("identifiers", "names", "namespace"):
            reply.ClearField(field)
    assert short == whole


async def test_a_listing_shows_only_what_the_caller_sees_in_full_pages() -> None:
    house = await a_house()
    for name in ("t1", "t2", "t3"):
        house.clock.advance(timedelta(seconds=1))
        await house.make_table("sales", name)
    shown = [Rule(allows=True, kind=ObjectKind.TABLE, id=house.tabular(name).incarnation) for name in ("t1", "t3")]
    house.authorizer.replace(
        *shown,
        Rule(allows=False, kind=ObjectKind.TABLE),
        Rule(allows=False, action=Action.NAMESPACE_LIST_EVERYTHING),
        ANYTHING,
    )
    names, token = await listed(house, size=1)
    assert names == ["t1"]
    assert await listed(house, size=1, token=token) == (["t3"], "")


async def test_a_page_token_of_tables_is_refused_for_views() -> None:
    house = await a_house()
    await house.make_table("sales", "second")
    _, token = await listed(house, size=1)
    request = views_pb2.ListViewsRequest(
        warehouse_id=house.warehouse_id, namespace=ident("sales"), page=context_pb2.Page(token=token)
    )
    assert (await refusal_of(house.views.ListViews(request))).reason == Reason.REASON_INVALID_PAGE_TOKEN


@pytest.mark.parametrize("path", [("sales", TABLE, "branch_x"), ("1", "2", "3", "4", "5", "6", "t"), ("a.b", "t")])
async def test_a_path_that_engines_probe_is_no_table_whatever_its_namespace(path: tuple[str, ...]) -> None:
    assert (await refusal_of(exists(await a_house(), *path))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_report_is_logged_and_kept_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    with caplog.at_level(logging.INFO):
        await report(house, b'{"report-type": "scan-report", "snapshot-id": 1}')
    (record,) = [each for each in caplog.records if each.message == "an engine reported metrics"]
    assert (record.__dict__["report_type"], record.__dict__["table"]) == ("scan-report", "sales.orders")
    assert house.catalog.rows == before


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"report-type": 1}', b"{}"])
async def test_a_report_that_is_none_is_refused(body: bytes) -> None:
    assert (await refusal_of(report(await a_house(), body))).reason == Reason.REASON_MALFORMED_DOCUMENT


async def test_events_carry_upstreams_attributes_and_standard_ones_beside() -> None:
    house = await a_house()
    await drop(house, TABLE)
    event = house.event()
    assert {key: event[key] for key in ("tabular-type", "name", "namespace", "num-events", "sequence-number")} == {
        "tabular-type": "table",
        "name": TABLE,
        "namespace": "sales",
        "num-events": 1,
        "sequence-number": 0,
    }
    assert event["prefix"] == event["warehouse-id"] == event["warehouseid"] == house.warehouse_id
    assert event["subject"] == "sales.orders"
