"""The catalog's use cases over the real databases of catalog and authz: authz's tree is the catalog's."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.adapters.postgres.tasks import PostgresTasks
from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import (
    namespaces_pb2,
    server_pb2,
    tables_pb2,
    tabulars_pb2,
    tags_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.house import House, context, ident, table_body, tabular, tabular_ref, view_body
from tests.support.catalog.joined import Joined, joined_at
from tests.support.catalog.memory_tree import away
from tests.support.catalog.values import NOON

pytestmark = pytest.mark.integration


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def joined(postgres_url: str) -> AsyncIterator[Joined]:
    async with joined_at(postgres_url) as made:
        yield made


def _as(user: str) -> Any:
    return context(authorization=user)


async def test_who_made_something_finds_authz_knowing_of_it_and_of_its_owner(joined: Joined) -> None:
    house = await joined.a_house()
    warehouse = house.warehouse_id
    await house.namespaces.CreateNamespace(
        namespaces_pb2.CreateNamespaceRequest(warehouse_id=warehouse, ident=ident("Sales"), context=_as("oidc~anna"))
    )
    for body in (table_body("orders"), table_body("staged", **{"stage-create": True})):
        await house.tables.CreateTable(
            tables_pb2.CreateTableRequest(
                warehouse_id=warehouse, namespace=ident("Sales"), body=body, context=_as("oidc~bert")
            )
        )
    await house.views.CreateView(
        views_pb2.CreateViewRequest(
            warehouse_id=warehouse, namespace=ident("Sales"), body=view_body("recent"), context=_as("oidc~anna")
        )
    )
    assert await joined.differences() == []
    owned = await joined.authz.pool.fetch(
        "select kind, subject, relation from grants where warehouse_id = $1 order by kind, subject", UUID(warehouse)
    )
    assert [tuple(row) for row in owned] == [
        ("namespace", "user:oidc~anna", "ownership"),
        ("table", "user:oidc~bert", "ownership"),
        ("table", "user:oidc~bert", "ownership"),
        ("view", "user:oidc~anna", "ownership"),
    ]


async def test_who_makes_a_project_administers_it_and_it_goes_with_its_warehouses(joined: Joined) -> None:
    house = await joined.a_house()
    project, anna = f"p-{uuid4()}", "oidc~anna"
    await house.server.CreateProject(
        server_pb2.CreateProjectRequest(name="mine", project_id=project, context=_as(anna))
    )
    granted = "select subject, relation from grants where project_id = $1"
    assert [tuple(row) for row in await joined.authz.pool.fetch(granted, project)] == [
        (f"user:{anna}", "project_admin")
    ]
    there = context(authorization=anna, project_id=project)
    made = await house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(
            name="w", storage_profile=json.dumps({"base": f"s3://lake/{project}"}).encode(), context=there
        )
    )
    assert await joined.differences() == []
    deleted = warehouses_pb2.DeleteWarehouseRequest(warehouse_id=made.warehouse.warehouse_id, context=there)
    await house.warehouses.DeleteWarehouse(deleted)
    await house.server.DeleteProject(server_pb2.DeleteProjectRequest(context=there))
    await joined.settle()
    assert await joined.differences() == []
    assert await joined.authz.pool.fetch(granted, project) == []
    kept = await joined.pool.fetchval(
        "select count(*) from tree_stream where warehouse_id = $1", UUID(made.warehouse.warehouse_id)
    )
    assert kept == 0


async def test_a_create_succeeds_while_authz_is_away_and_authz_hears_of_it_later(joined: Joined) -> None:
    house = await joined.a_house()

    def refuse() -> None:
        raise away()

    joined.tree.before = refuse
    try:
        await house.make_namespace("Sales")
        await house.make_table("Sales", "orders")
        assert len(await joined.differences()) == 2
    finally:
        joined.tree.before = lambda: None
    loop = asyncio.create_task(joined.another_feed().run(jitter=random.random))
    try:
        async with asyncio.timeout(60):
            while await joined.differences():
                await asyncio.sleep(0.01)
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)


# What is inside of a namespace is called so.
_ASTRAY = """
select inside.path from namespace inside
  left join namespace above on above.warehouse_id = inside.warehouse_id and above.namespace_id = inside.parent_id
 where inside.warehouse_id = $1
   and (inside.path[:cardinality(inside.path) - 1] is distinct from coalesce(above.path, '{}')
        or inside.path_key is distinct from
           coalesce(above.path_key || E'\\x1f', '') || lower(inside.path[cardinality(inside.path)]))
"""
Walk = Callable[["Walker"], Awaitable[object]]


class Walker:
    """Does to a warehouse whatever comes to its mind, beside others that do the same; refusals are no concern of its."""

    def __init__(self, house: House, pool: Pool, seed: int) -> None:
        self.house, self.pool = house, pool
        self.chance = random.Random(seed)
        self.names = ["a", "b", "c"]

    def path(self) -> list[str]:
        return [self.chance.choice(self.names) for _ in range(self.chance.randint(1, 2))]

    def _named(self) -> Any:
        return tabular(*self.path(), self.chance.choice(["t", "u", "v"]))

    async def make_namespace(self) -> None:
        await self.house.make_namespace(*self.path())

    async def make_table(self) -> None:
        staged = {"stage-create": True} if self.chance.random() < 0.4 else {}
        await self.house.make_table(*self.path(), self.chance.choice(["t", "u", "v"]), **staged)

    async def make_view(self) -> None:
        await self.house.make_view(*self.path(), self.chance.choice(["t", "u", "v"]))

    async def rename(self) -> None:
        await self.house.tables.RenameTable(
            tables_pb2.RenameTableRequest(
                warehouse_id=self.house.warehouse_id, source=self._named(), destination=self._named()
            )
        )

    async def drop_table(self) -> None:
        await self.house.tables.DropTable(
            tables_pb2.DropTableRequest(
                warehouse_id=self.house.warehouse_id, table=self._named(), force=self.chance.random() < 0.5
            )
        )

    async def restore(self) -> None:
        dropped = await self.pool.fetch(
            "select tabular_id from tabular where warehouse_id = $1 and state = 'dropped' and kind = 'table'",
            UUID(self.house.warehouse_id),
        )
        if dropped:
            which = tabular_ref(Kind.TABLE, self.chance.choice(dropped)[0])
            await self.house.tabulars.UndropTabulars(
                tabulars_pb2.UndropTabularsRequest(warehouse_id=self.house.warehouse_id, tabulars=[which])
            )

    async def drop_view(self) -> None:
        await self.house.views.DropView(
            views_pb2.DropViewRequest(warehouse_id=self.house.warehouse_id, view=self._named(), force=True)
        )

    async def drop_namespace(self) -> None:
        whole = self.chance.random() < 0.5
        await self.house.namespaces.DropNamespace(
            namespaces_pb2.DropNamespaceRequest(
                warehouse_id=self.house.warehouse_id, ident=ident(*self.path()), recursive=whole, force=whole
            )
        )

    async def move_namespace(self) -> None:
        rows = await self.pool.fetch(
            "select namespace_id from namespace where warehouse_id = $1", UUID(self.house.warehouse_id)
        )
        if rows:
            await self.house.namespaces.MoveNamespace(
                namespaces_pb2.MoveNamespaceRequest(
                    warehouse_id=self.house.warehouse_id,
                    namespace_id=str(self.chance.choice(rows)[0]),
                    destination=ident(*self.path()),
                )
            )

    async def define_tag(self) -> None:
        await self.house.make_tag(f"tag {self.chance.randint(1, 4)}", "table")

    async def delete_tag(self) -> None:
        rows = await self.pool.fetch("select tag_id from tag_definition where name like 'tag _'")
        if rows:
            tag_id = str(self.chance.choice(rows)[0])
            await self.house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id))

    async def expire(self) -> None:
        tasks, parts, later = PostgresTasks(self.pool), self.house.parts, NOON + timedelta(days=400)
        task = await tasks.claim(Queue.SOFT_DELETION, now=later, silence=timedelta(days=1), attempts=1)
        if task is not None:
            await Expiries(parts.doors.warehouses, parts.changes, parts.announcer, parts.clock)(task, Progress())
            await tasks.finish(task, now=later, message="", progress=1)

    async def sweep(self) -> None:
        await PostgresLeftovers(self.pool).expired_staged(now=NOON + timedelta(days=400), limit=1)

    async def step(self) -> None:
        each = [self.make_namespace, self.make_table, self.make_view, self.rename, self.drop_table, self.drop_view]
        rare = [self.restore, self.drop_namespace, self.expire, self.sweep, self.define_tag, self.delete_tag]
        act = self.chance.choice([*each, *each, *rare, self.move_namespace, self.move_namespace])
        try:
            await act()
        except Refusal:
            return


@pytest.mark.parametrize("seed", range(3))
async def test_after_everything_that_two_processes_did_at_once_the_trees_are_equal(joined: Joined, seed: int) -> None:
    chance = random.Random(seed)

    def fail() -> None:
        if chance.random() < 0.1:
            raise away()

    ours = await joined.a_house()
    theirs = await joined.a_house(joined.another_feed())
    theirs.warehouse_id = ours.warehouse_id
    async with joined.pool.transaction() as connection:
        retention = "update warehouse set restorable_for = interval '7 days' where warehouse_id = $1"
        await connection.execute(retention, UUID(ours.warehouse_id))
    joined.tree.before = joined.tree.after = fail
    try:

        async def walk(house: House, index: int) -> None:
            walker = Walker(house, joined.pool, seed * 100 + index)
            for _ in range(80):
                await walker.step()

        await asyncio.gather(*(walk(house, index) for index, house in enumerate([ours, theirs, ours, theirs])))
    finally:
        joined.tree.before = joined.tree.after = lambda: None
    await joined.settle()
    assert await joined.differences() == []
    assert await joined.pool.fetch(_ASTRAY, UUID(ours.warehouse_id)) == []
    told = await joined.authz.pool.fetchval(
        "select applied from tree_streams where stream = $1", f"warehouse/{ours.warehouse_id}"
    )
    assert told > 5, "the walk went nowhere"


async def test_a_change_of_which_a_row_is_made_by_hand_is_seen_by_the_comparison(joined: Joined) -> None:
    """The twin: what the walk would find, made by hand."""
    house = await joined.a_house()
    await house.make_namespace("lost")
    await joined.settle()
    assert await joined.differences() == []
    lost = house.warehouse_id
    await joined.pool.execute("delete from namespace where warehouse_id = $1", UUID(lost))
    try:
        (found,) = await joined.differences()
        assert found.startswith("too much in authz: namespace")
    finally:
        await joined.pool.execute("delete from warehouse where warehouse_id = $1", UUID(lost))
        await joined.authz.pool.execute("delete from objects where warehouse_id = $1", UUID(lost))
