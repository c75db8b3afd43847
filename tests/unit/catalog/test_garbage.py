"""Tables with `gc.enabled=false`: their files may be other tables' as well, so a drop leaves them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, ident, refusal_of, tabular
from tests.support.catalog.tables import commit, prop


async def a_sharing_house(value: str = "false") -> House:
    house = await a_house()
    await commit(house, prop("gc.enabled", value))
    return house


def drop(house: House, name: str = "orders", **flags: bool) -> Any:
    return house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name), **flags)
    )


def drop_namespace(house: House, **flags: bool) -> Any:
    return house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(
            warehouse_id=house.warehouse_id, ident=ident("sales"), recursive=True, **flags
        )
    )


def purged(house: House) -> list[str]:
    tasks = house.catalog.rows.tasks.values()
    return sorted(task.name for task in tasks if task.queue is Queue.TABULAR_PURGE)


async def test_a_drop_that_says_nothing_of_files_leaves_them_and_tells_so() -> None:
    house = await a_sharing_house()
    await drop(house)
    assert purged(house) == []
    assert (house.events()[-1], house.event()["data"]["purge"]) == ("dropTable", False)


async def test_a_soft_drop_that_says_nothing_of_files_leaves_them_at_its_end() -> None:
    house = await a_sharing_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    await drop(house)
    (task,) = house.catalog.rows.tasks.values()
    assert (task.queue, task.purge) == (Queue.SOFT_DELETION, False)


@pytest.mark.parametrize("flags", [{}, {"force": True}])
async def test_a_purge_that_is_asked_for_is_refused_with_the_reason_and_drops_nothing(flags: dict[str, bool]) -> None:
    house = await a_sharing_house()
    before = house.catalog.rows.copy()
    refusal = await refusal_of(drop(house, purge=True, **flags))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_GC_DISABLED, {"tabular": "sales.orders"})
    assert refusal.message.startswith("Cannot purge table: GC is disabled (deleting files may corrupt other tables)")
    assert house.catalog.rows == before


async def test_a_recursive_purge_is_refused_for_one_such_table_inside_and_drops_nothing() -> None:
    house = await a_sharing_house()
    await house.make_table("sales", "returns")
    before = house.catalog.rows.copy()
    refusal = await refusal_of(drop_namespace(house, purge=True))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_GC_DISABLED, {"tabular": "sales.orders"})
    assert house.catalog.rows == before
    await drop_namespace(house)
    assert purged(house) == []


@pytest.mark.parametrize(("value", "goes"), [("true", True), ("TRUE", True), ("False", False), ("0", False)])
async def test_the_property_is_read_as_java_reads_a_boolean(value: str, goes: bool) -> None:
    house = await a_sharing_house(value)
    await drop(house)
    assert purged(house) == (["sales.orders"] if goes else [])


async def test_what_a_commit_says_while_the_drop_is_under_way_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    documents = house.parts.documents
    plain, committed = documents.plain, []

    async def plain_and_then_a_commit(*arguments: Any, **members: Any) -> bytes:
        text = await plain(*arguments, **members)
        if not committed:
            committed.append(True)
            await commit(house, prop("gc.enabled", "false"))
        return text

    monkeypatch.setattr(documents, "plain", plain_and_then_a_commit)
    await drop(house)
    assert committed
    assert purged(house) == []


async def test_a_table_that_is_committed_to_all_the_while_is_not_dropped_by_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()

    async def replaced(*arguments: Any, **members: Any) -> bytes:
        raise LookupError

    monkeypatch.setattr(house.parts.documents, "plain", replaced)
    assert (await refusal_of(drop(house))).reason == Reason.REASON_CONCURRENT_CHANGE
    assert house.tabular("orders")
    await drop(house, purge=False)
