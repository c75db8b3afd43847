"""Transactions, and what is known of their end.

A plain commit of one table is four round trips: begin, compare and set, events and key, commit. From the moment that the
commit is sent it is not interrupted: whoever is cancelled meanwhile learns so after the outcome is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

import asyncpg

from lakeward_catalog.adapters.postgres import tabular_changes
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.adapters.postgres.location_changes import PostgresLocationChanges
from lakeward_catalog.adapters.postgres.namespace_changes import PostgresNamespaceChanges
from lakeward_catalog.adapters.postgres.project_changes import PostgresProjectChanges
from lakeward_catalog.adapters.postgres.server_changes import PostgresServerChanges
from lakeward_catalog.adapters.postgres.table_versions import PostgresVersionChanges
from lakeward_catalog.adapters.postgres.tabular_changes import PostgresTabularChanges
from lakeward_catalog.adapters.postgres.tag_changes import PostgresTagChanges
from lakeward_catalog.adapters.postgres.task_changes import PostgresTaskChanges
from lakeward_catalog.adapters.postgres.together import Together
from lakeward_catalog.adapters.postgres.warehouse_changes import PostgresWarehouseChanges
from lakeward_catalog.application.changes import Change, Stood, TabularCommit, TabularInsert
from lakeward_catalog.application.tree import StreamId, TreeWatch
from lakeward_catalog.domain.model import Incarnation, MetadataId, Warehouse, WarehouseId
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.postgres import failures
from lakeward_servicekit.postgres.pools import Connection, Pool
from lakeward_servicekit.system import Clock, Ids

_BEGIN: Final = "begin"
# Whoever is in it with one that waits for somebody's lock would wait as long.
_SHARED: Final = "begin; set local lock_timeout = '100ms'"
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
        watch: TreeWatch | None = None,
        audits: bool = False,
    ) -> None:
        """Change through `pool`, which leads to the primary.

        Args:
            pool: of connections that no transaction pooler shares between statements of one transaction.
            clock: says when a remembered key has expired, and when a row was changed.
            ids: of tasks.
            told: called after a commit that wrote events; wakes the relay. It must not wait.
            changed: called after a commit with each warehouse that it updated, as it now is; for what keeps warehouses in memory.
            watch: told of commits that changed the tree, and waited for; None: nobody is.
            audits: each transaction writes down for the audit what it tells of.
        """
        self._pool: Final = pool
        self._clock: Final = clock
        self._ids: Final = ids
        self._told: Final = told
        self._changed: Final = changed
        self._watch: Final = watch or _NobodyWatches()
        self._audits: Final = audits
        self._together: Final = Together(alone=self._begun, shared=partial(self._begun, _SHARED))

    def change(self) -> AbstractAsyncContextManager[Change]:
        """See `Changes`."""
        return self._begun()

    async def commit(self, commit: TabularCommit, tell: Callable[[Stood], Event]) -> bool:
        """See `Changes`."""
        return await self._together.commit(commit, tell)

    async def insert(self, insert: TabularInsert, event: Event) -> None:
        """See `Changes`."""
        await self._together.insert(insert, event)

    def _begun(self, begin: str = _BEGIN) -> _Transaction:
        return _Transaction(
            self._pool,
            begin=begin,
            clock=self._clock,
            ids=self._ids,
            told=self._told,
            changed=self._changed,
            watch=self._watch,
            audits=self._audits,
        )

    async def current_metadata(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> MetadataId | None:
        """See `Changes`."""
        async with self._pool.reading() as connection:
            return await tabular_changes.current_metadata(connection, warehouse_id, incarnation)


class _Transaction:
    """One transaction on one connection. A class, since it is entered for every change."""

    def __init__(  # noqa: PLR0913 - the parts of `PostgresChanges`, each by its name
        self,
        pool: Pool,
        *,
        begin: str,
        clock: Clock,
        ids: Ids,
        told: Callable[[], None],
        changed: Callable[[Warehouse], None],
        watch: TreeWatch,
        audits: bool,
    ) -> None:
        self._lease: Final = pool.reading()
        self._begin: Final = begin
        self._clock: Final = clock
        self._ids: Final = ids
        self._told: Final = told
        self._changed: Final = changed
        self._watch: Final = watch
        self._audits: Final = audits
        self._change: PostgresChange | None = None

    async def __aenter__(self) -> PostgresChange:
        connection = await self._lease.__aenter__()
        try:
            await connection.execute(self._begin)
        except BaseException as error:
            await self._lease.__aexit__(type(error), error, error.__traceback__)
            raise
        self._change = PostgresChange(connection, clock=self._clock, ids=self._ids, audits=self._audits)
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
        growth = change.ledger.growth
        if error is None and growth:
            # Behind the connection's return: who tells of it needs one too.
            await self._watch.grown(growth.streams, awaited=growth.awaited)

    async def _end(self, change: PostgresChange) -> None:
        try:
            await change.ledger.flush()
        except BaseException:
            await _uninterrupted(_roll_back(change.connection))
            raise
        await _uninterrupted(_commit(change.connection))
        if change.ledger.told_something:
            self._told()
        for warehouse in change.updated:
            self._changed(warehouse)


class PostgresChange:
    """`Change` on one connection in a transaction; each noun is made when it is asked for, since most changes have few.

    Attributes:
        updated: warehouses that were updated, as they will be.
    """

    def __init__(self, connection: Connection, *, clock: Clock, ids: Ids, audits: bool = False) -> None:
        """Change through `connection`, whose transaction someone else ends."""
        self.connection: Final = connection
        self.ledger: Final = PostgresLedger(connection, clock=clock, audits=audits)
        self.updated: Final[list[Warehouse]] = []
        self._clock: Final = clock
        self._ids: Final = ids

    @property
    def server(self) -> PostgresServerChanges:
        """See `Change`."""
        return PostgresServerChanges(self.connection, self.ledger.growth)

    @property
    def projects(self) -> PostgresProjectChanges:
        """See `Change`."""
        return PostgresProjectChanges(self.connection, self.ledger.growth)

    @property
    def warehouses(self) -> PostgresWarehouseChanges:
        """See `Change`."""
        return PostgresWarehouseChanges(self.connection, self.ledger.growth, clock=self._clock, updated=self.updated)

    @property
    def namespaces(self) -> PostgresNamespaceChanges:
        """See `Change`."""
        return PostgresNamespaceChanges(self.connection, self.ledger.growth)

    @property
    def tabulars(self) -> PostgresTabularChanges:
        """See `Change`."""
        return PostgresTabularChanges(self.connection, self.ledger)

    @property
    def locations(self) -> PostgresLocationChanges:
        """See `Change`."""
        return PostgresLocationChanges(self.connection)

    @property
    def versions(self) -> PostgresVersionChanges:
        """See `Change`."""
        return PostgresVersionChanges(self.connection)

    @property
    def tags(self) -> PostgresTagChanges:
        """See `Change`."""
        return PostgresTagChanges(self.connection, self.ledger.growth)

    @property
    def tasks(self) -> PostgresTaskChanges:
        """See `Change`."""
        return PostgresTaskChanges(self.connection, ids=self._ids)


class _NobodyWatches:
    """A `TreeWatch` where nothing tells authz."""

    async def grown(self, streams: Collection[StreamId], *, awaited: bool) -> None:
        """See `TreeWatch`."""


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
