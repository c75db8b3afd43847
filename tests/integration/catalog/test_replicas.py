"""What one process remembers of warehouses and namespaces is held against what another one changed since."""

from __future__ import annotations

import dataclasses

import pytest

from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.stores import PostgresStores
from tests.support.catalog.values import a_storage

pytestmark = pytest.mark.integration


async def test_the_next_look_sees_a_warehouse_as_another_process_left_it(pool: Pool) -> None:
    one, two = PostgresStores(pool), PostgresStores(pool)
    warehouse = await one.with_warehouse()
    project, name = warehouse.project_id, warehouse.name
    assert await two.warehouses.find(warehouse.warehouse_id) == warehouse
    assert await two.warehouses.find_by_name(project, name) == warehouse
    current = warehouse
    for change in (
        {"name": "Another"},
        {"active": False},
        {"active": True, "storage": a_storage(base="s3://lake/moved")},
        {"protected": True},
        {"name": name, "protected": False},
    ):
        async with one.changes.change() as changing:
            current = await changing.warehouses.update(dataclasses.replace(current, **change))  # type: ignore[arg-type]
        assert await two.warehouses.find(warehouse.warehouse_id) == current
        for looked in ("Another", name):
            found = await two.warehouses.find_by_name(project, looked)
            assert found == (current if looked == current.name else None)
    async with one.changes.change() as changing:
        await changing.warehouses.delete(warehouse.warehouse_id)
    assert await two.warehouses.find(warehouse.warehouse_id) is None
    assert await two.warehouses.find_by_name(project, name) is None


async def test_the_next_look_sees_a_namespace_as_another_process_left_it(pool: Pool) -> None:
    one, two = PostgresStores(pool), PostgresStores(pool)
    warehouse = await one.with_warehouse()
    namespace = await one.with_namespace(warehouse, "ns")
    assert await two.namespaces.find(warehouse.warehouse_id, namespace.ident) == (warehouse, namespace)
    async with one.changes.change() as changing:
        await changing.namespaces.set_properties(namespace, {"owner": "anna"})
    found = (await two.namespaces.find(warehouse.warehouse_id, namespace.ident))[1]
    assert found is not None
    assert found.properties == {"owner": "anna"}
    async with one.changes.change() as changing:
        await changing.namespaces.delete(found)
    assert await two.namespaces.find(warehouse.warehouse_id, namespace.ident) == (warehouse, None)
