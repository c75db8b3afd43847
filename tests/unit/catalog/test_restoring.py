"""What was dropped where drops can be restored: listed, and brought back as it was, all or nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.model import Kind, State
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2, tabulars_pb2, views_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, context, ident, refusal_of, tabular, tabular_ref
from tests.support.catalog.memory_tasks import MemoryTasks
from tests.support.catalog.values import NOON
from tests.support.deciding import Rule

WEEK = timedelta(days=7)


async def restorable() -> House:
    house = await a_house()
    house.change_warehouse(restorable_for=WEEK)
    return house


async def drop(house: House, *path: str, **flags: bool) -> None:
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular(*path), **flags)
    )


async def drop_view(house: House) -> None:
    await house.views.DropView(
        views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"))
    )


def undrop(house: House, *ids: object, kind: Kind = Kind.TABLE, key: str = "") -> Any:
    return house.tabulars.UndropTabulars(
        tabulars_pb2.UndropTabularsRequest(
            context=context(idempotency_key=key),
            warehouse_id=house.warehouse_id,
            tabulars=[tabular_ref(kind, each) for each in ids],
        )
    )


async def deleted(house: House, namespace: str = "", **page: Any) -> list[str]:
    request = tabulars_pb2.ListDeletedTabularsRequest(
        warehouse_id=house.warehouse_id,
        namespace_id=str(house.namespace(namespace).namespace_id) if namespace else "",
    )
    if page:
        request.page.size, request.page.token = page.get("size", 100), page.get("token", "")
    response = await house.tabulars.ListDeletedTabulars(request)
    return [*(each.ident.name for each in response.tabulars), response.next_page_token]


async def exists(house: House, *path: str) -> bool:
    try:
        await house.tables.TableExists(
            tables_pb2.TableExistsRequest(warehouse_id=house.warehouse_id, table=tabular(*path))
        )
    except Refusal:
        return False
    return True


async def test_what_comes_back_is_what_was_dropped_but_for_its_row_version() -> None:
    house = await restorable()
    before = house.tabular("orders")
    await drop(house, "sales", "orders")
    assert not await exists(house, "sales", "orders")
    await undrop(house, before.tabular_id)
    after = house.tabular("orders")
    assert await exists(house, "sales", "orders")
    assert (after.state, after.expires_at, after.incarnation, after.metadata_location, after.location) == (
        State.LIVE,
        None,
        before.incarnation,
        before.metadata_location,
        before.location,
    )


async def test_what_was_to_delete_it_is_cancelled_and_its_record_stays() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    ((task_id, queued),) = house.catalog.rows.tasks.items()
    assert queued.queue is Queue.SOFT_DELETION
    await undrop(house, house.tabular("orders").tabular_id)
    assert not house.catalog.rows.tasks
    assert [(each.task_id, *each.outcome) for each in house.catalog.rows.attempts] == [(task_id, 1, "cancelled")]


async def test_each_restored_tabular_is_told_of_with_its_place_among_them() -> None:
    house = await restorable()
    await house.make_table("sales", "customers")
    for name in ("orders", "customers"):
        await drop(house, "sales", name)
    told = len(house.events())
    names = ("customers", "orders")
    await undrop(house, *(house.tabular(name).tabular_id for name in names))
    events = [house.event(index) for index in range(told, len(house.events()))]
    assert [
        (each["type"], each["name"], each["sequence-number"], each["num-events"], each["data"]["tabular"]["staged"])
        for each in events
    ] == [("undropTabulars", "customers", 0, 2, False), ("undropTabulars", "orders", 1, 2, False)]


async def test_what_was_never_dropped_stays_as_it_is_and_nothing_is_told() -> None:
    house = await restorable()
    before = house.catalog.rows.copy()
    await undrop(house, house.tabular("orders").tabular_id)
    await undrop(house)
    assert house.catalog.rows == before


async def test_one_that_is_named_twice_is_restored_once() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    which = house.tabular("orders").tabular_id
    await undrop(house, which, which)
    assert house.events().count("undropTabulars") == 1


async def test_one_that_is_not_there_keeps_all_from_being_restored_and_is_named() -> None:
    house, nobody = await restorable(), uuid4()
    await drop(house, "sales", "orders")
    before = house.catalog.rows.copy()
    refusal = await refusal_of(undrop(house, house.tabular("orders").tabular_id, nobody))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_TABLE, {"table": str(nobody)})
    assert house.catalog.rows == before


async def test_a_name_that_another_has_by_now_is_refused_by_that_name_and_nothing_is_restored() -> None:
    house = await restorable()
    await house.make_table("sales", "customers")
    for name in ("orders", "customers"):
        await drop(house, "sales", name)
    gone = [house.tabular(name).tabular_id for name in ("customers", "orders")]
    await house.make_table("sales", "ORDERS")
    before = house.catalog.rows.copy()
    refusal = await refusal_of(undrop(house, *gone))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_TABULAR_EXISTS, {"tabular": "sales.orders"})
    assert house.catalog.rows == before


async def test_of_two_that_had_one_name_no_two_come_back() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    first = house.tabular("orders").tabular_id
    await house.make_table("sales", "orders")
    await drop(house, "sales", "orders")
    both = [each.tabular_id for each in house.catalog.rows.tabulars.values() if each.ident.name == "orders"]
    assert (await refusal_of(undrop(house, *both))).reason == Reason.REASON_TABULAR_EXISTS
    await undrop(house, first)


async def test_a_name_that_was_only_promised_makes_way() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    which = house.tabular("orders").tabular_id
    await house.make_table("sales", "orders", **{"stage-create": True})
    await undrop(house, which)
    assert [each.state for each in house.catalog.rows.tabulars.values() if each.ident.name == "orders"] == [State.LIVE]


async def test_a_view_is_restored_as_a_view_alone() -> None:
    house = await restorable()
    await drop_view(house)
    which = house.tabular("recent").tabular_id
    assert (await refusal_of(undrop(house, which))).reason == Reason.REASON_NO_SUCH_TABLE
    await undrop(house, which, kind=Kind.VIEW)
    assert house.tabular("recent").state is State.LIVE


async def test_more_than_a_thousand_at_once_are_refused_before_anything_is_read() -> None:
    house = await restorable()
    refusal = await refusal_of(undrop(house, *(uuid4() for _ in range(1001))))
    assert refusal.reason == Reason.REASON_TOO_LARGE


async def test_of_a_restoration_and_the_end_of_its_time_one_wins_and_the_other_is_told() -> None:
    for restored_first in (True, False):
        house = await restorable()
        await drop(house, "sales", "orders", purge=True)
        which, task = house.tabular("orders").tabular_id, await _claimed(house)
        expire = Expiries(house.parts.doors.warehouses, house.parts.changes, house.parts.announcer, house.clock)
        if restored_first:
            await undrop(house, which)
            assert "restored" in await expire(task, Progress())
            assert house.tabular("orders").state is State.LIVE
        else:
            assert await expire(task, Progress()) == "Deleted tabular"
            assert (await refusal_of(undrop(house, which))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_worker_that_began_before_a_restoration_does_not_end_a_later_drop() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    task = await _claimed(house)
    await undrop(house, house.tabular("orders").tabular_id)
    await drop(house, "sales", "orders")
    await Expiries(house.parts.doors.warehouses, house.parts.changes, house.parts.announcer, house.clock)(
        task, Progress()
    )
    assert house.tabular("orders").state is State.DROPPED


async def _claimed(house: House) -> Task:
    later = house.clock.now() + WEEK
    tasks = MemoryTasks(house.catalog)
    task = await tasks.claim(Queue.SOFT_DELETION, now=later, silence=WEEK, attempts=5)
    assert task is not None
    return task


async def test_of_a_rename_and_a_drop_and_a_restoration_at_once_the_table_is_left_with_one_name() -> None:
    house = await restorable()
    which = house.tabular("orders").tabular_id
    rename = house.tables.RenameTable(
        tables_pb2.RenameTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", "orders"), destination=tabular("sales", "renamed")
        )
    )
    outcomes = await asyncio.gather(
        rename, drop(house, "sales", "orders"), undrop(house, which), return_exceptions=True
    )
    refused = [each for each in outcomes if isinstance(each, Exception)]
    assert all(isinstance(each, Refusal) for each in refused)
    names = [each.ident.name for each in house.catalog.rows.tabulars.values() if each.tabular_id == which]
    assert len(names) == 1


async def test_a_repeated_restoration_under_a_key_restores_once() -> None:
    house, key = await restorable(), str(uuid4())
    await drop(house, "sales", "orders")
    which = house.tabular("orders").tabular_id
    await undrop(house, which, key=key)
    await drop(house, "sales", "orders")
    await undrop(house, which, key=key)
    assert house.tabular("orders").state is State.DROPPED


async def test_a_listing_is_in_the_order_of_dropping_with_what_people_need_to_choose() -> None:
    house = await restorable()
    made = house.tabular("orders").created_at
    await drop_view(house)
    house.clock.advance(timedelta(hours=1))
    await drop(house, "sales", "orders")
    response = await house.tabulars.ListDeletedTabulars(
        tabulars_pb2.ListDeletedTabularsRequest(warehouse_id=house.warehouse_id)
    )
    view, table = response.tabulars
    assert (view.tabular.kind, table.tabular.kind) == (
        tabulars_pb2.TABULAR_KIND_VIEW,
        tabulars_pb2.TABULAR_KIND_TABLE,
    )
    assert UUID(table.tabular.tabular_id) == house.tabular("orders").tabular_id
    assert (list(table.ident.namespace.parts), table.ident.name) == (["sales"], "orders")
    assert table.created_at.ToDatetime() == made.replace(tzinfo=None)
    assert table.deleted_at.ToDatetime() == (NOON + timedelta(hours=1)).replace(tzinfo=None)
    assert table.expires_at.ToDatetime() == (NOON + timedelta(hours=1) + WEEK).replace(tzinfo=None)


async def test_a_listing_comes_in_pages_and_is_narrowed_to_a_namespace() -> None:
    house = await restorable()
    await house.make_namespace("sales", "eu")
    await house.make_table("sales", "eu", "customers")
    await house.make_table("sales", "items")
    for path in (("sales", "orders"), ("sales", "eu", "customers"), ("sales", "items")):
        house.clock.advance(timedelta(seconds=1))
        await drop(house, *path)
    first, second, token = await deleted(house, size=2)
    assert (first, second) == ("orders", "customers")
    assert await deleted(house, size=2, token=token) == ["items", ""]
    assert await deleted(house, "sales") == ["orders", "items", ""]
    refusal = await refusal_of(deleted(house, "sales", size=2, token=token))
    assert refusal.reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_a_listing_shows_what_the_caller_sees_of_each_kind_in_full_pages() -> None:
    house = await restorable()
    for name in ("a", "b", "c"):
        await house.make_table("sales", name)
        house.clock.advance(timedelta(seconds=1))
        await drop(house, "sales", name)
    await drop_view(house)
    shown = house.tabular("c")
    nothing_whole = [
        Rule(allows=False, action=action)
        for action in (Action.WAREHOUSE_LIST_EVERYTHING, Action.NAMESPACE_LIST_EVERYTHING)
    ]
    house.authorizer.replace(
        *nothing_whole,
        Rule(allows=True, kind=ObjectKind.TABLE, id=shown.incarnation),
        Rule(allows=False, kind=ObjectKind.TABLE),
        Rule(allows=False, kind=ObjectKind.VIEW),
        ANYTHING,
    )
    assert await deleted(house, size=1) == ["c", ""]
    house.authorizer.replace(*nothing_whole, Rule(allows=False, kind=ObjectKind.TABLE), ANYTHING)
    assert await deleted(house) == ["recent", ""]


async def test_who_may_list_everything_in_a_namespace_sees_all_that_was_dropped_from_it() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    house.authorizer.replace(
        Rule(allows=False, action=Action.WAREHOUSE_LIST_EVERYTHING), Rule(allows=False, kind=ObjectKind.TABLE), ANYTHING
    )
    assert await deleted(house) == [""]
    assert await deleted(house, "sales") == ["orders", ""]


async def test_nothing_is_listed_of_or_restored_in_an_inactive_warehouse() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    which = house.tabular("orders").tabular_id
    house.change_warehouse(active=False)
    for call in (deleted(house), undrop(house, which)):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_what_went_with_its_namespace_is_not_restored() -> None:
    house = await restorable()
    await drop(house, "sales", "orders")
    which = house.tabular("orders").tabular_id
    await house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(
            warehouse_id=house.warehouse_id, ident=ident("sales"), recursive=True, force=True
        )
    )
    assert (await refusal_of(undrop(house, which))).reason == Reason.REASON_NO_SUCH_TABLE
