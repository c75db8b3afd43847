"""Finding tables and views of a warehouse by name, and how many there are."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_catalog.domain.model import State
from lakeward_protocol.catalog.v1 import tabulars_pb2, warehouses_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.values import NOON
from tests.support.deciding import Rule


async def found(house: House, search: object) -> list[Any]:
    response = await house.tabulars.SearchTabulars(
        tabulars_pb2.SearchTabularsRequest(warehouse_id=house.warehouse_id, search=str(search))
    )
    return list(response.matches)


async def names(house: House, search: object) -> list[str]:
    return [each.ident.name for each in await found(house, search)]


@pytest.mark.parametrize("search", ["orders", "ORDERS", "ordres", " orders "])
async def test_a_name_is_found_whatever_its_case_and_in_spite_of_a_typo(search: str) -> None:
    house = await a_house()
    matches = await found(house, search)
    assert matches[0].ident.name == "orders"
    assert matches[0].tabular.tabular_id == str(house.tabular("orders").tabular_id)
    assert list(matches[0].ident.namespace.parts) == ["sales"]
    assert 0 <= matches[0].distance < 1


@pytest.mark.parametrize("search", ["", "   ", "zebra"])
async def test_what_is_like_nothing_finds_nothing(search: str) -> None:
    assert await names(await a_house(), search) == []


async def test_an_id_finds_what_has_it_and_what_is_in_it_without_a_distance() -> None:
    house = await a_house()
    (match,) = await found(house, house.tabular("recent").tabular_id)
    assert (match.ident.name, match.tabular.kind, match.HasField("distance")) == (
        "recent",
        tabulars_pb2.TABULAR_KIND_VIEW,
        False,
    )
    assert await names(house, house.namespace("sales").namespace_id) == ["orders", "recent"]


async def test_what_was_dropped_or_is_only_promised_is_not_found() -> None:
    house = await a_house()
    for state in (State.DROPPED, State.STAGED):
        house.change_tabular("orders", state=state, expires_at=NOON)
        assert await names(house, "orders") == []


async def test_the_text_counts_up_to_its_sixty_fourth_character() -> None:
    house = await a_house()
    await house.make_table("sales", "x" * 64)
    assert (await names(house, "x" * 64 + "y" * 1000))[0] == "x" * 64


async def test_of_many_that_match_the_best_that_show_are_found() -> None:
    house = await a_house()
    for number in range(20):
        await house.make_table("sales", f"orders{number:02}")
    assert len(await names(house, "orders")) == 10
    far = house.tabular("orders19")
    house.authorizer.replace(
        Rule(allows=False, action=Action.WAREHOUSE_LIST_EVERYTHING),
        Rule(allows=True, kind=ObjectKind.TABLE, id=far.incarnation),
        Rule(allows=False, kind=ObjectKind.TABLE),
        ANYTHING,
    )
    assert await names(house, "orders") == ["orders19"]


async def test_nothing_is_found_in_an_inactive_warehouse() -> None:
    house = await a_house()
    house.change_warehouse(active=False)
    assert (await refusal_of(found(house, "orders"))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_warehouse_s_live_tables_and_views_are_counted_active_or_not() -> None:
    house = await a_house()
    await house.make_table("sales", "dropped")
    house.change_tabular("dropped", state=State.DROPPED, expires_at=NOON)
    house.change_warehouse(active=False)
    counted = await house.warehouses.GetWarehouseStatistics(
        warehouses_pb2.GetWarehouseStatisticsRequest(warehouse_id=house.warehouse_id)
    )
    assert (counted.tables, counted.views) == (1, 1)
    assert counted.counted_at.ToDatetime() == house.clock.now().replace(tzinfo=None)
