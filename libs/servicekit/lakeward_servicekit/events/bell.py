"""Tells the sequencer, wherever it runs, that there are events.

NOTIFY inside a change's transaction would take a lock of the whole database at its commit, and commits would go one by one. So
a process notifies after its commits, at most so many times a second, for all of them together, and not at all while it is itself
the one that puts events in order. A notification that is lost costs the time until the next poll and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Final
from uuid import uuid4

import asyncpg

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.pools import Pool, open_connection
from lakeward_servicekit.secrecy import SecretStr

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
# Nobody waits for the disk: what a crash would lose, the next poll finds.
_NOTIFY: Final = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"
_PAUSE: Final = timedelta(milliseconds=20)
_RETRY: Final = timedelta(seconds=5)


class LocalBell:
    """A `Bell` within the process."""

    def __init__(self) -> None:
        """Silent at first."""
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Let the next wait, or the one that is going on, return."""
        self._rung.set()

    async def wait(self, at_most: timedelta) -> None:
        """See `Bell`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most.total_seconds()):
                await self._rung.wait()
        self._rung.clear()


class PostgresBell(LocalBell):
    """A `Bell` that every process of the catalog hears."""

    def __init__(self, pool: Pool, *, channel: str) -> None:
        """Ring through `pool`, on a channel that is named after the schema, since channels belong to the whole database."""
        super().__init__()
        self._pool: Final = pool
        self._channel: Final = channel
        # What it rang itself it has heard already.
        self._own: Final = uuid4().hex
        self._wanted = False
        self._ringer: asyncio.Task[None] | None = None
        self._answering = 0

    @contextlib.contextmanager
    def answered_here(self) -> Iterator[None]:
        """Until the block ends, whoever the bell is for is here, and nobody else is told; then the others are."""
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            self.ring()

    def ring(self) -> None:
        """Ring here at once, and elsewhere soon."""
        super().ring()
        if self._answering:
            return
        self._wanted = True
        if self._ringer is None or self._ringer.done():
            self._ringer = asyncio.create_task(self._notify())

    async def _notify(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                await self._pool.fetchval(_NOTIFY, self._channel, self._own)
            except Refusal as refused:
                _LOG.info("the sequencer was not notified; it polls", extra={"refusal": str(refused)})
            await asyncio.sleep(_PAUSE.total_seconds())

    @contextlib.asynccontextmanager
    async def listening(self, url: SecretStr) -> AsyncIterator[None]:
        """Hear what other processes ring, over a connection of its own that is made again when it goes.

        Args:
            url: past any transaction pooler.
        """
        listener = asyncio.create_task(self._listen(url))
        try:
            yield
        finally:
            tasks = [listener, *([] if self._ringer is None else [self._ringer])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, url: SecretStr) -> None:
        while True:
            try:
                async with open_connection(url, name="lakeward catalog listen") as connection:
                    await self._hear(connection)
            except (Refusal, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as away:
                _LOG.info("not listening for events; polling goes on", extra={"cause": str(away)})
            await asyncio.sleep(_RETRY.total_seconds())

    async def _hear(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        """Listen until the connection is gone."""
        gone = asyncio.Event()
        connection.add_termination_listener(lambda _: gone.set())
        await connection.add_listener(self._channel, self._heard)
        LocalBell.ring(self)  # for what was missed
        await gone.wait()

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        if payload != self._own:
            LocalBell.ring(self)
