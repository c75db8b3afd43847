"""The catalog's stores, all of one kind, and a look behind them for tests."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_catalog.adapters.postgres.bodies import PostgresBodies
from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.endpoint_counts import PostgresCalls
from lakeward_catalog.adapters.postgres.idempotency import PostgresIdempotency
from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.namespaces import PostgresNamespaces
from lakeward_catalog.adapters.postgres.statistics import PostgresStatistics
from lakeward_catalog.adapters.postgres.table_versions import PostgresVersions
from lakeward_catalog.adapters.postgres.tabulars import PostgresTabulars
from lakeward_catalog.adapters.postgres.tags import PostgresTags
from lakeward_catalog.adapters.postgres.task_records import PostgresTaskRecords
from lakeward_catalog.adapters.postgres.tasks import PostgresTasks
from lakeward_catalog.adapters.postgres.tree_streams import PostgresTreeStreams
from lakeward_catalog.adapters.postgres.unnamed_secrets import PostgresUnnamedSecrets
from lakeward_catalog.adapters.postgres.upkeep import PostgresUpkeep
from lakeward_catalog.adapters.postgres.warehouses import PostgresServer, PostgresWarehouses
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.ports.counting import CallStore
from lakeward_catalog.application.ports.storage import UnnamedSecrets
from lakeward_catalog.application.ports.stores import (
    BodyStore,
    NamespaceStore,
    ServerStore,
    TabularStore,
    VersionStore,
    WarehouseStore,
)
from lakeward_catalog.application.ports.tags import TagStore
from lakeward_catalog.application.ports.tasks import TaskRecords
from lakeward_catalog.application.ports.upkeep import Hour, ScheduleStore, StatisticsStore, Upkeep
from lakeward_catalog.application.tree import TreeStreams, TreeWatch
from lakeward_catalog.application.workers import TaskStore
from lakeward_catalog.domain.model import Namespace, Project, Tabular, Warehouse, WarehouseId
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.idempotency import IdempotencyStore
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.memory import MemoryCatalog
from tests.support.catalog.memory_calls import MemoryCalls
from tests.support.catalog.memory_tasks import MemoryTaskRecords, MemoryTasks, MemoryUpkeep
from tests.support.catalog.memory_tree import MemoryTreeStreams
from tests.support.catalog.values import FreshIds, HeldClock, a_body, a_namespace, a_project, a_tabular, a_warehouse

SCHEMA: Final = "lakeward_catalog"
MIGRATIONS: Final = "lakeward_catalog.adapters.postgres.migrations"
_UNTOLD = "select event_id from outbox order by outbox_id"
_ATTEMPTS = "select attempt, outcome from task_log where task_id = $1 order by attempt"
_CHUNKS = "select count(*) from body_chunk where warehouse_id = $1 and incarnation = $2"


class UpkeepStores(Upkeep, ScheduleStore, StatisticsStore, Protocol):
    """All of it."""


class PostgresUpkeepStores(PostgresUpkeep):
    """On Postgres."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, ids=FreshIds())
        self._statistics = PostgresStatistics(pool)

    async def hours(self, warehouse_id: WarehouseId, *, before: datetime, limit: int) -> Sequence[Hour]:
        return await self._statistics.hours(warehouse_id, before=before, limit=limit)


@dataclasses.dataclass(frozen=True)
class Stores:
    """Attributes as the ports are named, and:

    Attributes:
        told: ids of the events that were written, in their order.
        chunks: how many shared parts are stored for a tabular.
        tree: what authz is to be told.
        tasks: the queue, for workers; task_records: for those who look at it.
        upkeep: what is counted, forgotten and scheduled, and what was counted.
        calls: counts of requests.
        attempts: (attempt, outcome) of a task's ended attempts, in order.
        state_of: "waiting", "running" or "failed" for a task; None once it is done.
    """

    servers: ServerStore
    warehouses: WarehouseStore
    namespaces: NamespaceStore
    tabulars: TabularStore
    bodies: BodyStore
    versions: VersionStore
    idempotency: IdempotencyStore
    changes: Changes
    tags: TagStore
    clock: HeldClock
    told: Callable[[], Awaitable[list[object]]]
    chunks: Callable[[Tabular], Awaitable[int]]
    tree: TreeStreams
    tasks: TaskStore
    task_records: TaskRecords
    upkeep: UpkeepStores
    calls: CallStore
    attempts: Callable[[UUID], Awaitable[list[tuple[int, str]]]]
    state_of: Callable[[UUID], Awaitable[str | None]]
    unnamed_secrets: UnnamedSecrets

    async def with_warehouse(self, **changes: object) -> Warehouse:
        """A project and a warehouse in it."""
        project = a_project()
        warehouse = a_warehouse(project, **changes)  # type: ignore[arg-type]  # the test's own business
        await self.make_project(project)
        async with self.changes.change() as change:
            await change.warehouses.insert(warehouse, owner=ANONYMOUS)
        return warehouse

    async def make_project(self, project: Project) -> None:
        raise NotImplementedError

    async def warehouse_of(self, inside: Namespace | Tabular) -> Warehouse:
        """The warehouse that something is in."""
        found = await self.warehouses.find(inside.warehouse_id)
        assert found is not None
        return found

    async def with_namespace(self, warehouse: Warehouse | None = None, *path: str, **changes: object) -> Namespace:
        warehouse = warehouse or await self.with_warehouse()
        namespace = a_namespace(warehouse, *path, **changes)  # type: ignore[arg-type]  # the test's own business
        async with self.changes.change() as change:
            await change.namespaces.insert(namespace, owner=ANONYMOUS)
        return namespace

    async def with_tabular(
        self, namespace: Namespace | None = None, name: str | None = None, **changes: object
    ) -> Tabular:
        namespace = namespace or await self.with_namespace()
        tabular = a_tabular(namespace, name, **changes)  # type: ignore[arg-type]  # the test's own business
        async with self.changes.change() as change:
            await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
        return tabular


class MemoryStores(Stores):
    def __init__(self) -> None:
        clock = HeldClock()
        self._catalog: MemoryCatalog
        catalog = MemoryCatalog(clock=clock, ids=FreshIds())
        object.__setattr__(self, "_catalog", catalog)

        async def told() -> list[object]:
            return [event.event_id for event in catalog.rows.events]

        async def chunks(tabular: Tabular) -> int:
            current = catalog.rows.tabulars[tabular.warehouse_id, tabular.incarnation]
            body = catalog.rows.bodies[current.warehouse_id, current.metadata_id]
            return len({part.chunk_id for part in (*body.everything, *body.references)} - {None})

        tasks = MemoryTasks(catalog)

        async def attempts(task_id: UUID) -> list[tuple[int, str]]:
            return [(attempt, outcome) for each, attempt, outcome in tasks.log if each == task_id]

        async def state_of(task_id: UUID) -> str | None:
            return tasks.state_of(task_id)

        super().__init__(
            catalog.servers,
            catalog.warehouses,
            catalog.namespaces,
            catalog.tabulars,
            catalog.bodies,
            catalog.versions,
            catalog.idempotency,
            catalog.changes,
            catalog.tags,
            clock,
            told,
            chunks,
            MemoryTreeStreams(catalog),
            tasks,
            MemoryTaskRecords(catalog),
            MemoryUpkeep(catalog),
            MemoryCalls(catalog),
            attempts,
            state_of,
            catalog.unnamed_secrets,
        )

    async def make_project(self, project: Project) -> None:
        self._catalog.rows.projects[project.project_id] = project


class PostgresStores(Stores):
    def __init__(self, pool: Pool, *, watch: TreeWatch | None = None) -> None:
        clock, containers = HeldClock(), Containers(pool)
        locating = Locating(pool, containers)
        object.__setattr__(self, "pool", pool)

        async def told() -> list[object]:
            return [row[0] for row in await pool.fetch(_UNTOLD)]

        async def chunks(tabular: Tabular) -> int:
            return int(await pool.fetchval(_CHUNKS, tabular.warehouse_id, tabular.incarnation))

        async def attempts(task_id: UUID) -> list[tuple[int, str]]:
            return [(row[0], row[1]) for row in await pool.fetch(_ATTEMPTS, task_id)]

        async def state_of(task_id: UUID) -> str | None:
            state: str | None = await pool.fetchval("select state from task where task_id = $1", task_id)
            return state

        super().__init__(
            PostgresServer(pool),
            PostgresWarehouses(pool, locating, containers),
            PostgresNamespaces(pool, locating),
            PostgresTabulars(pool, locating),
            PostgresBodies(pool),
            PostgresVersions(pool),
            PostgresIdempotency(pool),
            PostgresChanges(pool, clock=clock, ids=FreshIds(), changed=containers.keep, watch=watch),
            PostgresTags(pool),
            clock,
            told,
            chunks,
            PostgresTreeStreams(pool),
            PostgresTasks(pool),
            PostgresTaskRecords(pool),
            PostgresUpkeepStores(pool),
            PostgresCalls(pool),
            attempts,
            state_of,
            PostgresUnnamedSecrets(pool),
        )

    pool: Pool

    async def make_project(self, project: Project) -> None:
        await self.pool.execute(
            "insert into project (project_id, name) values ($1, $2)", project.project_id, project.name
        )


@asynccontextmanager
async def catalog_pool(url: str, *, size: int = 10, migrated: bool = False) -> AsyncIterator[Pool]:
    """A pool of the catalog's schema in this database, which is migrated first unless it was."""
    secret = SecretStr(url)
    if not migrated:
        await migrate(secret, package=MIGRATIONS, schema=SCHEMA)
    async with open_pool(secret, size=size, name="lakeward catalog test", schema=SCHEMA) as pool:
        yield pool
