"""Warehouses. A credential is staged with vending first, and the catalog gets its id: no secret passes it."""

from __future__ import annotations

from typing import Final

import msgspec
from google.protobuf import duration_pb2

from lakeward_gateway.dialects.management import documents, paging
from lakeward_gateway.dialects.management.server import in_project
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.query import Flag, PageSize, Text, Texts
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import vending_pb2, vending_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

STATUS: Final = Texts("warehouseStatus", "`active` or `inactive`; may be given for each. Unset: active.")
PROJECT: Final = Text("projectId", "The project; the header x-project-id says the same.", deprecated=True)
FORCE: Final = Flag("force", "Overrides protection.")

STATISTICS_TOKEN: Final = Text("page_token", "From the page before; left out for the first.")
STATISTICS_SIZE: Final = PageSize("page_size", "How many entries a page may have; cut to what the server allows.")

_STATUSES: Final = {
    "active": warehouses_pb2.WAREHOUSE_STATUS_ACTIVE,
    "inactive": warehouses_pb2.WAREHOUSE_STATUS_INACTIVE,
}
_MANAGERS: Final = {
    "self-managed": warehouses_pb2.MANAGED_BY_SELF,
    "instance-admin": warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN,
}
_create_decoder: Final = msgspec.json.Decoder(documents.CreateWarehouseRequest)
_rename_decoder: Final = msgspec.json.Decoder(documents.RenameWarehouseRequest)
_protection_decoder: Final = msgspec.json.Decoder(documents.SetProtectionRequest)
_delete_profile_decoder: Final = msgspec.json.Decoder(documents.UpdateWarehouseDeleteProfileRequest)
_versions_decoder: Final = msgspec.json.Decoder(documents.UpdateWarehouseFormatVersionPolicyRequest)
_manager_decoder: Final = msgspec.json.Decoder(documents.SetWarehouseManagedByRequest)
_storage_decoder: Final = msgspec.json.Decoder(documents.UpdateWarehouseStorageRequest)
_credential_decoder: Final = msgspec.json.Decoder(documents.UpdateWarehouseCredentialRequest)


async def create_warehouse(
    request: Request,
    *,
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Make a warehouse."""
    response = await warehouses.CreateWarehouse(await wanted(request, storage))
    return json_response(documents.warehouse_document(response.warehouse), status=201)


async def wanted(
    request: Request, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> warehouses_pb2.CreateWarehouseRequest:
    """The warehouse that a body asks for; its credential is staged."""
    document = await parsed(_create_decoder, request.body)
    context = in_project(request.context, document.project_id)
    versions = document.allowed_format_versions
    if versions is not None and not versions:
        raise Refusal(
            Reason.REASON_INVALID_FORMAT_VERSION_POLICY,
            "allowed-format-versions is empty; name at least one of 1, 2 and 3, or leave it out for all",
            versions="",
        )
    secret_id = await staged(storage, context, document.storage_credential, warehouse_id="")
    return warehouses_pb2.CreateWarehouseRequest(
        context=context,
        name=document.warehouse_name,
        storage_profile=bytes(document.storage_profile),
        secret_id=secret_id,
        delete_profile=_delete_profile(document.delete_profile),
        allowed_format_versions=versions,
        default_format_version=document.default_format_version or 0,
        managed_by=_MANAGERS[document.managed_by or "self-managed"],
    )


def _delete_profile(profile: documents.HardDelete | documents.SoftDelete | None) -> warehouses_pb2.DeleteProfile | None:
    if not isinstance(profile, documents.SoftDelete):
        return None
    if profile.expiration_seconds is None:
        return warehouses_pb2.DeleteProfile(restorable=True)
    return warehouses_pb2.DeleteProfile(restorable_for=duration_pb2.Duration(seconds=profile.expiration_seconds))


async def staged(
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
    context: context_pb2.RequestContext,
    credential: msgspec.Raw,
    *,
    warehouse_id: str,
) -> str:
    """The id of a credential that vending now has; empty where there is none."""
    if not _is_given(credential):
        return ""
    response = await storage.StageCredential(
        vending_pb2.StageCredentialRequest(context=context, credential=bytes(credential), warehouse_id=warehouse_id)
    )
    return response.secret_id


def _is_given(credential: msgspec.Raw) -> bool:
    return bytes(credential) not in (b"", b"null")


async def list_warehouses(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """The warehouses of a project."""
    query = request.query
    statuses = [_status(word) for value in STATUS.read(query) for word in value.split(",")]
    message = warehouses_pb2.ListWarehousesRequest(
        context=in_project(request.context, PROJECT.read(query)), statuses=dict.fromkeys(statuses)
    )
    if paging.SIZE.read(query) is not None or paging.TOKEN.read(query):
        message.page.CopyFrom(paging.page_of(query))
    response = await warehouses.ListWarehouses(message)
    shown = [documents.warehouse_document(found) for found in response.warehouses]
    return json_response(documents.ListWarehousesResponse(shown, response.next_page_token or None))


def _status(word: str) -> warehouses_pb2.WarehouseStatus.ValueType:
    try:
        return _STATUSES[word]
    except KeyError:
        raise invalid_field(STATUS.name, word, "active or inactive") from None


async def get_warehouse(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """One warehouse."""
    response = await warehouses.GetWarehouse(
        warehouses_pb2.GetWarehouseRequest(context=request.context, warehouse_id=request.arguments[0])
    )
    return json_response(documents.warehouse_document(response.warehouse))


async def get_statistics(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """How much a warehouse has now, and had hour by hour."""
    warehouse_id = request.arguments[0]
    page = context_pb2.Page(size=STATISTICS_SIZE.read(request.query), token=STATISTICS_TOKEN.read(request.query) or "")
    found = await warehouses.GetWarehouseStatistics(
        warehouses_pb2.GetWarehouseStatisticsRequest(context=request.context, warehouse_id=warehouse_id, page=page)
    )
    hours = [
        documents.WarehouseStatistics(
            timestamp=documents.time_text(hour.ended_at),
            number_of_tables=hour.tables,
            number_of_views=hour.views,
            number_of_generic_tables=hour.generic_tables,
            updated_at=documents.time_text(hour.counted_at),
        )
        for hour in found.hours
    ]
    return json_response(documents.WarehouseStatisticsResponse(warehouse_id, hours, found.next_page_token or None))


async def delete_warehouse(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """Delete an empty warehouse."""
    await warehouses.DeleteWarehouse(
        warehouses_pb2.DeleteWarehouseRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            force=FORCE.read(request.query) or False,
        )
    )
    return NO_CONTENT


async def rename_warehouse(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """Give a warehouse another name."""
    document = await parsed(_rename_decoder, request.body)
    response = await warehouses.RenameWarehouse(
        warehouses_pb2.RenameWarehouseRequest(
            context=request.context, warehouse_id=request.arguments[0], name=document.new_name
        )
    )
    return json_response(documents.warehouse_document(response.warehouse))


async def activate_warehouse(
    request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub
) -> Response:
    """Let a warehouse serve."""
    await warehouses.ActivateWarehouse(
        warehouses_pb2.ActivateWarehouseRequest(context=request.context, warehouse_id=request.arguments[0])
    )
    return Response(200)


async def deactivate_warehouse(
    request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub
) -> Response:
    """Stop a warehouse from serving."""
    await warehouses.DeactivateWarehouse(
        warehouses_pb2.DeactivateWarehouseRequest(context=request.context, warehouse_id=request.arguments[0])
    )
    return Response(200)


async def set_warehouse_protection(
    request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub
) -> Response:
    """Protect a warehouse from being deleted, or no longer."""
    document = await parsed(_protection_decoder, request.body)
    response = await warehouses.SetWarehouseProtection(
        warehouses_pb2.SetWarehouseProtectionRequest(
            context=request.context, warehouse_id=request.arguments[0], protected=document.protected
        )
    )
    return json_response(documents.warehouse_protection(response.warehouse))


async def set_delete_profile(
    request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub
) -> Response:
    """Say what becomes of what is dropped from now on."""
    document = await parsed(_delete_profile_decoder, request.body)
    response = await warehouses.SetDeleteProfile(
        warehouses_pb2.SetDeleteProfileRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            delete_profile=_delete_profile(document.delete_profile) or warehouses_pb2.DeleteProfile(),
        )
    )
    return json_response(documents.warehouse_document(response.warehouse))


async def set_format_version_policy(
    request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub
) -> Response:
    """Say which format versions tables may have."""
    document = await parsed(_versions_decoder, request.body)
    response = await warehouses.SetFormatVersionPolicy(
        warehouses_pb2.SetFormatVersionPolicyRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            allowed_format_versions=document.allowed_format_versions,
            default_format_version=document.default_format_version or 0,
        )
    )
    return json_response(documents.warehouse_document(response.warehouse))


async def set_managed_by(request: Request, *, warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """Say who may change what a warehouse is."""
    document = await parsed(_manager_decoder, request.body)
    response = await warehouses.SetManagedBy(
        warehouses_pb2.SetManagedByRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            managed_by=_MANAGERS[document.managed_by],
        )
    )
    return json_response(documents.warehouse_document(response.warehouse))


async def update_storage(
    request: Request,
    *,
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Replace a warehouse's storage profile and credential."""
    response = await warehouses.UpdateStorage(await wanted_storage(request, storage))
    return json_response(documents.warehouse_document(response.warehouse))


async def wanted_storage(
    request: Request, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> warehouses_pb2.UpdateStorageRequest:
    """The storage that a body asks for; its credential is staged."""
    warehouse_id = request.arguments[0]
    document = await parsed(_storage_decoder, request.body)
    message = warehouses_pb2.UpdateStorageRequest(
        context=request.context, warehouse_id=warehouse_id, storage_profile=bytes(document.storage_profile)
    )
    if bytes(document.storage_credential) == b"null":
        message.without_credential = True
    elif _is_given(document.storage_credential):
        message.secret_id = await staged(
            storage, request.context, document.storage_credential, warehouse_id=warehouse_id
        )
    return message


async def update_storage_credential(
    request: Request,
    *,
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Replace a warehouse's credential."""
    response = await warehouses.UpdateStorageCredential(await wanted_credential(request, storage))
    return json_response(documents.warehouse_document(response.warehouse))


async def wanted_credential(
    request: Request, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> warehouses_pb2.UpdateStorageCredentialRequest:
    """The credential that a body has, staged."""
    warehouse_id = request.arguments[0]
    document = await parsed(_credential_decoder, request.body)
    secret_id = await staged(storage, request.context, document.new_storage_credential, warehouse_id=warehouse_id)
    return warehouses_pb2.UpdateStorageCredentialRequest(
        context=request.context, warehouse_id=warehouse_id, secret_id=secret_id
    )
