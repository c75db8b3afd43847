from __future__ import annotations

import dataclasses
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.domain.model import Warehouse
from lakeward_servicekit.errors import Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON

_LATER = NOON + timedelta(days=1)


async def _left(stores: Stores) -> set[UUID]:
    return set(await stores.unnamed_secrets.list(before=_LATER, limit=1000))


async def _with_secret(stores: Stores) -> tuple[Warehouse, UUID]:
    warehouse, secret_id = await stores.with_warehouse(), uuid4()
    return await _name(stores, warehouse, secret_id), secret_id


async def _name(stores: Stores, warehouse: Warehouse, secret_id: UUID | None) -> Warehouse:
    storage = dataclasses.replace(warehouse.storage, secret_id=secret_id)
    async with stores.changes.change() as change:
        return await change.warehouses.update(dataclasses.replace(warehouse, storage=storage))


async def _delete_and_update(stores: Stores, warehouse: Warehouse) -> None:
    """Refused: what is to be updated is not there any more."""
    async with stores.changes.change() as change:
        await change.warehouses.delete(warehouse.warehouse_id)
        await change.warehouses.update(warehouse)


async def test_a_deleted_warehouses_secret_is_left_until_it_is_forgotten(stores: Stores) -> None:
    warehouse, secret_id = await _with_secret(stores)
    other, its_secret = await _with_secret(stores)
    async with stores.changes.change() as change:
        await change.warehouses.delete(warehouse.warehouse_id)
    assert secret_id in await _left(stores)
    assert its_secret not in await _left(stores), f"{other.name} names it"
    assert secret_id not in await stores.unnamed_secrets.list(before=NOON, limit=1000)
    for _ in range(2):
        await stores.unnamed_secrets.forgotten(secret_id)
        assert secret_id not in await _left(stores)


async def test_a_replaced_secret_is_left_and_one_that_stays_is_not(stores: Stores) -> None:
    warehouse, first = await _with_secret(stores)
    warehouse = await _name(stores, warehouse, first)
    assert first not in await _left(stores)
    second = uuid4()
    warehouse = await _name(stores, warehouse, second)
    assert first in await _left(stores)
    assert second not in await _left(stores)
    await _name(stores, warehouse, None)
    assert second in await _left(stores)


async def test_what_is_rolled_back_leaves_no_secret(stores: Stores) -> None:
    warehouse, secret_id = await _with_secret(stores)
    with pytest.raises(Refusal):
        await _delete_and_update(stores, warehouse)
    assert secret_id not in await _left(stores)


async def test_the_oldest_come_first(stores: Stores) -> None:
    left, named = [], [await _with_secret(stores) for _ in range(3)]
    for hours, (warehouse, secret_id) in enumerate(named):
        stores.clock.at = NOON - timedelta(days=900) + timedelta(hours=hours)
        async with stores.changes.change() as change:
            await change.warehouses.delete(warehouse.warehouse_id)
        left.append(secret_id)
    stores.clock.at = NOON
    assert list(await stores.unnamed_secrets.list(before=NOON - timedelta(days=1), limit=2)) == left[:2]
