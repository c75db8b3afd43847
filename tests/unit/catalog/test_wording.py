"""What refusals say: each begins as Iceberg's own library does, because users of engines see nothing but this text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2, views_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, ident, refusal_of, tabular
from tests.support.catalog.tables import a_file, register

FILE = "s3://lake/demo/found/metadata/00003-x.metadata.json"


def get(house: House, *path: str) -> Any:
    return house.namespaces.GetNamespace(
        namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident(*path))
    )


def listed(house: House, *path: str) -> Any:
    return house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident(*path))
    )


def load(house: House, *path: str) -> Any:
    return house.tables.LoadTable(tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular(*path)))


def load_view(house: House, *path: str) -> Any:
    return house.views.LoadView(views_pb2.LoadViewRequest(warehouse_id=house.warehouse_id, view=tabular(*path)))


def rename(house: House, old: str, new: tuple[str, ...]) -> Any:
    return house.tables.RenameTable(
        tables_pb2.RenameTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", old), destination=tabular(*new)
        )
    )


def rename_view(house: House, old: str, new: tuple[str, ...]) -> Any:
    return house.views.RenameView(
        views_pb2.RenameViewRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", old), destination=tabular(*new)
        )
    )


# In the house are table sales.orders and view sales.recent, and two more of each.
BEGINNINGS: list[tuple[Callable[[House], Awaitable[Any]], str]] = [
    (lambda house: load(house, "sales", "absent"), "Table does not exist: sales.absent"),
    (lambda house: load(house, "sales", "recent"), "Table does not exist: sales.recent"),
    (lambda house: load(house, "absent", "t"), "Table does not exist: absent.t"),
    (lambda house: load_view(house, "sales", "absent"), "View does not exist: sales.absent"),
    (lambda house: load_view(house, "sales", "orders"), "View does not exist: sales.orders"),
    (lambda house: house.make_namespace("sales"), "Namespace already exists: sales"),
    (lambda house: house.make_namespace("1", "2", "3", "4", "5", "6"), "Namespace exceeds maximum depth of 5"),
    (lambda house: house.make_table("sales", "orders"), "Table already exists: sales.orders"),
    (lambda house: house.make_table("sales", "recent"), "View with same name already exists: sales.recent"),
    (lambda house: house.make_view("sales", "recent"), "View already exists: sales.recent"),
    (lambda house: house.make_view("sales", "orders"), "Table with same name already exists: sales.orders"),
    (lambda house: register(house, FILE, name="orders"), "Table already exists: sales.orders"),
    (lambda house: register(house, FILE, name="recent"), "View with same name already exists: sales.recent"),
    (
        lambda house: rename(house, "orders", ("sales", "returns")),
        "Cannot rename sales.orders to sales.returns. Table already exists",
    ),
    (
        lambda house: rename(house, "orders", ("sales", "recent")),
        "Cannot rename sales.orders to sales.recent. View already exists",
    ),
    (
        lambda house: rename_view(house, "recent", ("sales", "orders")),
        "Cannot rename sales.recent to sales.orders. Table already exists",
    ),
    (
        lambda house: rename_view(house, "recent", ("sales", "older")),
        "Cannot rename sales.recent to sales.older. View already exists",
    ),
    (lambda house: rename(house, "orders", ("absent", "t")), "Namespace does not exist: absent"),
    (lambda house: rename(house, "absent", ("sales", "t")), "Table does not exist: sales.absent"),
    (lambda house: rename_view(house, "absent", ("sales", "t")), "View does not exist: sales.absent"),
]


@pytest.mark.parametrize(("call", "words"), BEGINNINGS, ids=[words for _, words in BEGINNINGS])
async def test_a_refusal_begins_in_icebergs_own_words(call: Callable[[House], Awaitable[Any]], words: str) -> None:
    house = await a_house()
    await house.make_table("sales", "returns")
    await house.make_view("sales", "older")
    house.files.stored[FILE] = a_file("s3://lake/demo/found")
    assert (await refusal_of(call(house))).message.startswith(words)


@pytest.mark.parametrize("look", [get, listed])
async def test_of_a_namespace_that_is_not_there_nothing_is_said_but_that(look: Callable[..., Awaitable[Any]]) -> None:
    assert (await refusal_of(look(await a_house(), "absent", "inner"))).message == (
        "Namespace does not exist: absent.inner"
    )


@pytest.mark.parametrize("path", [("a.b",), ("1", "2", "3", "4", "5", "6"), ("a", ""), ("a+b",)])
async def test_a_namespace_that_nothing_can_have_is_only_not_found(path: tuple[str, ...]) -> None:
    refusal = await refusal_of(get(await a_house(), *path))
    assert refusal.reason == Reason.REASON_NO_SUCH_NAMESPACE
    assert refusal.message == f"Namespace does not exist: {'.'.join(path)}"


async def test_a_path_of_any_length_is_shown_by_its_beginning() -> None:
    refusal = await refusal_of(load(await a_house(), "sales", "x" * 100_000))
    assert refusal.message.startswith("Table does not exist: sales.xxx")
    assert len(refusal.message) + len(refusal.metadata["table"]) < 5000
