"""What a transaction tells this process of warehouses, over a connection that takes everything."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from lakeward_catalog.adapters.postgres import warehouse_changes
from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.domain.model import Warehouse
from tests.support.catalog.values import FreshIds, HeldClock, a_project, a_warehouse

WAREHOUSE = a_warehouse(a_project())


class Connection:
    def __init__(self) -> None:
        self.said: list[str] = []

    async def execute(self, statement: str, **_: Any) -> str:
        self.said.append(statement)
        return statement.upper()

    async def fetchrow(self, *_: Any) -> tuple[Warehouse, bool]:
        return dataclasses.replace(WAREHOUSE, row_version=WAREHOUSE.row_version + 1), WAREHOUSE.active

    def is_closed(self) -> bool:
        return False


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setattr(warehouse_changes, "warehouse_of", lambda columns: columns[0])
    return Connection()


class Process:
    """What is told, with what the connection had been told before."""

    def __init__(self, connection: Connection) -> None:
        self.told: list[tuple[int, list[str]]] = []

        class Pool:
            @asynccontextmanager
            async def reading(self) -> AsyncIterator[Connection]:
                yield connection

        def changed(warehouse: Warehouse) -> None:
            self.told.append((warehouse.row_version, list(connection.said)))

        self.changes = PostgresChanges(cast("Any", Pool()), clock=HeldClock(), ids=FreshIds(), changed=changed)


async def test_an_updated_warehouse_is_told_of_after_the_commit(connection: Connection) -> None:
    process = Process(connection)
    async with process.changes.change() as change:
        await change.warehouses.update(dataclasses.replace(WAREHOUSE, active=False))
        assert not process.told
    assert process.told == [(WAREHOUSE.row_version + 1, ["begin", "commit"])]


async def test_an_update_that_was_rolled_back_is_told_to_nobody(connection: Connection) -> None:
    process = Process(connection)

    async def give_up() -> None:
        async with process.changes.change() as change:
            await change.warehouses.update(dataclasses.replace(WAREHOUSE, active=False))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await give_up()
    assert (connection.said, process.told) == (["begin", "rollback"], [])
