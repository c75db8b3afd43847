"""A pool of one role, and what is done with its connections.

Sessions keep no state of their own: settings are `set local`, advisory locks belong to transactions, and LISTEN has a
connection of its own (`open_connection`). So a connection goes back to its pool without the round trip of a reset.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import asyncpg

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres import failures
from lakeward_servicekit.postgres.addresses import address_of
from lakeward_servicekit.postgres.statements import log_statement, trace_statement
from lakeward_servicekit.telemetry import spans
from lakeward_servicekit.telemetry.metrics import Counter, Gauge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from types import TracebackType

    from asyncpg.pool import PoolConnectionProxy

    from lakeward_servicekit.secrecy import SecretStr
    from lakeward_servicekit.settings.postgres import PostgresSettings

    _AsyncpgPool: TypeAlias = asyncpg.Pool[asyncpg.Record]

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
"""A connection, pooled or not; in text, since asyncpg's classes take a parameter in their stubs alone."""
Isolation: TypeAlias = Literal["read_committed", "repeatable_read", "serializable"]
ACQUIRE_TIMEOUT: Final = timedelta(seconds=5)
_PING_TIMEOUT: Final = 2.0
_CLOSE_TIMEOUT: Final = 5.0
_MARK: Final[contextvars.ContextVar[list[bool] | None]] = contextvars.ContextVar("lakeward_commit_mark", default=None)
_AWAY: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)  # a TimeoutError is an OSError
CONNECTIONS: Final = Gauge(
    "lakekeeper_catalog_pg_pool_connections",
    "Connections of a pool that are open; `state` is `in_use` or `idle`.",
    ("pool", "state"),
)
MOST: Final = Gauge("lakekeeper_catalog_pg_pool_max_connections", "Connections that a pool opens at most.", ("pool",))
TIMEOUTS: Final = Counter(
    "lakekeeper_catalog_pg_pool_acquire_timeouts_total",
    "Times that no connection of a pool could be had in time.",
    ("pool",),
)
WAITING: Final = Gauge("lakeward_pg_pool_waiting", "Who waits for a connection of a pool.", ("pool",))


def mark_commit() -> None:
    """Have the pool's `marked` called once the transaction that is under way in this task is committed."""
    mark = _MARK.get()
    if mark is not None:
        mark.append(True)


class Pool:
    """Connections of one role, as many as `size`, made when they are first needed and again after the server went.

    Refusals of every method: DATABASE_UNAVAILABLE when no connection can be made or one goes while reading, OVERLOADED
    when all stay busy for the acquire timeout, CONCURRENT_CHANGE for serialization failures and deadlocks,
    DEADLINE_EXCEEDED for a statement timeout. Errors of constraints pass as asyncpg raises them.
    """

    def __init__(
        self, pool: _AsyncpgPool, *, acquire_timeout: timedelta = ACQUIRE_TIMEOUT, label: str = "other"
    ) -> None:
        """Wrap an asyncpg pool; `open_pool` makes one. `label` is what metrics call it."""
        self.raw: Final = pool
        self.patience: Final = acquire_timeout.total_seconds()
        self.waiting: Final = WAITING.series(label)
        self.timeouts: Final = TIMEOUTS.series(label)
        # Called after a `transaction` that was marked; it must not wait.
        self.marked: Callable[[], None] = _nobody_cares

    def reading(self) -> _Lease:
        """A connection for reads. One that goes while it is used changed nothing, and the caller is told so."""
        return _Lease(self, changing=False)

    def changing(self) -> _Lease:
        """A connection for one statement that changes and commits by itself.

        Raises OutcomeUnknown, beside the class's refusals, when the connection goes before the statement's answer.
        """
        return _Lease(self, changing=True)

    @contextlib.asynccontextmanager
    async def transaction(
        self, *, isolation: Isolation = "read_committed", readonly: bool = False
    ) -> AsyncIterator[Connection]:
        """A transaction: committed at the end of the block, rolled back by any exception.

        Raises OutcomeUnknown, beside the class's refusals, when the connection goes during the commit.
        """
        async with self.reading() as connection:
            transaction = connection.transaction(isolation=isolation, readonly=readonly)
            await transaction.start()
            marks: list[bool] = []
            before = _MARK.get()
            _MARK.set(marks)
            try:
                yield connection
            except BaseException:
                # The server rolls back by itself what a lost connection can't.
                with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError):
                    await transaction.rollback()
                raise
            finally:
                _MARK.set(before)
            with _commit():
                await transaction.commit()
            if marks:
                self.marked()

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """All rows of a reading statement."""
        async with self.reading() as connection:
            return await connection.fetch(statement, *arguments)

    async def fetchrow(self, statement: str, *arguments: object) -> asyncpg.Record | None:
        """The first row of a reading statement."""
        async with self.reading() as connection:
            return await connection.fetchrow(statement, *arguments)

    async def fetchval(self, statement: str, *arguments: object) -> Any:  # noqa: ANN401 - the column decides
        """The first column of the first row of a reading statement."""
        async with self.reading() as connection:
            return await connection.fetchval(statement, *arguments)

    async def execute(self, statement: str, *arguments: object) -> str:
        """Run one statement that changes; its command tag, as in "UPDATE 1"."""
        async with self.changing() as connection:
            return await connection.execute(statement, *arguments)

    async def ping(self) -> None:
        """Ask the server whether it answers; for readiness.

        Raises:
            Refusal: DATABASE_UNAVAILABLE, within two seconds and the acquire timeout; OVERLOADED while all are busy.
        """
        async with self.reading() as connection:
            try:
                await connection.execute("select 1", timeout=_PING_TIMEOUT)
            except TimeoutError as late:
                raise failures.unreachable(late) from late


class _Lease:
    """One connection for the length of a block. A class, since it is entered for every request."""

    __slots__ = ("_changing", "_connection", "_pool")

    def __init__(self, pool: Pool, *, changing: bool) -> None:
        self._pool = pool
        self._changing = changing
        self._connection: PoolConnectionProxy[asyncpg.Record] | None = None

    async def __aenter__(self) -> PoolConnectionProxy[asyncpg.Record]:
        pool, raw = self._pool, self._pool.raw
        pool.waiting.value += 1
        try:
            self._connection = await raw.acquire(timeout=pool.patience)
        except TimeoutError as late:
            pool.timeouts.value += 1
            if raw.get_idle_size() == 0 and raw.get_size() >= raw.get_max_size():
                raise Refusal(
                    Reason.REASON_OVERLOADED, "every connection to the database stays busy; try again later"
                ) from late
            raise failures.unreachable(late) from late
        except _AWAY as away:
            raise failures.unreachable(away) from away
        finally:
            pool.waiting.value -= 1
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        assert connection is not None
        closed = error is not None and _is_closed(connection)
        # A connection that can't go back is ended by its pool, and that is no concern of work that is done.
        with contextlib.suppress(*_AWAY):
            await self._pool.raw.release(connection)
        if error is None:
            return
        if isinstance(error, asyncpg.InterfaceError) and closed:
            raise failures.unreachable(error) from error  # it was found closed before anything was sent
        if self._changing and failures.is_lost(error):
            raise failures.OutcomeUnknown from error
        told = failures.refusal_of(error)
        if told is not None:
            raise told from error


def _nobody_cares() -> None:
    """Stands in for who is told of marked commits."""


def _is_closed(connection: PoolConnectionProxy[asyncpg.Record]) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # the pool took it back when it broke
        return True


@contextlib.contextmanager
def _commit() -> Iterator[None]:
    try:
        yield
    except asyncpg.PostgresError as error:
        if failures.is_lost(error):
            raise failures.OutcomeUnknown from error
        raise
    except asyncpg.InterfaceError as error:
        raise failures.OutcomeUnknown from error


@contextlib.asynccontextmanager
async def open_pool(  # noqa: PLR0913 - what settings say of a pool, each by its name
    url: SecretStr,
    *,
    size: int,
    name: str,
    schema: str | None = None,
    root_cert: Path | None = None,
    acquire_timeout: timedelta = ACQUIRE_TIMEOUT,
    max_lifetime: timedelta | None = None,
    test_before_acquire: bool = False,
    log_statements: bool = False,
    statement_timeout: timedelta | None = None,
) -> AsyncIterator[Pool]:
    """Open a pool; nothing is connected before the first use, so a server that is away does not stop a start.

    Args:
        url: where; see `addresses`.
        size: most connections, of this process.
        name: shown by Postgres as application_name: "lakeward catalog write".
        schema: the service's own schema, where unqualified names are looked up.
        root_cert: CA bundle that the server is verified with, where the URL asks for that.
        acquire_timeout: longest wait for a connection, connecting included.
        max_lifetime: age at which connections are replaced; all at once, one at a time as they are used again.
        test_before_acquire: whether each connection is tried first, which costs a round trip.
        log_statements: whether statements are logged, without their parameters.
        statement_timeout: after which Postgres itself ends a statement.
    """
    address = address_of(url.get_secret_value(), name=name, schema=schema, root_cert=root_cert)
    settings = dict(address.server_settings)
    if statement_timeout is not None:
        settings["statement_timeout"] = str(int(statement_timeout.total_seconds() * 1000))
    raw: _AsyncpgPool = asyncpg.create_pool(
        address.dsn,
        min_size=0,
        max_size=size,
        # nothing hears of statements where nothing has to: it costs each of them
        init=_log_its_statements if log_statements else _trace_its_statements if spans.recording else None,
        setup=_try_first if test_before_acquire else None,
        reset=_nothing_to_reset,
        server_settings=settings,
        timeout=acquire_timeout.total_seconds(),
        ssl=address.ssl,
    )
    label = label_of(name)
    await raw
    renewal = None if max_lifetime is None else asyncio.create_task(_renew(raw, max_lifetime))
    try:
        with CONNECTIONS.read_from(partial(_connections, raw, label)), MOST.read_from(partial(_most, size, label)):
            yield Pool(raw, acquire_timeout=acquire_timeout, label=label)
    finally:
        if renewal is not None:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
        await _close(raw)


def label_of(name: str) -> str:
    """What metrics call a pool: "write" and "read" as upstream, for those that have its two pools' work, else its use."""
    words = name.removeprefix("lakeward ").split()
    return {"catalog_serve": "write", "catalog_listings": "read"}.get(found := "_".join(words), found)


def _connections(raw: _AsyncpgPool, label: str) -> Iterator[tuple[tuple[str, str], float]]:
    idle = raw.get_idle_size()
    yield (label, "in_use"), max(0, raw.get_size() - idle)
    yield (label, "idle"), idle


def _most(size: int, label: str) -> Iterator[tuple[tuple[str], float]]:
    yield (label,), size


def service_pool(
    settings: PostgresSettings, service: str, *, size: int, url: SecretStr | None = None, use: str = ""
) -> AbstractAsyncContextManager[Pool]:
    """A pool in a service's own schema, as the settings want pools to be; see `open_pool`.

    Args:
        settings: see there.
        service: its name, as "catalog".
        size: most connections, of this process.
        url: where; None: where changes go.
        use: what the pool is for, where the service has several; Postgres shows it.
    """
    return open_pool(
        url or settings.write_url,
        size=size,
        name=f"lakeward {service} {use}".rstrip(),
        schema=settings.schema_of(service),
        root_cert=settings.ssl_root_cert,
        acquire_timeout=settings.acquire_timeout,
        max_lifetime=settings.connection_max_lifetime,
        test_before_acquire=settings.test_before_acquire,
        log_statements=settings.statement_logging,
    )


@contextlib.asynccontextmanager
async def open_connection(
    url: SecretStr, *, name: str, schema: str | None = None, root_cert: Path | None = None
) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """One connection outside of any pool, for LISTEN, leases and migrations; `url` must not lead through a pooler.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    address = address_of(url.get_secret_value(), name=name, schema=schema, root_cert=root_cert)
    try:
        connection = await asyncpg.connect(
            address.dsn,
            server_settings=dict(address.server_settings),
            timeout=ACQUIRE_TIMEOUT.total_seconds(),
            ssl=address.ssl,
        )
    except _AWAY as away:
        raise failures.unreachable(away) from away
    try:
        yield connection
    finally:
        if not connection.is_closed():
            try:
                await connection.close(timeout=_CLOSE_TIMEOUT)
            except _AWAY:
                connection.terminate()


async def _close(raw: _AsyncpgPool) -> None:
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            await raw.close()
    except _AWAY:
        raw.terminate()


async def _renew(raw: _AsyncpgPool, every: timedelta) -> None:
    while True:
        await asyncio.sleep(every.total_seconds())
        await raw.expire_connections()


async def _log_its_statements(connection: Connection) -> None:
    connection.add_query_logger(log_statement)
    if spans.recording:
        connection.add_query_logger(trace_statement)


async def _trace_its_statements(connection: Connection) -> None:
    connection.add_query_logger(trace_statement)


async def _try_first(connection: Connection) -> None:
    await connection.execute("select 1", timeout=_PING_TIMEOUT)


async def _nothing_to_reset(_: Connection) -> None:
    """Stands in for asyncpg's reset; a transaction left open was rolled back before this is called."""
