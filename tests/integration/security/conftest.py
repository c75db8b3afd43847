"""Both compositions behind an identity provider, with everything logged that can be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass

import httpx
import pytest

from lakeward_components.nats import NatsServer
from lakeward_components.oidc import ALICE, OidcProvider
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, Installation, compositions, environment, installed
from tests.support.storage_attacks import Ground, prepare
from tests.support.tokens import user_token
from tests.support.warehouses import Warehouse, bootstrap, make_namespace, make_table, make_warehouse


@dataclass(frozen=True, slots=True)
class Place:
    """An installation with a warehouse, in it namespace `sales` with table `orders`.

    Attributes:
        settings: the environment of its processes.
        token: of a user.
    """

    installation: Installation
    database: str
    settings: Mapping[str, str]
    store: S3Store
    token: str
    warehouse: Warehouse
    table_id: str
    location: str

    @property
    def path(self) -> str:
        return self.warehouse.path


@pytest.fixture(scope="package")
def databases(postgres_server: PostgresServer) -> Iterator[Mapping[Composition, str]]:
    with ExitStack() as stack:
        yield {composition: stack.enter_context(fresh_database(postgres_server)) for composition in Composition}


@pytest.fixture(scope="package")
async def places(
    databases: Mapping[Composition, str],
    nats_server: NatsServer,
    s3_server: S3Store,
    oidc: OidcProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Callable[[Composition], Awaitable[Place]]]:
    """Makes the place of a composition when it is first asked for."""
    made: dict[Composition, Place] = {}
    async with AsyncExitStack() as stack:

        async def place_of(composition: Composition) -> Place:
            if composition not in made:
                settings = environment(
                    databases[composition],
                    nats_server,
                    LAKEKEEPER__OPENID_PROVIDER_URI=oidc.issuer,
                    LAKEKEEPER__OPENID_AUDIENCE=oidc.audience,
                    LAKEKEEPER__PG_ENABLE_STATEMENT_LOGGING="true",
                    LAKEKEEPER__DEBUG__EXTENDED_LOGS="true",
                    LAKEWARD__LOG__LEVEL="debug",
                )
                installation = await stack.enter_async_context(
                    installed(composition, tmp_path_factory.mktemp(composition), settings)
                )
                token = await user_token(oidc, ALICE)
                made[composition] = await _furnished(installation, databases[composition], settings, s3_server, token)
            return made[composition]

        yield place_of


async def _furnished(
    installation: Installation, database: str, settings: Mapping[str, str], store: S3Store, token: str
) -> Place:
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url, headers=headers, timeout=30) as http:
        await bootstrap(http)
        warehouse = await make_warehouse(http, store)
        await make_namespace(http, warehouse, "sales")
        table = await make_table(http, warehouse, "sales", "orders")
    metadata = table["metadata"]
    assert isinstance(metadata, dict)
    return Place(
        installation=installation,
        database=database,
        settings=settings,
        store=store,
        token=token,
        warehouse=warehouse,
        table_id=metadata["table-uuid"],
        location=metadata["location"],
    )


@pytest.fixture(scope="package")
def grounds() -> Callable[[Place, bool], Awaitable[Ground]]:
    """Makes, once for each installation, the ground of attacks on signatures: by sessions, or by the server's own key."""
    made: dict[tuple[str, bool], Ground] = {}

    async def ground_of(place: Place, by_sessions: bool) -> Ground:
        key = (place.installation.url, by_sessions)
        if key not in made:
            headers = {"authorization": f"Bearer {place.token}"}
            async with httpx.AsyncClient(
                verify=NOBODY, base_url=place.installation.url, headers=headers, timeout=60
            ) as http:
                warehouse = await make_warehouse(http, place.store, sts=by_sessions)
                made[key] = await prepare(http, place.store, warehouse, by_sessions=by_sessions)
        return made[key]

    return ground_of


@pytest.fixture(params=compositions(), ids=str)
async def place(request: pytest.FixtureRequest, places: Callable[[Composition], Awaitable[Place]]) -> Place:
    return await places(request.param)


@pytest.fixture
async def http(place: Place) -> AsyncIterator[httpx.AsyncClient]:
    """As a user."""
    headers = {"authorization": f"Bearer {place.token}"}
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url, headers=headers, timeout=60) as client:
        yield client
