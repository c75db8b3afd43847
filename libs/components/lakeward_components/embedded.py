"""What the embedded mode needs, started at once below one folder and stopped together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lakeward_components import folder, provision
from lakeward_components.environment import UP, Names
from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store


@dataclass(frozen=True, slots=True)
class Components:
    """Servers that answer."""

    postgres: PostgresServer
    nats: NatsServer
    s3: S3Store

    async def watch(self) -> None:
        """Return never while all of ours live.

        Raises:
            ComponentFailed: one ended without being told to; the message carries the end of its log.
        """
        await first_to_end(*(server.watch() for server in (self.postgres, self.nats, self.s3)))


async def first_to_end(*work: Coroutine[Any, Any, None]) -> None:
    """Run all of it until one ends, as that one ends; the rest is cancelled."""
    running = {asyncio.create_task(each) for each in work}
    try:
        ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        await next(iter(ended))
    finally:
        for task in running:
            task.cancel()


class _Stoppable(Protocol):
    async def stop(self, *, gracefully: bool = True) -> None: ...


_Server = TypeVar("_Server", bound=_Stoppable)


@asynccontextmanager
async def components(
    home: Path, *, names: Names = UP, environment: Mapping[str, str] = os.environ
) -> AsyncIterator[Components]:
    """Start Postgres, NATS and the S3 store, all or none; stop those that are ours at the end.

    Args:
        home: keeps the data of all three, and is held meanwhile.
        names: the variables that may point elsewhere.
        environment: their values.

    Raises:
        FolderInUse: another process works in `home`; the message names it.
        ComponentError: one can't be had.
    """
    held = await folder.hold(home)
    started: list[_Stoppable] = []
    try:
        yield await _start(held.path, names=names, environment=environment, started=started)
    finally:
        await asyncio.gather(*(server.stop() for server in started))
        held.release()


async def _start(home: Path, *, names: Names, environment: Mapping[str, str], started: list[_Stoppable]) -> Components:
    async def keep(starting: Awaitable[_Server]) -> _Server:
        # Noted at once, so that one that is ready is stopped when another fails, or when we are cancelled.
        server = await starting
        started.append(server)
        return server

    try:
        async with asyncio.TaskGroup() as together:
            postgres = together.create_task(
                keep(provision.postgres_server(home / "postgres", names=names, environment=environment))
            )
            nats = together.create_task(
                keep(provision.nats_server(home / "nats", names=names, environment=environment))
            )
            s3 = together.create_task(keep(provision.s3_store(home / "s3", names=names, environment=environment)))
    except BaseExceptionGroup as failures:
        # The first to fail has cancelled the others; it is what there is to say.
        raise failures.exceptions[0] from None
    return Components(postgres.result(), nats.result(), s3.result())
