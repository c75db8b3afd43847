"""Counts of requests."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.counting import Calls, Counted, Window
from lakeward_catalog.domain.model import ProjectId, Warehouse
from lakeward_catalog.domain.names import name_key
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LOAD = Calls("GET /catalog/v1/{prefix}/namespaces", 200, None, None, None, 3, NOON, NOON)


@pytest.fixture
async def warehouse(stores: Stores) -> Warehouse:
    return await stores.with_warehouse()


async def _read(stores: Stores, warehouse: Warehouse, **narrowed: object) -> list[Counted]:
    which = {"of": None, "unmapped": False, "statuses": (), **narrowed}
    window = Window(NOON - DAY, NOON + DAY)
    return list(await stores.calls.read(warehouse.project_id, window, **which))  # type: ignore[arg-type]  # the test's own business


async def test_what_names_a_warehouse_is_its_own_project_s_whatever_project_is_named(
    stores: Stores, warehouse: Warehouse
) -> None:
    other = await stores.with_warehouse()
    by_id = dataclasses.replace(LOAD, warehouse_id=warehouse.warehouse_id, project_id=other.project_id)
    by_name = dataclasses.replace(LOAD, name_key=name_key(warehouse.name.upper()), project_id=warehouse.project_id)
    await stores.calls.add([by_id, by_name])
    (counted,) = await _read(stores, warehouse)
    assert (counted.warehouse_id, counted.warehouse_name, counted.count) == (warehouse.warehouse_id, warehouse.name, 6)
    assert await _read(stores, other) == []


async def test_what_names_no_warehouse_or_none_that_there_is_is_found_as_such(
    stores: Stores, warehouse: Warehouse
) -> None:
    mine = dataclasses.replace(LOAD, project_id=warehouse.project_id)
    unknown = dataclasses.replace(mine, warehouse_id=uuid4(), status=404)
    mapped = dataclasses.replace(mine, warehouse_id=warehouse.warehouse_id)
    await stores.calls.add([mine, unknown, mapped])
    found = await _read(stores, warehouse, unmapped=True)
    assert [(each.status, each.warehouse_id, each.warehouse_name) for each in found] == [
        (200, None, None),
        (404, None, None),
    ]
    (found,) = await _read(stores, warehouse, of=warehouse.warehouse_id)
    assert found.warehouse_id == warehouse.warehouse_id
    assert [each.status for each in await _read(stores, warehouse, statuses=[404])] == [404]
    assert len(await _read(stores, warehouse)) == 3


async def test_what_belongs_to_no_project_is_passed_over(stores: Stores, warehouse: Warehouse) -> None:
    nowhere = dataclasses.replace(LOAD, project_id=ProjectId("nowhere"))
    await stores.calls.add([nowhere, LOAD, dataclasses.replace(LOAD, project_id=warehouse.project_id)])
    assert [each.count for each in await _read(stores, warehouse)] == [3]


async def test_counts_of_an_hour_add_up_whoever_brings_them(stores: Stores, warehouse: Warehouse) -> None:
    mine = dataclasses.replace(LOAD, project_id=warehouse.project_id)
    routes = [dataclasses.replace(mine, route=f"GET /{letter}") for letter in "abcd"]
    await asyncio.gather(*(stores.calls.add(order) for order in (routes, routes[::-1], routes, routes[::-1])))
    assert [each.count for each in await _read(stores, warehouse)] == [12] * 4


async def test_an_hour_says_when_the_first_and_the_last_came(stores: Stores, warehouse: Warehouse) -> None:
    mine = dataclasses.replace(LOAD, project_id=warehouse.project_id, count=1)
    await stores.calls.add([mine])
    (counted,) = await _read(stores, warehouse)
    assert (counted.hour, counted.created_at, counted.updated_at) == (NOON + HOUR, NOON, None)
    later = NOON + HOUR / 2
    await stores.calls.add([dataclasses.replace(mine, first_at=later, last_at=later)])
    (counted,) = await _read(stores, warehouse)
    assert (counted.created_at, counted.updated_at, counted.count) == (NOON, later, 2)


async def test_an_hour_is_of_the_window_that_it_begins_in(stores: Stores, warehouse: Warehouse) -> None:
    await stores.calls.add([dataclasses.replace(LOAD, project_id=warehouse.project_id)])

    async def hours(start: timedelta, end: timedelta) -> int:
        window = Window(NOON + start, NOON + end)
        found = await stores.calls.read(warehouse.project_id, window, of=None, unmapped=False, statuses=())
        return len(found)

    assert await hours(timedelta(0), timedelta(seconds=1)) == 1
    assert await hours(-HOUR, timedelta(0)) == 0
    assert await hours(timedelta(seconds=1), DAY) == 0
