"""Who waits for whom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from lakeward_catalog.application.changes import Change
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.stores import PostgresStores
from tests.support.catalog.values import a_body, a_namespace, a_tabular

pytestmark = pytest.mark.integration

_WAITS = """select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()"""


async def _waits(pool: Pool, task: asyncio.Task[object]) -> bool:
    """Whether the task comes to wait for a lock; False when it ends instead."""
    async with asyncio.timeout(20):
        while not task.done():
            if await pool.fetchval(_WAITS):
                return True
            await asyncio.sleep(0.005)
    return False


def _start(stores: PostgresStores, work: Callable[[Change], Awaitable[object]]) -> asyncio.Task[object]:
    async def run() -> object:
        async with stores.changes.change() as change:
            return await work(change)

    return asyncio.create_task(run())


@pytest.mark.parametrize(
    ("first", "second", "waits"), [(False, False, False), (False, True, True), (True, False, True), (True, True, True)]
)
async def test_locations_are_held_shared_or_alone(
    stores: PostgresStores, first: bool, second: bool, waits: bool
) -> None:
    warehouse = await stores.with_warehouse()
    async with stores.changes.change() as change:
        await change.locations.lock(warehouse.warehouse_id, exclusively=first)
        other = _start(stores, lambda it: it.locations.lock(warehouse.warehouse_id, exclusively=second))
        assert await _waits(stores.pool, other) is waits
    await other


async def test_a_storage_place_is_held_alone(stores: PostgresStores) -> None:
    async with stores.changes.change() as change:
        await change.warehouses.lock_place("s3://lake")
        await _start(stores, lambda it: it.warehouses.lock_place("s3://other"))
        other = _start(stores, lambda it: it.warehouses.lock_place("s3://lake"))
        assert await _waits(stores.pool, other)
    await other


async def test_a_namespace_that_is_used_can_not_go_and_may_be_used_by_many(stores: PostgresStores) -> None:
    namespace = await stores.with_namespace()
    key = (namespace.warehouse_id, namespace.ident)
    async with stores.changes.change() as change:
        await change.namespaces.lock(*key, exclusively=False)
        await _start(stores, lambda it: it.namespaces.lock(*key, exclusively=False))
        other = _start(stores, lambda it: it.namespaces.lock(*key, exclusively=True))
        assert await _waits(stores.pool, other)
    await other


async def test_a_table_that_is_being_made_is_among_the_contents_or_refused(stores: PostgresStores) -> None:
    namespace = await stores.with_namespace()
    tabular = a_tabular(namespace)
    async with stores.changes.change() as change:
        await change.namespaces.lock(namespace.warehouse_id, namespace.ident, exclusively=True)
        contents = await change.namespaces.contents(namespace.warehouse_id, namespace.namespace_id)
        making = _start(stores, lambda it: it.tabulars.insert(tabular, a_body(), owner=ANONYMOUS))
        assert await _waits(stores.pool, making)
        assert contents.tabulars == ()
        await change.namespaces.delete(namespace)
    with pytest.raises(Refusal) as refused:
        await making
    assert refused.value.reason == Reason.REASON_NO_SUCH_NAMESPACE


async def test_contents_wait_for_what_is_being_made_at_any_depth_and_hold_it(stores: PostgresStores) -> None:
    top = await stores.with_namespace(None, "top")
    warehouse = await stores.warehouse_of(top)
    child = await stores.with_namespace(warehouse, "child", parent=top)
    grandchild = a_namespace(warehouse, "grandchild", parent=child)
    tabular = a_tabular(grandchild)
    async with stores.changes.change() as change:
        await change.namespaces.insert(grandchild, owner=ANONYMOUS)
        await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
        looking = _start(stores, lambda it: it.namespaces.contents(top.warehouse_id, top.namespace_id))
        assert await _waits(stores.pool, looking)
    contents = await looking
    assert contents.namespaces == (child, grandchild)  # type: ignore[attr-defined]  # Contents
    assert contents.tabulars == (tabular,)  # type: ignore[attr-defined]  # Contents


async def test_a_warehouse_that_is_changed_still_takes_namespaces(stores: PostgresStores) -> None:
    warehouse = await stores.with_warehouse()
    async with stores.changes.change() as change:
        await change.warehouses.lock(warehouse.warehouse_id)
        async with asyncio.timeout(20):
            await stores.with_namespace(warehouse)
