"""Moving namespaces: another name, another place, everything inside along, and nothing else changed."""

from __future__ import annotations

import dataclasses
import json
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.tree import Moved
from lakeward_catalog.domain.model import State, WarehouseId
from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2, tags_pb2, types_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, context, ident, refusal_of, tabular


async def a_tree() -> House:
    """sales with orders and recent; sales.eu with a table, sales.eu.north; and archive."""
    house = await a_house()
    for path in (("sales", "Eu"), ("sales", "Eu", "north"), ("archive",)):
        await house.make_namespace(*path)
    await house.make_table("sales", "Eu", "inner")
    return house


def move(house: House, what: tuple[str, ...], *to: str, force: bool = False, **members: Any) -> Any:
    return house.namespaces.MoveNamespace(
        namespaces_pb2.MoveNamespaceRequest(
            warehouse_id=house.warehouse_id,
            namespace_id=str(house.namespace(*what).namespace_id),
            destination=ident(*to),
            force=force,
            **members,
        )
    )


async def reason_of(call: Any) -> str:
    return Reason.Name((await refusal_of(call)).reason).removeprefix("REASON_")


def paths(house: House) -> set[str]:
    return {str(each.ident) for each in house.catalog.rows.namespaces.values()}


def tables(house: House) -> set[str]:
    return {str(each.ident) for each in house.catalog.rows.tabulars.values()}


async def load(house: House, *path: str) -> Any:
    response = await house.tables.LoadTable(
        tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular(*path))
    )
    return response.table


def lay_out(house: House, layout: dict[str, str]) -> None:
    warehouse = house.catalog.rows.warehouses[WarehouseId(next(iter(house.catalog.rows.warehouses)))]
    house.change_warehouse(storage=dataclasses.replace(warehouse.storage, layout=json.dumps(layout).encode()))


async def test_everything_inside_is_called_by_the_new_path_and_is_otherwise_as_it_was() -> None:
    house = await a_tree()
    before = {each.incarnation: each for each in house.catalog.rows.tabulars.values()}
    locations = {each.namespace_id: each.location for each in house.catalog.rows.namespaces.values()}
    loaded = await load(house, "sales", "Eu", "inner")
    sales, archive = house.namespace("sales"), house.namespace("archive")
    moved = await move(house, ("sales",), "ARCHIVE", "Old")
    assert list(moved.ident.parts) == ["archive", "Old"]
    assert (moved.namespace_id, moved.parent_id) == (str(sales.namespace_id), str(archive.namespace_id))
    assert paths(house) == {"archive", "archive.Old", "archive.Old.Eu", "archive.Old.Eu.north"}
    assert tables(house) == {"archive.Old.orders", "archive.Old.recent", "archive.Old.Eu.inner"}
    for each in house.catalog.rows.tabulars.values():
        assert each == dataclasses.replace(before[each.incarnation], ident=each.ident)
    assert {each.namespace_id: each.location for each in house.catalog.rows.namespaces.values()} == locations
    again = await load(house, "archive", "old", "eu", "INNER")
    assert again.metadata_location == loaded.metadata_location
    assert await reason_of(load(house, "sales", "Eu", "inner")) == "NO_SUCH_TABLE"


async def test_the_old_name_is_free_and_means_something_else_at_once() -> None:
    house = await a_tree()
    await move(house, ("sales",), "old")
    await house.make_namespace("sales")
    await house.make_table("sales", "orders")
    assert len({(await load(house, name, "orders")).metadata_location for name in ("old", "sales")}) == 2


async def test_a_namespace_is_renamed_in_its_place_and_by_case_alone() -> None:
    house = await a_tree()
    told = len(house.catalog.rows.growth)
    assert list((await move(house, ("sales", "Eu"), "sales", "europe")).ident.parts) == ["sales", "europe"]
    assert list((await move(house, ("sales", "europe"), "SALES", "EUROPE")).ident.parts) == ["sales", "EUROPE"]
    assert "sales.EUROPE.north" in paths(house)
    assert len(house.catalog.rows.growth) == told, "authz knows no names"


async def test_authz_and_whoever_listens_are_told_once_of_a_new_place() -> None:
    house = await a_tree()
    told, events = len(house.catalog.rows.growth), len(house.events())
    await move(house, ("sales", "Eu"), "eu")
    ((_, change),) = house.catalog.rows.growth[told:]
    assert isinstance(change, Moved)
    assert (change.object.id, change.object.parent_id) == (house.namespace("eu").namespace_id.bytes, b"")
    (kind,) = house.events()[events:]
    event = house.event()
    assert (kind, event["subject"]) == ("moveNamespace", "sales.Eu")
    assert (event["data"]["namespace"]["path"], event["data"]["namespace"]["parent-id"]) == (["eu"], None)


async def test_to_where_it_is_nothing_changes_not_even_for_one_that_is_protected() -> None:
    house = await a_tree()
    house.change_namespace("sales", "Eu", protected=True)
    rows = house.catalog.rows.copy()
    moved = await move(house, ("sales", "Eu"), "sales", "Eu")
    assert (list(moved.ident.parts), moved.parent_id) == (["sales", "Eu"], str(house.namespace("sales").namespace_id))
    assert house.catalog.rows == rows


async def test_a_protected_namespace_moves_by_force_alone_and_stays_protected() -> None:
    house = await a_tree()
    house.change_namespace("sales", protected=True)
    assert await reason_of(move(house, ("sales",), "old")) == "NAMESPACE_PROTECTED"
    await move(house, ("sales",), "old", force=True)
    assert house.namespace("old").protected


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ((), "NAMESPACE_PART_EMPTY"),
        (("a", ""), "NAMESPACE_PART_EMPTY"),
        (("a.b",), "NAMESPACE_PART_CONTAINS_DOT"),
        (("a+b",), "INVALID_NAMESPACE"),
        (("a", "b", "c", "d", "e", "f"), "NAMESPACE_TOO_DEEP"),
        (("System",), "RESERVED_NAMESPACE"),
        (("system", "x"), "RESERVED_NAMESPACE"),
        (("forbidden",), "RESERVED_NAMESPACE"),
        (("sales", "x"), "NAMESPACE_INTO_ITSELF"),
        (("Sales", "EU", "x"), "NAMESPACE_INTO_ITSELF"),
        (("SALES", "absent", "x"), "NAMESPACE_INTO_ITSELF"),
        (("Archive",), "NAMESPACE_EXISTS"),
        (("absent", "x"), "NO_SUCH_NAMESPACE"),
    ],
)
async def test_a_place_that_can_not_be_is_refused_and_nothing_moves(to: tuple[str, ...], reason: str) -> None:
    house = await a_tree()
    rows = house.catalog.rows.copy()
    assert await reason_of(move(house, ("sales",), *to)) == reason
    assert house.catalog.rows == rows


async def test_nothing_inside_comes_to_lie_too_deep() -> None:
    house = await a_tree()
    for path in (("archive", "a"), ("archive", "a", "b")):
        await house.make_namespace(*path)
    refusal = await refusal_of(move(house, ("sales",), "archive", "a", "b", "sales"))
    assert (refusal.reason, refusal.metadata["limit"]) == (Reason.REASON_NAMESPACE_TOO_DEEP, "5")
    await move(house, ("sales",), "archive", "a", "sales")


@pytest.mark.parametrize(
    ("layout", "renames", "rehangs"),
    [
        ({"type": "default"}, True, True),
        ({"type": "tabular-only", "tabular": "{name}-{uuid}"}, True, True),
        ({"type": "full-hierarchy", "namespace": "{uuid}", "tabular": "{uuid}"}, True, False),
        ({"type": "full-hierarchy", "namespace": "{name}-{uuid}", "tabular": "{uuid}"}, False, False),
    ],
)
async def test_a_layout_that_makes_paths_of_namespaces_keeps_them_where_they_are(
    layout: dict[str, str], renames: bool, rehangs: bool
) -> None:
    house = await a_tree()
    lay_out(house, layout)
    for to, allowed in ((("renamed",), renames), (("archive", "sales"), rehangs)):
        name = "sales" if "sales" in paths(house) else "renamed"
        if allowed:
            await move(house, (name,), *to)
        else:
            assert await reason_of(move(house, (name,), *to)) == "LAYOUT_FORBIDS_MOVE"


async def test_a_namespace_of_another_warehouse_is_not_there() -> None:
    house = await a_tree()
    which = str(house.namespace("sales").namespace_id)
    other = await house.make_warehouse("other", base="s3://lake/other")
    for warehouse_id, namespace_id in ((other, which), (house.warehouse_id, str(uuid4()))):
        request = namespaces_pb2.MoveNamespaceRequest(
            warehouse_id=warehouse_id, namespace_id=namespace_id, destination=types_pb2.NamespaceIdent(parts=["x"])
        )
        assert await reason_of(house.namespaces.MoveNamespace(request)) == "NO_SUCH_NAMESPACE"


async def test_a_repeated_move_under_a_key_is_one_and_answers_alike() -> None:
    house = await a_tree()
    key = context(idempotency_key=str(uuid4()))
    which = str(house.namespace("sales").namespace_id)
    request = namespaces_pb2.MoveNamespaceRequest(
        context=key, warehouse_id=house.warehouse_id, namespace_id=which, destination=ident("archive", "old")
    )
    first = await house.namespaces.MoveNamespace(request)
    await move(house, ("archive", "old"), "back")
    rows = house.catalog.rows.copy()
    assert await house.namespaces.MoveNamespace(request) == first
    assert house.catalog.rows == rows


async def test_dropped_and_staged_tables_and_tags_move_along() -> None:
    house = await a_tree()
    await house.make_tag("pii", "table")
    target = house.tag_target("table", house.tabular("inner").tabular_id)
    await house.tags.SetTag(tags_pb2.SetTagRequest(target=target, tag="pii", value="x"))
    await house.make_table("sales", "staged", **{"stage-create": True})
    house.change_tabular("orders", state=State.DROPPED)
    await move(house, ("sales",), "old")
    assert {"old.staged", "old.orders"} < tables(house)
    response = await house.tags.ListTags(tags_pb2.ListTagsRequest(target=target))
    assert [tag.value for tag in response.tags] == ["x"]


async def test_what_a_namespace_s_tags_are_inherited_by_moves_with_it() -> None:
    house = await a_tree()
    await house.make_tag("pii", "namespace")
    sales = house.tag_target("namespace", house.namespace("sales").namespace_id)
    await house.tags.SetTag(tags_pb2.SetTagRequest(target=sales, tag="pii", value="x"))
    inner = house.tag_target("table", house.tabular("inner").tabular_id)

    async def inherited() -> list[str]:
        response = await house.tags.ListTags(tags_pb2.ListTagsRequest(target=inner, effective=True))
        return [tag.value for tag in response.tags]

    assert await inherited() == ["x"]
    await move(house, ("sales", "Eu"), "eu")
    assert await inherited() == []
