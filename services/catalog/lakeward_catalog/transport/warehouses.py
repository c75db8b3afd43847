"""WarehouseService over gRPC."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.config import ClientConfig, ClientConfigs
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.warehouses.changing import (
    AllowFormatVersions,
    DeleteWarehouse,
    DropRetentions,
    FormatVersionPolicies,
    KeepDropped,
    ManageWarehouse,
    ProtectWarehouse,
    RenameWarehouse,
    SwitchWarehouse,
    WarehouseDeletions,
    WarehouseManagers,
    WarehouseProtections,
    WarehouseRenames,
    WarehouseSwitches,
)
from lakeward_catalog.application.warehouses.counting import CountWarehouse, WarehouseStatistics
from lakeward_catalog.application.warehouses.creating import CreateWarehouse, WarehouseCreations
from lakeward_catalog.application.warehouses.listing import ListWarehouses, WarehouseListings
from lakeward_catalog.application.warehouses.storage import OldCredential, ReplaceStorage, StorageReplacements
from lakeward_catalog.application.warehouses.validating import ValidateStorage, WarehouseChecks
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.callers import presented
from lakeward_catalog.transport.warehouse_messages import (
    check_message,
    config_message,
    credential,
    managed_by,
    restorable_for,
    secret_id,
    statuses,
    warehouse_message,
)
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.rpc.pages import page_of

# About 2 KB each. A caller names the base of links, so there may be more than warehouses.
_CONFIGS: Final = 1024
_TOLD: Final = 64


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseServicer(warehouses_pb2_grpc.WarehouseServiceServicer):
    """Warehouses and their storage.

    Attributes:
        configs: replies by what they are made from. What a key names never changes; a request finds the key by reading it.
        told: the same by what was read just now, which all are handed who share the read. It is kept beside its reply, so that
            nothing else can have its id.
        restorable_by_default: how long what is dropped can be restored where that is asked for without a span.
    """

    doors: Doors
    config: ClientConfigs
    create: WarehouseCreations
    list: WarehouseListings
    rename: WarehouseRenames
    switch: WarehouseSwitches
    protect: WarehouseProtections
    keep_dropped: DropRetentions
    allow_format_versions: FormatVersionPolicies
    manage: WarehouseManagers
    delete: WarehouseDeletions
    replace_storage: StorageReplacements
    checks: WarehouseChecks
    statistics: WarehouseStatistics
    restorable_by_default: timedelta
    configs: Kept[tuple[WarehouseId, int, str], warehouses_pb2.GetConfigResponse] = dataclasses.field(
        default_factory=lambda: Kept(_CONFIGS)
    )
    told: Kept[int, tuple[ClientConfig, warehouses_pb2.GetConfigResponse]] = dataclasses.field(
        default_factory=lambda: Kept(_TOLD)
    )

    async def GetConfig(
        self, request: warehouses_pb2.GetConfigRequest, caller: Caller
    ) -> warehouses_pb2.GetConfigResponse:
        """See the contract."""
        config = await self.config(request.warehouse, caller=caller, presented=presented(request.context))
        told = self.told.look(id(config))
        if told is not None:
            return told[1]
        key = config.key
        response = self.configs.get(key)
        if response is None:
            response = config_message(config)
            self.configs.put(key, response)
        self.told.put(id(config), (config, response))
        return response

    async def CreateWarehouse(
        self, request: warehouses_pb2.CreateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.CreateWarehouseResponse:
        """See the contract."""
        command = _wanted(request, by_default=self.restorable_by_default)
        warehouse = await self.create(command, caller=caller)
        return warehouses_pb2.CreateWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def ValidateWarehouse(
        self, request: warehouses_pb2.ValidateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.ValidateWarehouseResponse:
        """See the contract."""
        wanted = _wanted(request.warehouse, by_default=self.restorable_by_default)
        found = await self.checks.of_creation(wanted, caller=caller)
        return warehouses_pb2.ValidateWarehouseResponse(checks=[check_message(each) for each in found])

    async def ValidateWarehouseStorage(
        self, request: warehouses_pb2.ValidateWarehouseStorageRequest, caller: Caller
    ) -> warehouses_pb2.ValidateWarehouseStorageResponse:
        """See the contract."""
        which, instead = decode.warehouse_id(request.warehouse_id), None
        match request.WhichOneof("instead"):
            case "storage":
                instead = ReplaceStorage(which, request.storage.storage_profile, credential(request.storage))
            case "credential":
                staged = secret_id(request.credential.secret_id) or OldCredential.DROPPED
                instead = ReplaceStorage(which, None, staged)
            case _:
                pass
        found = await self.checks.of_storage(ValidateStorage(which, instead), caller=caller)
        return warehouses_pb2.ValidateWarehouseStorageResponse(checks=[check_message(each) for each in found])

    async def ListWarehouses(
        self, request: warehouses_pb2.ListWarehousesRequest, caller: Caller
    ) -> warehouses_pb2.ListWarehousesResponse:
        """See the contract."""
        found = await self.list(ListWarehouses(statuses(request.statuses), page_of(request)), caller=caller)
        return warehouses_pb2.ListWarehousesResponse(
            warehouses=[warehouse_message(warehouse) for warehouse in found.entries], next_page_token=found.next_token
        )

    async def GetWarehouse(
        self, request: warehouses_pb2.GetWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.GetWarehouseResponse:
        """See the contract."""
        warehouse = await self.doors.warehouse(
            decode.warehouse_id(request.warehouse_id), Action.WAREHOUSE_GET_METADATA, caller=caller, inactive_too=True
        )
        return warehouses_pb2.GetWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def GetWarehouseStatistics(
        self, request: warehouses_pb2.GetWarehouseStatisticsRequest, caller: Caller
    ) -> warehouses_pb2.GetWarehouseStatisticsResponse:
        """See the contract."""
        command = CountWarehouse(decode.warehouse_id(request.warehouse_id), page_of(request))
        page = await self.statistics(command, caller=caller)
        response = warehouses_pb2.GetWarehouseStatisticsResponse(next_page_token=page.next_token)
        if not command.page.token and page.entries:
            now = page.entries[0]
            response.tables, response.views, response.generic_tables = now.tables, now.views, now.generic_tables
            response.counted_at.FromDatetime(now.counted_at)
        for each in page.entries:
            hour = response.hours.add(tables=each.tables, views=each.views, generic_tables=each.generic_tables)
            hour.ended_at.FromDatetime(each.ended_at)
            hour.counted_at.FromDatetime(each.counted_at)
        return response

    async def RenameWarehouse(
        self, request: warehouses_pb2.RenameWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.RenameWarehouseResponse:
        """See the contract."""
        command = RenameWarehouse(decode.warehouse_id(request.warehouse_id), request.name)
        warehouse = await self.rename(command, caller=caller)
        return warehouses_pb2.RenameWarehouseResponse(warehouse=warehouse_message(warehouse))

    async def ActivateWarehouse(
        self, request: warehouses_pb2.ActivateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.ActivateWarehouseResponse:
        """See the contract."""
        await self.switch(SwitchWarehouse(decode.warehouse_id(request.warehouse_id), active=True), caller=caller)
        return warehouses_pb2.ActivateWarehouseResponse()

    async def DeactivateWarehouse(
        self, request: warehouses_pb2.DeactivateWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.DeactivateWarehouseResponse:
        """See the contract."""
        await self.switch(SwitchWarehouse(decode.warehouse_id(request.warehouse_id), active=False), caller=caller)
        return warehouses_pb2.DeactivateWarehouseResponse()

    async def SetWarehouseProtection(
        self, request: warehouses_pb2.SetWarehouseProtectionRequest, caller: Caller
    ) -> warehouses_pb2.SetWarehouseProtectionResponse:
        """See the contract."""
        command = ProtectWarehouse(decode.warehouse_id(request.warehouse_id), request.protected)
        warehouse = await self.protect(command, caller=caller)
        return warehouses_pb2.SetWarehouseProtectionResponse(warehouse=warehouse_message(warehouse))

    async def SetDeleteProfile(
        self, request: warehouses_pb2.SetDeleteProfileRequest, caller: Caller
    ) -> warehouses_pb2.SetDeleteProfileResponse:
        """See the contract."""
        if not request.HasField("delete_profile"):
            raise invalid_field("delete_profile", "unset", "a profile; an empty one for final drops")
        span = restorable_for(request.delete_profile, by_default=self.restorable_by_default)
        command = KeepDropped(decode.warehouse_id(request.warehouse_id), span)
        warehouse = await self.keep_dropped(command, caller=caller)
        return warehouses_pb2.SetDeleteProfileResponse(warehouse=warehouse_message(warehouse))

    async def SetFormatVersionPolicy(
        self, request: warehouses_pb2.SetFormatVersionPolicyRequest, caller: Caller
    ) -> warehouses_pb2.SetFormatVersionPolicyResponse:
        """See the contract."""
        command = AllowFormatVersions(
            decode.warehouse_id(request.warehouse_id),
            tuple(request.allowed_format_versions),
            request.default_format_version or None,
        )
        warehouse = await self.allow_format_versions(command, caller=caller)
        return warehouses_pb2.SetFormatVersionPolicyResponse(warehouse=warehouse_message(warehouse))

    async def SetManagedBy(
        self, request: warehouses_pb2.SetManagedByRequest, caller: Caller
    ) -> warehouses_pb2.SetManagedByResponse:
        """See the contract."""
        if request.managed_by == warehouses_pb2.MANAGED_BY_UNSPECIFIED:
            raise invalid_field("managed_by", "unset", "self or an administrator of the instance")
        command = ManageWarehouse(decode.warehouse_id(request.warehouse_id), managed_by(request.managed_by))
        warehouse = await self.manage(command, caller=caller)
        return warehouses_pb2.SetManagedByResponse(warehouse=warehouse_message(warehouse))

    async def DeleteWarehouse(
        self, request: warehouses_pb2.DeleteWarehouseRequest, caller: Caller
    ) -> warehouses_pb2.DeleteWarehouseResponse:
        """See the contract."""
        command = DeleteWarehouse(decode.warehouse_id(request.warehouse_id), force=request.force)
        await self.delete(command, caller=caller)
        return warehouses_pb2.DeleteWarehouseResponse()

    async def UpdateStorage(
        self, request: warehouses_pb2.UpdateStorageRequest, caller: Caller
    ) -> warehouses_pb2.UpdateStorageResponse:
        """See the contract."""
        command = ReplaceStorage(
            decode.warehouse_id(request.warehouse_id), request.storage_profile, credential(request)
        )
        warehouse = await self.replace_storage(command, caller=caller)
        return warehouses_pb2.UpdateStorageResponse(warehouse=warehouse_message(warehouse))

    async def UpdateStorageCredential(
        self, request: warehouses_pb2.UpdateStorageCredentialRequest, caller: Caller
    ) -> warehouses_pb2.UpdateStorageCredentialResponse:
        """See the contract."""
        staged = secret_id(request.secret_id) or OldCredential.DROPPED
        command = ReplaceStorage(decode.warehouse_id(request.warehouse_id), None, staged)
        warehouse = await self.replace_storage(command, caller=caller)
        return warehouses_pb2.UpdateStorageCredentialResponse(warehouse=warehouse_message(warehouse))


def _wanted(request: warehouses_pb2.CreateWarehouseRequest, *, by_default: timedelta) -> CreateWarehouse:
    return CreateWarehouse(
        name=request.name,
        profile=request.storage_profile,
        secret_id=secret_id(request.secret_id),
        restorable_for=restorable_for(request.delete_profile, by_default=by_default),
        allowed_format_versions=tuple(request.allowed_format_versions),
        default_format_version=request.default_format_version or None,
        managed_by=managed_by(request.managed_by),
    )
