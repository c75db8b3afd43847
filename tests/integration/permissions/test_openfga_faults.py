"""OpenFGA slow, down and back, as clients meet it: nothing is decided, nothing that is hidden shows, and it ends by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from lakeward_components.oidc import OidcProvider
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.integration.permissions.conftest import House, deciding, opened
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, compositions, environment, migrate, planned
from tests.support.proxy import Line, proxy
from tests.support.warehouses import tables_of, told

pytestmark = pytest.mark.integration

UNAVAILABLE = (503, "AuthorizationBackendError")


@pytest.fixture(scope="module", params=compositions(), ids=str)
def composed(request: pytest.FixtureRequest, postgres_server: PostgresServer) -> Iterator[tuple[Composition, str]]:
    """A composition, and a database of its own: each is bootstrapped."""
    with fresh_database(postgres_server) as url:
        yield request.param, url


@pytest.fixture(scope="module")
def servers(
    s3_server: S3Store, oidc: OidcProvider, openfga_server: OpenFgaServer
) -> tuple[S3Store, OidcProvider, OpenFgaServer]:
    return s3_server, oidc, openfga_server


@pytest.fixture(scope="module")
async def faulty(
    composed: tuple[Composition, str],
    servers: tuple[S3Store, OidcProvider, OpenFgaServer],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[House, Line]]:
    """A house whose way to OpenFGA leads through a line, which is closed when it starts."""
    composition, database = composed
    s3_server, oidc, openfga_server = servers
    where = urlsplit(openfga_server.url)
    async with proxy(str(where.hostname), int(where.port or 0)) as line:
        behind = OpenFgaServer(line.instead_of(openfga_server.url), openfga_server.api_key)
        settings = environment(database, **{**deciding("openfga", oidc, behind), "LAKEWARD__OPENFGA__TIMEOUT": "4s"})
        home = tmp_path_factory.mktemp(f"faulty-{composition}")
        await migrate(settings)
        await line.refuse()
        installation = planned(composition, home, settings)
        try:
            for process in installation.processes.values():
                await process.start()
            async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url) as http:
                await until(lambda: lives(http))
                assert (await http.get("/health")).status_code == 503
            await line.accept()
            await installation.ready()
            yield await opened(House("openfga", installation, settings, database, oidc, s3_server)), line
        finally:
            await installation.end()


async def until(fact: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what comes by itself."""
    async with asyncio.timeout(90):
        while not await fact():
            await asyncio.sleep(0.1)


async def lives(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/health/live")).is_success
    except httpx.TransportError:
        return False


async def answer(http: httpx.AsyncClient, path: str) -> tuple[int, str]:
    """Of a load: its status, and the word that says why."""
    reply = await http.get(path)
    return reply.status_code, reply.json()["error"]["type"] if reply.is_error else ""


@pytest.mark.parametrize("fault", ["slow", "down"])
async def test_nobody_is_answered_meanwhile_and_all_go_on_after(faulty: tuple[House, Line], fault: str) -> None:
    house, line = faulty
    path = f"{tables_of(house.warehouse, 'sales')}/orders"
    async with house.client("admin") as admin, house.client("stranger") as stranger:
        assert (await answer(admin, path), (await answer(stranger, path))[0]) == ((200, ""), 404)
        if fault == "slow":
            line.pause()
        else:
            await line.refuse()
        try:
            loads_of_both = await asyncio.gather(*(answer(http, path) for http in (admin, stranger)))
            assert loads_of_both == [UNAVAILABLE, UNAVAILABLE]
            others = await asyncio.gather(
                admin.get("/health"),
                admin.get("/management/v1/warehouse"),
                admin.post(f"{house.warehouse.path}/namespaces", json={"namespace": ["mine"]}),
            )
            assert [reply.status_code for reply in others] == [503, 503, 503]
        finally:
            if fault == "slow":
                line.resume()
            else:
                await line.accept()
        await until(lambda: loads(admin, path))
        assert (await answer(stranger, path))[0] == 404


async def test_what_is_taken_while_it_is_away_is_never_given_again(faulty: tuple[House, Line]) -> None:
    house, line = faulty
    reader = f"reader-{uuid4().hex[:8]}"
    path = f"{tables_of(house.warehouse, 'sales')}/orders"
    orders = await house.table("sales", "orders")
    await house.give(reader, "select", orders)
    met = set[int]()
    async with house.client(reader) as http, house.client("admin") as admin:
        told(await http.get(path))
        await line.refuse()
        await house.take(reader, "select", orders)

        async def load() -> None:
            while 404 not in met:
                met.add((await http.get(path)).status_code)

        async with asyncio.timeout(90), asyncio.TaskGroup() as together:
            together.create_task(load())
            assert await answer(admin, path) == UNAVAILABLE
            await line.accept()
    assert met <= {503, 404}


async def loads(http: httpx.AsyncClient, path: str) -> bool:
    return (await http.get(path)).status_code == 200
