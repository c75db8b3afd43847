"""A catalog and an authz over one database: the catalog's use cases as they are, files and vending in memory.

async with joined_at(postgres_url) as joined:
    house = await joined.a_house()         # a process of the catalog, with a warehouse of its own
    await joined.differences()             # how authz's tree differs from the catalog's rows
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

from lakeward_authz.application.tree import ApplyTreeChanges
from lakeward_authz.transport.tree import TreeServicer
from lakeward_catalog.adapters.authz_tree import RemoteTree
from lakeward_catalog.adapters.postgres.tree_streams import PostgresTreeStreams
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.tree import Numbered, StreamId
from lakeward_protocol.authz.v1 import tree_pb2_grpc
from lakeward_protocol.catalog.v1 import server_pb2
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.rpc import Caller, Host
from tests.support import authz_stores, tree
from tests.support.catalog.house import House
from tests.support.catalog.stores import PostgresStores, catalog_pool


class Faulty:
    """Authz's tree over a line that a test may cut before or behind authz."""

    def __init__(self, tree: RemoteTree) -> None:
        self._tree = tree
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    async def apply(self, stream: StreamId, changes: Sequence[Numbered]) -> int:
        self.before()
        applied = await self._tree.apply(stream, changes)
        self.after()
        return applied


class Joined:
    """One database, a catalog process over it for each house, and authz."""

    def __init__(self, pool: Pool, authz: authz_stores.Stores) -> None:
        host = Host("authz", reflects=False)
        host.add(
            tree_pb2_grpc.add_TreeServiceServicer_to_server, TreeServicer(ApplyTreeChanges(authz.tree), authz.listing)
        )
        self.pool, self.authz = pool, authz
        self.remote = RemoteTree(host.channel(caller=Caller.CALLER_CATALOG))
        self.tree = Faulty(self.remote)
        self.feed = self.another_feed()

    def another_feed(self) -> TreeFeed:
        return TreeFeed(PostgresTreeStreams(self.pool), self.tree, LocalBell(), awaited=True)

    async def a_house(self, feed: TreeFeed | None = None) -> House:
        """A process of the catalog with a warehouse of its own."""
        stores = PostgresStores(self.pool, watch=feed or self.feed)
        house = House(stores=stores)
        if not (await stores.servers.server()).bootstrapped:
            await house.server.Bootstrap(server_pb2.BootstrapRequest(accept_terms_of_use=True))
        name = f"w-{uuid4()}"
        house.warehouse_id = await house.make_warehouse(name, base=f"s3://lake/{name}")
        return house

    async def settle(self) -> None:
        while pending := await PostgresTreeStreams(self.pool).pending():
            for stream in pending:
                await self.feed.delivered(stream)

    async def differences(self) -> list[str]:
        return await tree.differences(self.pool)


@asynccontextmanager
async def joined_at(postgres_url: str) -> AsyncIterator[Joined]:
    """A catalog and an authz in this database, which nobody else uses."""
    async with catalog_pool(postgres_url, size=12) as pool, authz_stores.opened(postgres_url) as authz:
        yield Joined(pool, authz)
