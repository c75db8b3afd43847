"""Four processes with an identity provider, and something in the catalog to ask for."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import grpc.aio
import httpx
import pytest

from lakeward_components.oidc import ALICE, OidcProvider
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_protocol.catalog.v1 import tags_pb2
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2
from lakeward_servicekit.permits import PermitSigner
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import LISTENING, Composition, Installation, environment, installed
from tests.support.tokens import user_token
from tests.support.warehouses import Warehouse, bootstrap, make_namespace, make_table, make_warehouse, tables_of, told


@dataclass(frozen=True, slots=True)
class Walled:
    """An installation of four processes behind an identity provider.

    Attributes:
        token: of a user, as it is sent.
        channels: to each listener, without any proof.
        warehouse: has namespace `sales` with table `orders`, view `recent` and generic table `vectors`, and empty ones `archive`
            and `empty`.
        location: of the table.
        purge_id: of the task that purges a table that was dropped.
        tag_id: of the tag `pii`, which the table and all above it may have.
        profile: of the warehouse's storage, as the catalog keeps it.
    """

    installation: Installation
    database: str
    store: S3Store
    token: str
    channels: dict[str, grpc.aio.Channel]
    warehouse: Warehouse
    table_id: str
    view_id: str
    generic_id: str
    namespace_id: str
    location: str
    metadata_location: str
    profile: bytes
    secret_id: str
    purge_id: str
    tag_id: str

    @property
    def signer(self) -> PermitSigner:
        return PermitSigner(self.installation.keys["catalog"])

    def channel_of(self, path: str) -> grpc.aio.Channel:
        """The channel to whoever serves a method."""
        return self.channels[path.split(".")[1]]

    def stand_in(self) -> Any:
        """What the requests of tests.support.catalog.expectations are made from."""
        return SimpleNamespace(
            warehouse_id=self.warehouse.id,
            tabular=lambda name: SimpleNamespace(
                tabular_id=UUID({"orders": self.table_id, "recent": self.view_id, "vectors": self.generic_id}[name])
            ),
            tag_target=self._tag_target,
            catalog=SimpleNamespace(rows=SimpleNamespace(tags={"pii": SimpleNamespace(tag_id=self.tag_id)})),
            namespace=lambda _name: SimpleNamespace(namespace_id=UUID(self.namespace_id)),
            ids=SimpleNamespace(uuid4=uuid4),
            task_id=lambda _queue: self.purge_id,
        )

    def _tag_target(self, scope: str, which: object = "") -> tags_pb2.TagTarget:
        return tags_pb2.TagTarget(
            scope=tags_pb2.TagScope.Value(f"TAG_SCOPE_{scope.upper()}"), warehouse_id=self.warehouse.id, id=str(which)
        )

    def claims(self, purpose: permits_pb2.Purpose.ValueType) -> permits_pb2.PermitClaims:
        """Claims of a permit for the table that vending honours."""
        now = dt.datetime.now(dt.UTC)
        claims = permits_pb2.PermitClaims(
            warehouse_id=UUID(self.warehouse.id).bytes,
            incarnation=uuid4().bytes,
            location=self.location,
            access=permits_pb2.ACCESS_READ_WRITE_DELETE,
            purpose=purpose,
            principal="oidc~alice",
            secret_id=self.secret_id,
            profile_sha256=hashlib.sha256(self.profile).digest(),
        )
        claims.issued_at.FromDatetime(now)
        claims.expires_at.FromDatetime(now + dt.timedelta(seconds=55))
        return claims

    def storage(self, permit: permits_pb2.Permit | None, profile: bytes | None = None) -> vending_pb2.Storage:
        return vending_pb2.Storage(permit=permit, profile=self.profile if profile is None else profile)


_VIEW: dict[str, Any] = {
    "name": "recent",
    "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]},
    "properties": {},
    "view-version": {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [],
        "representations": [{"type": "sql", "sql": "select 1 as a", "dialect": "spark"}],
    },
}


@pytest.fixture(scope="package")
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="package")
async def walled(
    database: str, s3_server: S3Store, oidc: OidcProvider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Walled]:
    settings = environment(
        database,
        LAKEKEEPER__OPENID_PROVIDER_URI=oidc.issuer,
        LAKEKEEPER__OPENID_AUDIENCE=oidc.audience,
        # What was dropped stays queued: its purge would change rows while a test compares them.
        LAKEWARD__PURGE_DELAY="1d",
    )
    token = f"Bearer {await user_token(oidc, ALICE)}"
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(
            installed(Composition.FOUR_PROCESSES, tmp_path_factory.mktemp("walls"), settings)
        )
        async with httpx.AsyncClient(
            verify=NOBODY, base_url=installation.url, headers={"authorization": token}, timeout=30
        ) as http:
            await bootstrap(http)
            warehouse = await make_warehouse(http, s3_server, name="demo")
            for namespace in ("sales", "archive", "empty"):
                await make_namespace(http, warehouse, namespace)
            table: Any = await make_table(http, warehouse, "sales", "orders")
            view = told(await http.post(f"{warehouse.path}/namespaces/sales/views", json=_VIEW)).json()
            vectors = told(
                await http.post(
                    f"/lakekeeper/v1/{warehouse.id}/namespaces/sales/generic-tables",
                    json={"name": "vectors", "format": "lance"},
                )
            ).json()
            tag = {"name": "pii", "scope": ["warehouse", "namespace", "table"], "value-kind": "free-text"}
            pii = told(await http.post("/management/v1/tag-definition", json=tag)).json()
            sales = told(await http.get(f"{warehouse.path}/namespaces/sales")).json()
            assert tables_of(warehouse, "sales")
            await make_table(http, warehouse, "sales", "gone")
            told(await http.delete(f"{warehouse.path}/namespaces/sales/tables/gone"))
            listed = told(await http.post(f"/management/v1/warehouse/{warehouse.id}/task/list", json={})).json()
        await _told(database, table["metadata"]["table-uuid"])
        profile, secret_id = await _storage(database, warehouse.id)
        channels = {
            service: await stack.enter_async_context(grpc.aio.insecure_channel(installation.addresses[service]))
            for service in LISTENING
        }
        yield Walled(
            installation=installation,
            database=database,
            store=s3_server,
            token=token,
            channels=channels,
            warehouse=warehouse,
            table_id=table["metadata"]["table-uuid"],
            view_id=view["metadata"]["view-uuid"],
            generic_id=vectors["table"]["id"],
            namespace_id=sales["properties"]["namespace_id"],
            location=table["metadata"]["location"],
            metadata_location=table["metadata-location"],
            profile=profile,
            secret_id=secret_id,
            purge_id=listed["tasks"][0]["task-id"],
            tag_id=pii["id"],
        )


async def _told(database: str, table_id: str) -> None:
    """Wait until authz was told of all of it, the table last; where everything is allowed, no maker waits for that."""
    connection = await asyncpg.connect(database)
    try:
        async with asyncio.timeout(30):
            while not await connection.fetchval(
                "select exists (select from lakeward_authz.objects where public_id = $1)", UUID(table_id)
            ):
                await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def _storage(database: str, warehouse_id: str) -> tuple[bytes, str]:
    connection = await asyncpg.connect(database)
    try:
        row = await connection.fetchrow(
            "select storage_profile, secret_id from lakeward_catalog.warehouse where warehouse_id = $1", warehouse_id
        )
    finally:
        await connection.close()
    assert row is not None
    return row["storage_profile"].encode(), str(row["secret_id"])
