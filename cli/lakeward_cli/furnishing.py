"""What a first visitor finds: a bootstrapped server with a default project, a `demo` warehouse and a `default` namespace.

Each step is taken only where it has not been, so that a start that was cut short is finished by the next one.
"""

from __future__ import annotations

import json
from typing import Final

from lakeward_components.seaweedfs import S3Store
from lakeward_gateway.peers import Peers
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


def _context() -> context_pb2.RequestContext:
    return context_pb2.RequestContext(request_id="lakeward-up", user_agent="lakeward-up")


async def furnish(peers: Peers, store: S3Store) -> str | None:
    """Make what is missing; nothing in read-only maintenance.

    Returns:
        The name of the warehouse; None where callers must say who they are, and so nobody could make it.
    """
    server: server_pb2_grpc.ServerServiceAsyncStub = stub(server_pb2_grpc.ServerServiceStub, peers.catalog)
    try:
        info = await server.GetServerInfo(server_pb2.GetServerInfoRequest(context=_context()))
    except Refusal as refusal:
        if refusal.reason == Reason.REASON_TOKEN_MISSING:
            return None
        raise
    try:
        if not info.bootstrapped:
            await server.Bootstrap(server_pb2.BootstrapRequest(context=_context(), accept_terms_of_use=True))
        warehouse_id = await _warehouse(peers, store)
        await _namespace(peers, warehouse_id)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_MAINTENANCE:
            raise
    return WAREHOUSE


async def _warehouse(peers: Peers, store: S3Store) -> str:
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub = stub(
        warehouses_pb2_grpc.WarehouseServiceStub, peers.catalog
    )
    listed = await warehouses.ListWarehouses(warehouses_pb2.ListWarehousesRequest(context=_context()))
    for warehouse in listed.warehouses:
        if warehouse.name == WAREHOUSE:
            await _follow(warehouses, warehouse, store)
            return warehouse.warehouse_id
    created = await warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(
            context=_context(),
            name=WAREHOUSE,
            storage_profile=_profile(store),
            secret_id=await _staged(peers, store),
        )
    )
    return created.warehouse.warehouse_id


async def _follow(
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub, warehouse: warehouses_pb2.Warehouse, store: S3Store
) -> None:
    """Go where the store went: its port may have been taken by another since the last start."""
    if json.loads(warehouse.storage_profile).get("endpoint", "").rstrip("/") == store.endpoint.rstrip("/"):
        return
    await warehouses.UpdateStorage(
        warehouses_pb2.UpdateStorageRequest(
            context=_context(),
            warehouse_id=warehouse.warehouse_id,
            storage_profile=_profile(store),
            keep_credential=True,
        )
    )


async def _staged(peers: Peers, store: S3Store) -> str:
    storage: vending_pb2_grpc.StorageServiceAsyncStub = stub(vending_pb2_grpc.StorageServiceStub, peers.vending)
    credential = {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": store.admin.access_key,
        "secret-access-key": store.admin.secret_key,
    }
    staged = await storage.StageCredential(
        vending_pb2.StageCredentialRequest(context=_context(), credential=json.dumps(credential).encode())
    )
    return staged.secret_id


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


async def _namespace(peers: Peers, warehouse_id: str) -> None:
    namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub = stub(
        namespaces_pb2_grpc.NamespaceServiceStub, peers.catalog
    )
    try:
        await namespaces.CreateNamespace(
            namespaces_pb2.CreateNamespaceRequest(
                context=_context(), warehouse_id=warehouse_id, ident=types_pb2.NamespaceIdent(parts=[NAMESPACE])
            )
        )
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_NAMESPACE_EXISTS:
            raise
