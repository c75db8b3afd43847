"""What the embedded mode needs, started at once below one folder and stopped together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lakeward_components import folder, oidc, provision
from lakeward_components.environment import UP, Names
from lakeward_components.nats import NatsServer
from lakeward_components.oidc import Directory, OidcProvider
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store


@dataclass(frozen=True, slots=True)
class Components:
    """Servers that answer; the last two where they were asked for."""

    postgres: PostgresServer
    nats: NatsServer
    s3: S3Store
    oidc: OidcProvider | None = None
    openfga: OpenFgaServer | None = None

    async def watch(self) -> None:
        """Return never while all of ours live.

        Raises:
            ComponentFailed: one ended without being told to; the message carries the end of its log.
        """
        every = (self.postgres, self.nats, self.s3, self.oidc, self.openfga)
        await first_to_end(*(server.watch() for server in every if server is not None))


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is started beside Postgres, NATS and the S3 store.

    Attributes:
        directory: whom an identity provider knows, which is always our own; None for no provider.
        openfga: whether there is an OpenFGA.
    """

    directory: Directory | None = None
    openfga: bool = False


@asynccontextmanager
async def components(
    home: Path,
    *,
    wanted: Wanted = Wanted(),
    names: Names = UP,
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Components]:
    """Start Postgres, NATS, the S3 store and what else is wanted, all or none; stop those that are ours at the end.

    Args:
        home: keeps the data of all, and is held meanwhile.
        wanted: what else.
        names: the variables that may point elsewhere.
        environment: their values.

    Raises:
        FolderInUse: another process works in `home`; the message names it.
        ComponentError: one can't be had.
    """
    held = await folder.hold(home)
    started: list[_Stoppable] = []
    try:
        yield await _start(held.path, wanted, names=names, environment=environment, started=started)
    finally:
        await asyncio.gather(*(server.stop() for server in started))
        held.release()


async def _start(
    home: Path, wanted: Wanted, *, names: Names, environment: Mapping[str, str], started: list[_Stoppable]
) -> Components:
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
            provider = openfga = None
            if wanted.directory is not None:
                provider = together.create_task(keep(oidc.start(home / "oidc", directory=wanted.directory)))
            if wanted.openfga:
                openfga = together.create_task(
                    keep(provision.openfga_server(home / "openfga", names=names, environment=environment))
                )
    except BaseExceptionGroup as failures:
        # The first to fail has cancelled the others; it is what there is to say.
        raise failures.exceptions[0] from None
    return Components(
        postgres.result(),
        nats.result(),
        s3.result(),
        None if provider is None else provider.result(),
        None if openfga is None else openfga.result(),
    )
