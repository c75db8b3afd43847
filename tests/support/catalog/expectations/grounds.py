"""What houses hold before a method is called, where methods of several nouns need it."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from lakeward_protocol.catalog.v1 import (
    generic_tables_pb2,
    tables_pb2,
    views_pb2,
)
from lakeward_servicekit.rpc import refusal_of
from tests.support.catalog.house import (
    House,
    commit_body,
    tabular,
)


async def archive(house: House) -> None:
    await house.make_namespace("archive")


async def with_generic_table(house: House) -> None:
    """A generic table, and a namespace to move it to."""
    await house.make_generic("sales", "vectors")
    await house.make_namespace("archive")


async def dropped_generic_table(house: House) -> None:
    """A generic table that can be restored."""
    await with_generic_table(house)
    house.change_warehouse(restorable_for=timedelta(days=7))
    await house.generic_tables.DropGenericTable(
        generic_tables_pb2.DropGenericTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"))
    )


async def dropped_table(house: House) -> None:
    """The table and the view, and both can be restored."""
    house.change_warehouse(restorable_for=timedelta(days=7))
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    await house.views.DropView(
        views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"))
    )


def first_item(
    response: tables_pb2.BatchLoadTablesResponse | generic_tables_pb2.BatchLoadGenericTablesResponse,
) -> None:
    (item,) = response.items
    if item.HasField("failure"):
        raise refusal_of(item.failure)


SETS_PROPERTIES: Final = commit_body({"action": "set-properties", "updates": {"a": "b"}})
