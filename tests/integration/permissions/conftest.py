"""Installations whose engine decides, behind an identity provider, with a warehouse and people of different rights."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any
from uuid import UUID

import httpx
import pytest

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.application.permissions import Grant
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, user_subject
from lakeward_components.oidc import OidcProvider
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.components import fresh_database
from tests.support.installations import Composition, Installation, compositions, environment, installed
from tests.support.tokens import signed_by
from tests.support.warehouses import Warehouse, bootstrap, make_namespace, make_table, make_warehouse, told

BACKENDS = ("builtin", "openfga")
PROJECT = str(NIL)
_FIND = "select object_id from objects where warehouse_id = $1 and kind = $2 and (public_id = $3 or object_id = $3)"


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
    warehouse: Warehouse

    def client(self, who: str, url: str = "") -> httpx.AsyncClient:
        """Speaks as a person; `url` is of another replica."""
        headers = {"authorization": f"Bearer {signed_by(self.oidc, sub=who)}"}
        return httpx.AsyncClient(base_url=url or self.installation.url, headers=headers, timeout=60)

    async def namespace(self, name: str) -> ObjectKey:
        """A namespace of the warehouse, as rights name it."""
        async with self.client("admin") as http:
            reply = told(await http.get(f"{self.warehouse.path}/namespaces", params={"returnUuids": "true"}))
        ids = {tuple(each): uuid for each, uuid in zip(reply.json()["namespaces"], _uuids(reply), strict=True)}
        return await self._key("namespace", UUID(ids[name,]))

    async def table(self, namespace: str, name: str) -> ObjectKey:
        """A table of it."""
        async with self.client("admin") as http:
            reply = told(await http.get(f"{self.warehouse.path}/namespaces/{namespace}/tables/{name}"))
        return await self._key("table", UUID(reply.json()["metadata"]["table-uuid"]))

    @property
    def warehouse_key(self) -> ObjectKey:
        """The warehouse."""
        return ObjectKey("warehouse", PROJECT, UUID(self.warehouse.id))

    async def give(self, who: str, relation: str, on: ObjectKey) -> None:
        """Give a person something."""
        await self._change(on, who, relation, wanted=True)

    async def take(self, who: str, relation: str, on: ObjectKey) -> None:
        """Take it."""
        await self._change(on, who, relation, wanted=False)

    async def _change(self, on: ObjectKey, who: str, relation: str, *, wanted: bool) -> None:
        grants = [Grant(user_subject(f"oidc~{who}"), relation)]
        async with open_pool(SecretStr(self.database), size=1, name="test", schema="lakeward_authz") as pool:
            writes, deletes = (grants, []) if wanted else ([], grants)
            assert await PostgresGrants(pool, Outbox()).change(on, writes=writes, deletes=deletes)

    async def _key(self, kind: str, public: UUID) -> ObjectKey:
        async with open_pool(SecretStr(self.database), size=1, name="test", schema="lakeward_authz") as pool:
            object_id = await pool.fetchval(_FIND, UUID(self.warehouse.id), kind, public)
        assert object_id is not None, f"authz was not told of the {kind} {public}"
        return ObjectKey(kind, PROJECT, UUID(self.warehouse.id), object_id)


def _uuids(reply: httpx.Response) -> list[str]:
    document: dict[str, Any] = reply.json()
    return [str(each) for each in document["namespace-uuids"]]


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
                bare = House(backend, installation, settings, databases[key], oidc, s3_server, _NO_WAREHOUSE)
                made[key] = dataclasses.replace(bare, warehouse=await _furnished(bare))
            return made[key]

        yield house_of


def deciding(backend: str, oidc: OidcProvider, openfga: OpenFgaServer) -> dict[str, str]:
    """The settings of an engine."""
    common = {
        "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
        "LAKEKEEPER__AUTHZ_BACKEND": backend,
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


_NO_WAREHOUSE = Warehouse("", "", "")


async def _furnished(house: House) -> Warehouse:
    async with house.client("admin") as http:
        await bootstrap(http)
        warehouse = await make_warehouse(http, house.store)
        for namespace in ("sales", "hr"):
            await make_namespace(http, warehouse, namespace)
            await make_table(http, warehouse, namespace, "orders")
    return warehouse


@pytest.fixture(
    params=[(backend, composition) for backend in BACKENDS for composition in compositions()],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
async def house(request: pytest.FixtureRequest, houses: Houses) -> House:
    return await houses(*request.param)
