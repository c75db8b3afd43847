"""A warehouse's place is marked in its store, where endpoints of two spellings are one."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.ports.storage import PlaceMark
from lakeward_catalog.application.warehouses.places import GOOD_FOR, LEFT_BEHIND_AFTER
from lakeward_catalog.domain.model import WarehouseId
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, a_house, refusal_of
from tests.support.catalog.memory_rows import Fate

AWAY = Refusal(Reason.REASON_STORE_UNAVAILABLE, "the store is away", store="s3")


def profile_of(base: str, place: str) -> bytes:
    """A profile of an endpoint (`place`) that leads to the one store there is."""
    return json.dumps({"base": base, "place": place, "store": "the store"}).encode()


def create(house: House, name: str, *, base: str = "s3://lake/sales", place: str = "one", **members: Any) -> Any:
    return house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(name=name, storage_profile=profile_of(base, place), **members)
    )


def delete(house: House, warehouse_id: str) -> Any:
    return house.warehouses.DeleteWarehouse(warehouses_pb2.DeleteWarehouseRequest(warehouse_id=warehouse_id))


def move(house: House, warehouse_id: str, *, place: str, store: str = "the store") -> Any:
    document = json.dumps({"base": "s3://lake/sales", "place": place, "store": store}).encode()
    return house.warehouses.UpdateStorage(
        warehouses_pb2.UpdateStorageRequest(warehouse_id=warehouse_id, storage_profile=document, keep_credential=True)
    )


def marked(house: House) -> list[tuple[str, str, str]]:
    return [(store, base, str(mark.warehouse_id)) for store, base, mark in house.judge.marks]


@pytest.fixture
def house() -> House:
    made = House()
    made.make_project()
    return made


@pytest.mark.parametrize("base", ["s3://lake/sales", "s3://lake", "s3://lake/sales/eu"])
async def test_a_place_that_another_endpoint_leads_to_is_refused_and_leaves_nothing(house: House, base: str) -> None:
    await create(house, "first")
    before, kept = marked(house), dict(house.judge.kept)
    refusal = await refusal_of(create(house, "second", base=base, place="two", secret_id=str(uuid4())))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORAGE_OVERLAP, {"other": "first"})
    assert "(first), whose mark is s3://lake/sales/.lakeward-warehouse;" in refusal.message
    assert len(house.catalog.rows.warehouses) == 1
    assert (marked(house), house.judge.kept) == (before, kept)


async def test_a_mark_of_another_installation_is_told_with_the_object_that_is_in_the_way(house: House) -> None:
    other = WarehouseId(uuid4())
    mark = PlaceMark("s3://lake/sales/.lakeward-warehouse", uuid4(), other, house.clock.now() - timedelta(days=99))
    house.judge.marks.append(("the store", "s3://lake/sales", mark))
    refusal = await refusal_of(create(house, "first"))
    assert refusal.metadata == {"other": str(other)}
    assert f"s3://lake/sales/.lakeward-warehouse is the mark of warehouse {other} of another installation" in (
        refusal.message
    )
    assert house.judge.marks == [("the store", "s3://lake/sales", mark)]


async def test_an_object_that_is_no_mark_is_not_taken_over(house: House) -> None:
    mark = PlaceMark("s3://lake/sales/.lakeward-warehouse")
    house.judge.marks.append(("the store", "s3://lake/sales", mark))
    refusal = await refusal_of(create(house, "first"))
    assert "an object that is no mark of a warehouse" in refusal.message


async def test_a_deleted_warehouse_leaves_its_place_free(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    await delete(house, first)
    assert marked(house) == []
    await create(house, "second", place="two")


async def test_a_warehouse_is_deleted_though_its_store_is_away_and_its_mark_is_taken_over_later(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    house.judge.refuses["release"] = AWAY
    await delete(house, first)
    assert [each[2] for each in marked(house)] == [first]
    house.judge.refuses.clear()
    house.clock.advance(LEFT_BEHIND_AFTER)
    second = (await create(house, "second", place="two")).warehouse.warehouse_id
    assert [each[2] for each in marked(house)] == [second]


async def test_a_mark_without_a_row_is_left_alone_while_it_may_yet_become_one(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    house.judge.refuses["release"] = AWAY
    await delete(house, first)
    house.clock.advance(LEFT_BEHIND_AFTER - timedelta(seconds=1))
    refusal = await refusal_of(create(house, "second", place="two"))
    assert "that is just being made" in refusal.message
    assert LEFT_BEHIND_AFTER > GOOD_FOR


async def test_a_claim_that_may_be_taken_over_meanwhile_makes_no_row(house: House) -> None:
    keep = house.judge.keep_secret

    async def slowly(secret_id: UUID, warehouse_id: WarehouseId) -> None:
        house.clock.advance(GOOD_FOR + timedelta(seconds=1))
        await keep(secret_id, warehouse_id)

    house.judge.keep_secret = slowly  # type: ignore[method-assign]
    refusal = await refusal_of(create(house, "first", secret_id=str(uuid4())))
    assert refusal.reason == Reason.REASON_DEADLINE_EXCEEDED
    assert (len(house.catalog.rows.warehouses), marked(house), house.judge.kept) == (0, [], {})


@pytest.mark.parametrize("step", ["validate", "claim", "keep"])
async def test_a_creation_that_is_refused_leaves_no_mark(house: House, step: str) -> None:
    house.judge.refuses[step] = AWAY
    await refusal_of(create(house, "first", secret_id=str(uuid4())))
    assert marked(house) == []


async def test_a_creation_whose_outcome_is_unknown_keeps_its_mark_for_the_row_that_may_be_there(house: House) -> None:
    keep = house.judge.keep_secret

    async def then_lost(secret_id: UUID, warehouse_id: WarehouseId) -> None:
        await keep(secret_id, warehouse_id)
        house.catalog.next_commit = Fate.LOST_AFTER

    house.judge.keep_secret = then_lost  # type: ignore[method-assign]
    refusal = await refusal_of(create(house, "first", secret_id=str(uuid4())))
    assert refusal.reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert len(marked(house)) == 1


async def test_of_creations_of_one_place_by_two_endpoints_at_once_one_wins(house: House) -> None:
    results = await asyncio.gather(
        *(create(house, f"w{number}", place=f"endpoint {number}") for number in range(6)), return_exceptions=True
    )
    refused = [each for each in results if isinstance(each, Refusal)]
    assert [each.reason for each in refused] == [Reason.REASON_STORAGE_OVERLAP] * 5
    (row,) = house.catalog.rows.warehouses.values()
    assert [each[2] for each in marked(house)] == [str(row.warehouse_id)]


async def test_a_warehouse_that_moves_to_another_spelling_keeps_its_mark(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    before = marked(house)
    await move(house, first, place="two")
    assert marked(house) == before
    assert "release" not in house.judge.steps


async def test_a_warehouse_that_moves_to_another_store_takes_its_mark_along(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    house.clock.advance(timedelta(seconds=1))
    await move(house, first, place="two", store="another store")
    assert marked(house) == [("another store", "s3://lake/sales", first)]
    await create(house, "second")


async def test_a_warehouse_of_before_marks_is_marked_by_an_update_even_to_another_spelling(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    for place in ("one", "two"):
        house.judge.marks.clear()
        await move(house, first, place=place)
        assert marked(house) == [("the store", "s3://lake/sales", first)]
        house.clock.advance(timedelta(days=1))


async def test_an_update_onto_another_warehouse_s_place_is_refused_and_leaves_both_marks(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    document = json.dumps({"base": "s3://lake/sales", "place": "far", "store": "another store"}).encode()
    second = await house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(name="second", storage_profile=document)
    )
    before = marked(house)
    refusal = await refusal_of(move(house, second.warehouse.warehouse_id, place="two"))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORAGE_OVERLAP, {"other": "first"})
    assert marked(house) == before
    assert first in {each[2] for each in before}


async def test_an_update_that_loses_a_race_leaves_no_mark_where_its_warehouse_is_not(house: House) -> None:
    first = (await create(house, "first")).warehouse.warehouse_id
    row = house.catalog.rows.warehouses[WarehouseId(UUID(first))]
    claim = house.judge.claim_place

    async def then_lost(*args: Any, **how: Any) -> Any:
        claimed = await claim(*args, **how)
        house.catalog.rows.warehouses[row.warehouse_id] = dataclasses.replace(row, row_version=row.row_version + 1)
        return claimed

    house.judge.claim_place = then_lost  # type: ignore[method-assign]
    refusal = await refusal_of(move(house, first, place="two", store="another store"))
    assert refusal.reason == Reason.REASON_CONCURRENT_CHANGE
    assert marked(house) == [("the store", "s3://lake/sales", first)]


@pytest.mark.parametrize("segment", [".lakeward-warehouses", ".Lakeward-Warehouse"])
async def test_nothing_is_made_where_marks_lie(segment: str) -> None:
    house = await a_house()
    refusal = await refusal_of(house.make_table("sales", "t", location=f"s3://lake/demo/{segment}/t"))
    assert refusal.reason == Reason.REASON_LOCATION_NOT_ALLOWED
