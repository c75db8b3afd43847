"""What a first visitor finds: a bootstrapped server with a default project, a `demo` warehouse and a `default` namespace.

Each step is taken only where it has not been, so that a start that was cut short is finished by the next one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_components.errors import ComponentMisconfigured
from lakeward_components.seaweedfs import S3Store
from lakeward_gateway.peers import Peers
from lakeward_protocol.authz.v1 import grants_pb2, grants_pb2_grpc, principals_pb2
from lakeward_protocol.catalog.v1 import (
    namespaces_pb2,
    namespaces_pb2_grpc,
    server_pb2,
    server_pb2_grpc,
    types_pb2,
    warehouses_pb2,
    warehouses_pb2_grpc,
)
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import vending_pb2, vending_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import stub

WAREHOUSE: Final = "demo"
NAMESPACE: Final = "default"
_PREFIX: Final = "demo"


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """Who furnishes, where callers are asked who they are.

    Attributes:
        authorization: as whom it is done: who opens the server for use, now or before.
        guests: by user id, the privileges on the warehouse that others are given.
    """

    authorization: str = dataclasses.field(repr=False)
    guests: Mapping[str, Sequence[str]]


async def furnish(peers: Peers, store: S3Store, *, host: Host | None = None) -> str | None:
    """Make what is missing; nothing in read-only maintenance.

    Args:
        peers: the services.
        store: where the warehouse's files go.
        host: who does it; None: anybody, where nobody is asked.

    Returns:
        The name of the warehouse; None where callers must say who they are, and so nobody could make it.

    Raises:
        ComponentMisconfigured: the host was not the one who opened the server.
    """
    furnishing = _Furnishing(peers, store, host)
    try:
        bootstrapped = await furnishing.is_bootstrapped()
    except Refusal as refusal:
        if refusal.reason == Reason.REASON_TOKEN_MISSING:
            return None
        raise
    try:
        if not bootstrapped:
            await furnishing.bootstrap()
        warehouse_id = await furnishing.warehouse()
        await furnishing.namespace(warehouse_id)
        await furnishing.invite(warehouse_id)
    except Refusal as refusal:
        if host is not None and refusal.reason in _STRANGER:
            raise ComponentMisconfigured(
                "this home was opened for use by somebody else, so its people have no rights there; choose another home with "
                "LAKEWARD_HOME"
            ) from refusal
        if refusal.reason != Reason.REASON_MAINTENANCE:
            raise
    return WAREHOUSE


# What somebody hears who has no right on the default project.
_STRANGER: Final = frozenset({Reason.REASON_NO_SUCH_PROJECT, Reason.REASON_FORBIDDEN})


class _Furnishing:
    """The steps, as one caller."""

    def __init__(self, peers: Peers, store: S3Store, host: Host | None) -> None:
        self._store = store
        self._host = host
        self._server: server_pb2_grpc.ServerServiceAsyncStub = stub(server_pb2_grpc.ServerServiceStub, peers.catalog)
        self._warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub = stub(
            warehouses_pb2_grpc.WarehouseServiceStub, peers.catalog
        )
        self._namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub = stub(
            namespaces_pb2_grpc.NamespaceServiceStub, peers.catalog
        )
        self._grants: grants_pb2_grpc.GrantServiceAsyncStub = stub(grants_pb2_grpc.GrantServiceStub, peers.authz)
        self._storage: vending_pb2_grpc.StorageServiceAsyncStub = stub(
            vending_pb2_grpc.StorageServiceStub, peers.vending
        )

    async def is_bootstrapped(self) -> bool:
        info = await self._server.GetServerInfo(server_pb2.GetServerInfoRequest(context=self._context()))
        return info.bootstrapped

    async def bootstrap(self) -> None:
        await self._server.Bootstrap(server_pb2.BootstrapRequest(context=self._context(), accept_terms_of_use=True))

    async def warehouse(self) -> str:
        """Its id."""
        listed = await self._warehouses.ListWarehouses(warehouses_pb2.ListWarehousesRequest(context=self._context()))
        for warehouse in listed.warehouses:
            if warehouse.name == WAREHOUSE:
                await self._follow(warehouse)
                return warehouse.warehouse_id
        created = await self._warehouses.CreateWarehouse(
            warehouses_pb2.CreateWarehouseRequest(
                context=self._context(),
                name=WAREHOUSE,
                storage_profile=_profile(self._store),
                secret_id=await self._staged(),
            )
        )
        return created.warehouse.warehouse_id

    async def namespace(self, warehouse_id: str) -> None:
        ident = types_pb2.NamespaceIdent(parts=[NAMESPACE])
        try:
            await self._namespaces.CreateNamespace(
                namespaces_pb2.CreateNamespaceRequest(context=self._context(), warehouse_id=warehouse_id, ident=ident)
            )
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_NAMESPACE_EXISTS:
                raise

    async def invite(self, warehouse_id: str) -> None:
        """Give the guests what is theirs; what they have already is passed over."""
        entries = [
            grants_pb2.GrantEntry(grantee=grants_pb2.Grantee(user_id=user_id), privilege=privilege)
            for user_id, privileges in (self._host.guests if self._host else {}).items()
            for privilege in privileges
        ]
        if entries:
            warehouse = grants_pb2.ObjectName(kind=principals_pb2.OBJECT_KIND_WAREHOUSE, warehouse_id=warehouse_id)
            await self._grants.ChangeGrants(
                grants_pb2.ChangeGrantsRequest(context=self._context(), object=warehouse, writes=entries)
            )

    async def _follow(self, warehouse: warehouses_pb2.Warehouse) -> None:
        """Go where the store went: its port may have been taken by another since the last start."""
        if json.loads(warehouse.storage_profile).get("endpoint", "").rstrip("/") == self._store.endpoint.rstrip("/"):
            return
        await self._warehouses.UpdateStorage(
            warehouses_pb2.UpdateStorageRequest(
                context=self._context(),
                warehouse_id=warehouse.warehouse_id,
                storage_profile=_profile(self._store),
                keep_credential=True,
            )
        )

    async def _staged(self) -> str:
        credential = {
            "type": "s3",
            "credential-type": "access-key",
            "access-key-id": self._store.admin.access_key,
            "secret-access-key": self._store.admin.secret_key,
        }
        staged = await self._storage.StageCredential(
            vending_pb2.StageCredentialRequest(context=self._context(), credential=json.dumps(credential).encode())
        )
        return staged.secret_id

    def _context(self) -> context_pb2.RequestContext:
        return context_pb2.RequestContext(
            request_id="lakeward-up",
            user_agent="lakeward-up",
            authorization=self._host.authorization if self._host else "",
        )


def _profile(store: S3Store) -> bytes:
    return json.dumps(
        {
            "type": "s3",
            "bucket": store.bucket,
            "key-prefix": _PREFIX,
            "region": store.region,
            "endpoint": store.endpoint,
            "path-style-access": True,
            "flavor": "s3-compat",
            "sts-enabled": True,
            "sts-role-arn": store.role_arn,
        }
    ).encode()
