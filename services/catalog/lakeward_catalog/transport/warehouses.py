"""WarehouseService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.config import ClientConfig
from lakeward_catalog.application.warehouses.changing import DeleteWarehouse, RenameWarehouse
from lakeward_catalog.application.warehouses.creating import CreateWarehouse
from lakeward_catalog.application.warehouses.storage import UpdateStorage, UpdateStorageCredential
from lakeward_catalog.domain.model import Warehouse
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.callers import presented
from lakeward_catalog.transport.warehouse_messages import (
    credential,
    restorable_for,
    secret_id,
    statuses,
    warehouse_message,
)
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseUseCases:
    """What WarehouseService does, each with its roles filled; every one takes `caller`."""

    get_config: Callable[..., Awaitable[ClientConfig]]
    create: Callable[..., Awaitable[Warehouse]]
    list: Callable[..., Awaitable[Sequence[Warehouse]]]
    get: Callable[..., Awaitable[Warehouse]]
    rename: Callable[..., Awaitable[Warehouse]]
    set_serving: Callable[..., Awaitable[None]]
    delete: Callable[..., Awaitable[None]]
    update_storage: Callable[..., Awaitable[Warehouse]]
    update_storage_credential: Callable[..., Awaitable[Warehouse]]


class WarehouseServicer(warehouses_pb2_grpc.WarehouseServiceServicer):
    """Warehouses and their storage."""

    def __init__(self, use_cases: WarehouseUseCases) -> None:
        """Serve the use cases."""
        self._do = use_cases

    async def GetConfig(
        self, request: warehouses_pb2.GetConfigRequest, caller: Caller
    ) -> warehouses_pb2.GetConfigResponse:
        """See the contract."""
        config = await self._do.get_config(request.warehouse, caller=caller, presented=presented(request.context))
        response = warehouses_pb2.GetConfigResponse(
            warehouse_id=str(config.warehouse_id), defaults=config.defaults, overrides=config.overrides
        )
        if config.idempotency_key_lifetime is not None:
            response.idempotency_key_lifetime.FromTimedelta(config.idempotency_key_lifetime)
        return response

    async def CreateWarehouse(
        self, request: warehouses_pb2.CreateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.CreateWarehouseResponse:
        """See the contract."""
        command = CreateWarehouse(
            name=request.name,
            profile=request.storage_profile,
            secret_id=secret_id(request.secret_id),
            restorable_for=restorable_for(request),
            allowed_format_versions=tuple(request.allowed_format_versions),
            default_format_version=request.default_format_version or None,
        )
        warehouse = await self._do.create(command, caller=caller)
        return warehouses_pb2.CreateWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def ListWarehouses(
        self, request: warehouses_pb2.ListWarehousesRequest, caller: Caller
    ) -> warehouses_pb2.ListWarehousesResponse:
        """See the contract."""
        found = await self._do.list(statuses(request.statuses), caller=caller)
        return warehouses_pb2.ListWarehousesResponse(warehouses=[warehouse_message(warehouse) for warehouse in found])

    async def GetWarehouse(
        self, request: warehouses_pb2.GetWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.GetWarehouseResponse:
        """See the contract."""
        warehouse = await self._do.get(decode.warehouse_id(request.warehouse_id), caller=caller)
        return warehouses_pb2.GetWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def RenameWarehouse(
        self, request: warehouses_pb2.RenameWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.RenameWarehouseResponse:
        """See the contract."""
        command = RenameWarehouse(decode.warehouse_id(request.warehouse_id), request.name)
        warehouse = await self._do.rename(command, caller=caller)
        return warehouses_pb2.RenameWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def ActivateWarehouse(
        self, request: warehouses_pb2.ActivateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.ActivateWarehouseResponse:
        """See the contract."""
        await self._do.set_serving(decode.warehouse_id(request.warehouse_id), active=True, caller=caller)
        return warehouses_pb2.ActivateWarehouseResponse()

    async def DeactivateWarehouse(
        self, request: warehouses_pb2.DeactivateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.DeactivateWarehouseResponse:
        """See the contract."""
        await self._do.set_serving(decode.warehouse_id(request.warehouse_id), active=False, caller=caller)
        return warehouses_pb2.DeactivateWarehouseResponse()

    async def DeleteWarehouse(
        self, request: warehouses_pb2.DeleteWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.DeleteWarehouseResponse:
        """See the contract."""
        command = DeleteWarehouse(decode.warehouse_id(request.warehouse_id), force=request.force)
        await self._do.delete(command, caller=caller)
        return warehouses_pb2.DeleteWarehouseResponse()

    async def UpdateStorage(
        self, request: warehouses_pb2.UpdateStorageRequest, caller: Caller
    ) -> warehouses_pb2.UpdateStorageResponse:
        """See the contract."""
        command = UpdateStorage(decode.warehouse_id(request.warehouse_id), request.storage_profile, credential(request))
        warehouse = await self._do.update_storage(command, caller=caller)
        return warehouses_pb2.UpdateStorageResponse(warehouse=warehouse_message(warehouse))

    async def UpdateStorageCredential(
        self, request: warehouses_pb2.UpdateStorageCredentialRequest, caller: Caller
    ) -> warehouses_pb2.UpdateStorageCredentialResponse:
        """See the contract."""
        command = UpdateStorageCredential(decode.warehouse_id(request.warehouse_id), secret_id(request.secret_id))
        warehouse = await self._do.update_storage_credential(command, caller=caller)
        return warehouses_pb2.UpdateStorageCredentialResponse(warehouse=warehouse_message(warehouse))
