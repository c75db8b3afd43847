"""Transactions, and what is known of their end.

A plain commit of one table is four round trips: begin, compare and set, events and key, commit. From the moment that the
commit is sent it is not interrupted: whoever is cancelled meanwhile learns so after the outcome is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from types import TracebackType
from typing import Any, Final, TypeVar
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres import ledger, namespace_changes, tabular_changes, warehouse_changes
from lakeward_catalog.adapters.postgres.places import LOCK_EXCLUSIVE, LOCK_SHARED, locations_lock, storage_lock
from lakeward_catalog.application.ports import Change, Clock, Contents, Ids, Remembered, Scope, TabularCommit
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.events import Event
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    State,
    Storage,
    Tabular,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.tasks import NewTask
from lakeward_locations import Location
from lakeward_servicekit.postgres import failures
from lakeward_servicekit.postgres.pools import Connection, Pool

_COMMIT_TIMEOUT: Final = 30.0
_ROLLBACK_TIMEOUT: Final = 5.0

Result = TypeVar("Result")


class PostgresChanges:
    """`Changes` on Postgres."""

    def __init__(
        self,
        pool: Pool,
        *,
        clock: Clock,
        ids: Ids,
        told: Callable[[], None] = lambda: None,
        changed: Callable[[Warehouse], None] = lambda _: None,
    ) -> None:
        """Change through `pool`, which leads to the primary.

        Args:
            pool: of connections that no transaction pooler shares between statements of one transaction.
            clock: says when a remembered key has expired, and when a row was changed.
            ids: of tasks.
            told: called after a commit that wrote events; wakes the relay. It must not wait.
            changed: called after a commit with each warehouse that it updated, as it now is; for what keeps warehouses in memory.
        """
        self._pool: Final = pool
        self._clock: Final = clock
        self._ids: Final = ids
        self._told: Final = told
        self._changed: Final = changed

    def change(self) -> AbstractAsyncContextManager[Change]:
        """See `Changes`."""
        return _Transaction(self._pool, clock=self._clock, ids=self._ids, told=self._told, changed=self._changed)

    async def current_metadata(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> MetadataId | None:
        """See `Changes`."""
        async with self._pool.reading() as connection:
            return await tabular_changes.current_metadata(connection, warehouse_id, incarnation)


class _Transaction:
    """One transaction on one connection. A class, since it is entered for every change."""

    def __init__(
        self, pool: Pool, *, clock: Clock, ids: Ids, told: Callable[[], None], changed: Callable[[Warehouse], None]
    ) -> None:
        self._lease: Final = pool.reading()
        self._clock: Final = clock
        self._ids: Final = ids
        self._told: Final = told
        self._changed: Final = changed
        self._change: PostgresChange | None = None

    async def __aenter__(self) -> Change:
        connection = await self._lease.__aenter__()
        try:
            await connection.execute("begin")
        except BaseException as error:
            await self._lease.__aexit__(type(error), error, error.__traceback__)
            raise
        self._change = PostgresChange(connection, clock=self._clock, ids=self._ids)
        return self._change

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        change, self._change = self._change, None
        assert change is not None
        try:
            if error is None:
                await self._end(change)
            else:
                await _uninterrupted(_roll_back(change.connection))
        except BaseException as failed:
            await self._lease.__aexit__(type(failed), failed, failed.__traceback__)
            raise
        await self._lease.__aexit__(kind, error, trace)

    async def _end(self, change: PostgresChange) -> None:
        try:
            await change.flush()
        except BaseException:
            await _uninterrupted(_roll_back(change.connection))
            raise
        await _uninterrupted(_commit(change.connection))
        if change.told_something:
            self._told()
        for warehouse in change.warehouses:
            self._changed(warehouse)


class PostgresChange:
    """`Change` on one connection in a transaction.

    Attributes:
        warehouses: those that were updated, as they will be.
    """

    def __init__(self, connection: Connection, *, clock: Clock, ids: Ids) -> None:
        """Change through `connection`, whose transaction someone else ends."""
        self.connection: Final = connection
        self._clock: Final = clock
        self._ids: Final = ids
        self._events: Final[list[Event]] = []
        self.warehouses: Final[list[Warehouse]] = []
        self._record: ledger.KeyRecord | None = None

    @property
    def told_something(self) -> bool:
        """Whether events were emitted."""
        return bool(self._events)

    async def flush(self) -> None:
        """Write what was gathered; called once, before the commit."""
        if self._events or self._record is not None:
            await ledger.write(self.connection, events=self._events, record=self._record, now=self._clock.now())

    async def emit(self, *events: Event) -> None:
        """See `Change`."""
        self._events.extend(events)

    async def enqueue(self, task: NewTask) -> UUID:
        """See `Change`."""
        return await ledger.enqueue(self.connection, task, task_id=self._ids.uuid7())

    async def remember(self, scope: Scope, remembered: Remembered, *, until: datetime) -> None:
        """See `Change`."""
        self._record = ledger.KeyRecord(scope, remembered, until)

    # -- server and projects

    async def bootstrap(self, *, default_project: Project | None) -> bool:
        """See `Change`."""
        return await warehouse_changes.bootstrap(self.connection, default_project=default_project)

    # -- warehouses

    async def lock_storage_place(self, place: str) -> None:
        """See `Change`."""
        await self.connection.execute(LOCK_EXCLUSIVE, storage_lock(place))

    async def warehouses_at(self, place: str) -> Sequence[Warehouse]:
        """See `Change`."""
        return await warehouse_changes.at(self.connection, place)

    async def insert_warehouse(self, warehouse: Warehouse) -> None:
        """See `Change`."""
        await warehouse_changes.insert(self.connection, warehouse)

    async def lock_warehouse(self, warehouse_id: WarehouseId) -> Warehouse:
        """See `Change`."""
        return await warehouse_changes.lock(self.connection, warehouse_id)

    async def update_warehouse(
        self,
        warehouse: Warehouse,
        *,
        name: str | None = None,
        active: bool | None = None,
        storage: Storage | None = None,
    ) -> Warehouse:
        """See `Change`."""
        updated = await warehouse_changes.update(
            self.connection, warehouse, name=name, active=active, storage=storage, at=self._clock.now()
        )
        self.warehouses.append(updated)
        return updated

    async def delete_warehouse(self, warehouse_id: WarehouseId) -> None:
        """See `Change`."""
        await warehouse_changes.delete(self.connection, warehouse_id)

    # -- namespaces

    async def lock_namespace(self, warehouse_id: WarehouseId, ident: NamespaceIdent, *, exclusively: bool) -> Namespace:
        """See `Change`."""
        return await namespace_changes.lock(self.connection, warehouse_id, ident, exclusively=exclusively)

    async def insert_namespace(self, namespace: Namespace) -> None:
        """See `Change`."""
        await namespace_changes.insert(self.connection, namespace)

    async def set_namespace_properties(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        """See `Change`."""
        await namespace_changes.set_properties(self.connection, namespace, properties)

    async def contents(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Contents:
        """See `Change`."""
        return await namespace_changes.contents(self.connection, warehouse_id, namespace_id)

    async def delete_namespace(self, namespace: Namespace) -> None:
        """See `Change`."""
        await namespace_changes.delete(self.connection, namespace)

    # -- tabulars

    async def lock_locations(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
        """See `Change`."""
        statement = LOCK_EXCLUSIVE if exclusively else LOCK_SHARED
        await self.connection.execute(statement, locations_lock(warehouse_id))

    async def overlapping(
        self, warehouse_id: WarehouseId, location: Location, *, enclosed_too: bool, but_not: Incarnation | None = None
    ) -> Tabular | None:
        """See `Change`."""
        return await tabular_changes.overlapping(
            self.connection, warehouse_id, location, enclosed_too=enclosed_too, but_not=but_not
        )

    async def purge_pending(self, warehouse_id: WarehouseId, location: Location) -> bool:
        """See `Change`."""
        return await tabular_changes.purge_pending(self.connection, warehouse_id, location)

    async def insert_tabular(self, tabular: Tabular, body: Body) -> None:
        """See `Change`."""
        await tabular_changes.insert(self.connection, tabular, body)

    async def lock_tabular(
        self, warehouse_id: WarehouseId, ident: TabularIdent, kinds: Collection[Kind], *, states: Collection[State]
    ) -> Tabular:
        """See `Change`."""
        return await tabular_changes.lock(self.connection, warehouse_id, ident, kinds, states=states)

    async def lock_incarnation(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> Tabular | None:
        """See `Change`."""
        return await tabular_changes.lock_incarnation(self.connection, warehouse_id, incarnation)

    async def commit_tabulars(self, commits: Sequence[TabularCommit]) -> Collection[Incarnation]:
        """See `Change`."""
        return await tabular_changes.commit(self.connection, commits)

    async def rename_tabular(self, tabular: Tabular, *, namespace: Namespace, name: str) -> None:
        """See `Change`."""
        await tabular_changes.rename(self.connection, tabular, namespace=namespace, name=name)

    async def drop_tabular(self, tabular: Tabular, *, at: datetime, expires_at: datetime) -> None:
        """See `Change`."""
        await tabular_changes.drop(self.connection, tabular, at=at, expires_at=expires_at)

    async def delete_tabular(self, tabular: Tabular) -> None:
        """See `Change`."""
        await tabular_changes.delete(self.connection, tabular)


async def _commit(connection: Connection) -> None:
    """Commit.

    Raises:
        OutcomeUnknown: the connection went, or time ran out, after the commit was sent.
    """
    if connection.is_closed():
        raise failures.unreachable(asyncpg.ConnectionDoesNotExistError())
    try:
        tag = await connection.execute("commit", timeout=_COMMIT_TIMEOUT)
    except asyncpg.PostgresError as error:
        if failures.is_lost(error):
            raise failures.OutcomeUnknown from error
        raise
    except (asyncpg.InterfaceError, OSError) as error:  # TimeoutError is an OSError
        raise failures.OutcomeUnknown from error
    if tag != "COMMIT":
        raise RuntimeError("a refusal was swallowed inside a change: its transaction had failed, and was rolled back")


async def _roll_back(connection: Connection) -> None:
    """Roll back; a connection that can't even do that is ended, which does it too."""
    if connection.is_closed():
        return
    try:
        await connection.execute("rollback", timeout=_ROLLBACK_TIMEOUT)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection.terminate()


async def _uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """Let `work` end, whoever is cancelled meanwhile; then the cancellation goes on."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # what became of it is not asked any more; it was retrieved
        raise cancelled
    return task.result()
