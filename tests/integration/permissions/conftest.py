"""Installations whose engine decides, behind an identity provider, with a warehouse and people of different rights."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from uuid import UUID

import httpx
import pytest

from lakeward_components.oidc import OidcProvider
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, Installation, compositions, environment, installed
from tests.support.tokens import signed_by
from tests.support.warehouses import Warehouse, bootstrap, make_namespace, make_table, make_warehouse, told

BACKENDS = ("builtin", "openfga")
PROJECT = str(UUID(int=0))
_NO_WAREHOUSE = Warehouse("", "", "")


@dataclasses.dataclass(frozen=True)
class House:
    """An installation whose engine decides, with a warehouse: namespace `sales` has the table `orders`, and so has `hr`.

    Attributes:
        settings: the environment of its processes.
        database: URL of Postgres.
    """

    backend: str
    installation: Installation
    settings: Mapping[str, str]
    database: str
    oidc: OidcProvider
    store: S3Store
    warehouse: Warehouse = _NO_WAREHOUSE

    def client(self, who: str, url: str = "") -> httpx.AsyncClient:
        """Speaks as a person; `url` is of another replica."""
        headers = {"authorization": f"Bearer {signed_by(self.oidc, sub=who)}"}
        return httpx.AsyncClient(verify=NOBODY, base_url=url or self.installation.url, headers=headers, timeout=60)

    async def namespace(self, name: str) -> str:
        """Where the rights on a namespace of the warehouse are given."""
        async with self.client("admin") as http:
            found = told(await http.get(f"{self.warehouse.path}/namespaces", params={"returnUuids": "true"})).json()
        return f"namespace/{found['namespace-uuids'][found['namespaces'].index([name])]}"

    async def table(self, namespace: str, name: str) -> str:
        """The same for a table of it."""
        async with self.client("admin") as http:
            loaded = told(await http.get(f"{self.warehouse.path}/namespaces/{namespace}/tables/{name}")).json()
        return f"warehouse/{self.warehouse.id}/table/{loaded['metadata']['table-uuid']}"

    @property
    def place(self) -> str:
        """The same for the warehouse."""
        return f"warehouse/{self.warehouse.id}"

    async def give(self, who: str, relation: str, on: str) -> None:
        """Give a person something."""
        await self._change(on, writes=[{"type": relation, "user": f"oidc~{who}"}])

    async def take(self, who: str, relation: str, on: str) -> None:
        """Take it."""
        await self._change(on, deletes=[{"type": relation, "user": f"oidc~{who}"}])

    async def _change(self, on: str, **change: list[dict[str, str]]) -> None:
        async with self.client("admin") as http:
            told(await http.post(f"/management/v1/permissions/{on}/assignments", json=change))


Houses = Callable[[str, Composition], Awaitable[House]]


@pytest.fixture(scope="package")
def databases(postgres_server: PostgresServer) -> Iterator[Mapping[tuple[str, Composition], str]]:
    """By engine and composition."""
    with ExitStack() as stack:
        yield {
            (backend, composition): stack.enter_context(fresh_database(postgres_server))
            for backend in BACKENDS
            for composition in compositions()
        }


@pytest.fixture(scope="package")
async def houses(
    databases: Mapping[tuple[str, Composition], str],
    s3_server: S3Store,
    oidc: OidcProvider,
    openfga_server: OpenFgaServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Houses]:
    """Makes each house when it is first asked for."""
    made: dict[tuple[str, Composition], House] = {}
    async with AsyncExitStack() as stack:

        async def house_of(backend: str, composition: Composition) -> House:
            key = (backend, composition)
            if key not in made:
                settings = environment(databases[key], **deciding(backend, oidc, openfga_server))
                home = tmp_path_factory.mktemp(f"{backend}-{composition}")
                installation = await stack.enter_async_context(installed(composition, home, settings))
                made[key] = await opened(House(backend, installation, settings, databases[key], oidc, s3_server))
            return made[key]

        yield house_of


def deciding(backend: str, oidc: OidcProvider, openfga: OpenFgaServer) -> dict[str, str]:
    """The settings of an engine."""
    common = {
        "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
        "LAKEKEEPER__AUTHZ_BACKEND": backend,
        # an engine whose tokens are known by their subject, and an administrator of the instance, for who reads through views
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO__TYPE": "trino",
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO__OWNER_PROPERTY": "trino.run-as-owner",
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO__IDENTITIES__OIDC__SUBJECTS": '["trino", "trino-for-readers"]',
        "LAKEKEEPER__INSTANCE_ADMINS": '["oidc~operator"]',
    }
    if backend == "builtin":
        return common
    return {
        **common,
        "LAKEKEEPER__OPENFGA__ENDPOINT": openfga.url,
        "LAKEKEEPER__OPENFGA__API_KEY": openfga.api_key,
        "LAKEKEEPER__OPENFGA__STORE_NAME": f"t{secrets.token_hex(6)}",
        "LAKEWARD__OPENFGA__TIMEOUT": "20s",
    }


async def opened(house: House) -> House:
    """The house opened for use by `admin`, with its warehouse."""
    async with house.client("admin") as http:
        await bootstrap(http)
        warehouse = await make_warehouse(http, house.store)
        for namespace in ("sales", "hr"):
            await make_namespace(http, warehouse, namespace)
            await make_table(http, warehouse, namespace, "orders")
    return dataclasses.replace(house, warehouse=warehouse)


@pytest.fixture(
    params=[(backend, composition) for backend in BACKENDS for composition in compositions()],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
async def house(request: pytest.FixtureRequest, houses: Houses) -> House:
    return await houses(*request.param)
