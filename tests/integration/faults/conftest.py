"""Installations whose every way to Postgres, to the store and to NATS leads through a line that a test may cut."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest

from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.components import fresh_database
from tests.support.faults import House, Lines
from tests.support.http import NOBODY
from tests.support.installations import Composition, environment, migrate, planned, started
from tests.support.proxy import Line, proxy
from tests.support.warehouses import bootstrap

REQUEST_SECONDS = 15


class Houses:
    """One installation a composition, started when it is first asked for."""

    def __init__(self, stack: AsyncExitStack, make: Callable[[Composition, AsyncExitStack], Awaitable[House]]) -> None:
        self._stack = stack
        self._make = make
        self._made: dict[Composition, House] = {}

    async def of(self, composition: Composition) -> House:
        if composition not in self._made:
            self._made[composition] = await self._make(composition, self._stack)
        return self._made[composition]


@pytest.fixture(scope="package")
def databases(postgres_server: PostgresServer) -> Iterator[Mapping[Composition, str]]:
    """URLs past the line."""
    with ExitStack() as stack:
        yield {composition: stack.enter_context(fresh_database(postgres_server)) for composition in Composition}


@pytest.fixture(scope="package")
async def houses(
    databases: Mapping[Composition, str],
    nats_server: NatsServer,
    s3_server: S3Store,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Houses]:
    async def make(composition: Composition, stack: AsyncExitStack) -> House:
        database, home = databases[composition], tmp_path_factory.mktemp(composition)
        lines = Lines(
            postgres=await stack.enter_async_context(_before(database)),
            store=await stack.enter_async_context(_before(s3_server.endpoint)),
            nats=await stack.enter_async_context(proxy(nats_server.host, nats_server.port)),
        )
        settings = environment(
            lines.postgres.instead_of(database),
            nats_server,
            nats_address=f"nats://{lines.nats.host}:{lines.nats.port}",
            LAKEKEEPER__PG_ACQUIRE_TIMEOUT="3",
            LAKEKEEPER__MAX_REQUEST_TIME=f"{REQUEST_SECONDS}s",
        )
        await migrate(settings)
        installation = await stack.enter_async_context(started(planned(composition, home, settings)))
        async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url) as http:
            await bootstrap(http)
        return House(
            installation,
            lines,
            home=home,
            settings=settings,
            database=database,
            store=s3_server,
            nats=nats_server.url,
        )

    async with AsyncExitStack() as stack:
        yield Houses(stack, make)


@pytest.fixture(params=list(Composition), ids=str)
def composition(request: pytest.FixtureRequest) -> Composition:
    made: Composition = request.param
    return made


@pytest.fixture
async def house(houses: Houses, composition: Composition) -> House:
    return await houses.of(composition)


def _before(url: str) -> AbstractAsyncContextManager[Line]:
    parts = urlsplit(url)
    return proxy(parts.hostname or "", parts.port or 0)


@pytest.fixture
async def http(house: House) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the installation."""
    async with httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as client:
        yield client


@pytest.fixture
async def beside(house: House) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection that no line is before."""
    connection = await asyncpg.connect(house.database)
    try:
        yield connection
    finally:
        await connection.close()
