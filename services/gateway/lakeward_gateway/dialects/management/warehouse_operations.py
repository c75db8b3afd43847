"""The warehouse operations: paths, parameters, bodies and replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.management import documents, paging, warehouses
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import warehouses_pb2_grpc
from lakeward_protocol.vending.v1 import vending_pb2_grpc

_TAG: Final = "warehouse"
_WAREHOUSES: Final = "/management/v1/warehouse"
_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"
_SHOWN: Final = Answer("The warehouse.", "GetWarehouseResponse", documents.GetWarehouseResponse)


def operations(
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> Sequence[Operation]:
    """Every operation on warehouses that is served.

    Args:
        stub: answers them.
        storage: takes credentials in.
    """
    return (*_reading(stub), *_changing(stub, storage), *_switching(stub), *_setting(stub))


def _reading(stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="list_warehouses",
            method="GET",
            path=_WAREHOUSES,
            summary="The warehouses of a project that the caller may see.",
            handler=partial(warehouses.list_warehouses, warehouses=stub),
            query=(warehouses.STATUS, warehouses.PROJECT, *paging.PARAMETERS),
            answers={200: Answer("Warehouses.", "ListWarehousesResponse", documents.ListWarehousesResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_warehouse",
            method="GET",
            path=_WAREHOUSE,
            summary="One warehouse, active or not.",
            handler=partial(warehouses.get_warehouse, warehouses=stub),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_warehouse_statistics",
            method="GET",
            path=f"{_WAREHOUSE}/statistics",
            summary="How many tables and views a warehouse has, active or not; what was dropped does not count.",
            handler=partial(warehouses.get_statistics, warehouses=stub),
            query=(warehouses.STATISTICS_TOKEN, warehouses.STATISTICS_SIZE),
            answers={
                200: Answer("Counts.", "WarehouseStatisticsResponse", documents.WarehouseStatisticsResponse),
            },
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _changing(
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> Sequence[Operation]:
    return (
        Operation(
            id="create_warehouse",
            method="POST",
            path=_WAREHOUSES,
            summary="Make a warehouse, after its storage was proved by writing, reading and deleting.",
            handler=partial(warehouses.create_warehouse, warehouses=stub, storage=storage),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateWarehouseRequest", documents.CreateWarehouseRequest),
            answers={201: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="rename_warehouse",
            method="POST",
            path=f"{_WAREHOUSE}/rename",
            summary="Give a warehouse another name.",
            handler=partial(warehouses.rename_warehouse, warehouses=stub),
            body=Body("RenameWarehouseRequest", documents.RenameWarehouseRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_storage_profile",
            method="POST",
            path=f"{_WAREHOUSE}/storage",
            summary="Replace a warehouse's storage profile and credential.",
            handler=partial(warehouses.update_storage, warehouses=stub, storage=storage),
            body=Body("UpdateWarehouseStorageRequest", documents.UpdateWarehouseStorageRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_storage_credential",
            method="POST",
            path=f"{_WAREHOUSE}/storage-credential",
            summary="Replace a warehouse's credential.",
            handler=partial(warehouses.update_storage_credential, warehouses=stub, storage=storage),
            body=Body("UpdateWarehouseCredentialRequest", documents.UpdateWarehouseCredentialRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="delete_warehouse",
            method="DELETE",
            path=_WAREHOUSE,
            summary="Delete an empty warehouse; its files stay.",
            handler=partial(warehouses.delete_warehouse, warehouses=stub),
            query=(warehouses.FORCE,),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _switching(stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="activate_warehouse",
            method="POST",
            path=f"{_WAREHOUSE}/activate",
            summary="Let a warehouse serve.",
            handler=partial(warehouses.activate_warehouse, warehouses=stub),
            answers={200: Answer("It serves.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="deactivate_warehouse",
            method="POST",
            path=f"{_WAREHOUSE}/deactivate",
            summary="Stop a warehouse from serving; its tasks go on.",
            handler=partial(warehouses.deactivate_warehouse, warehouses=stub),
            answers={200: Answer("It does not serve.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="set_warehouse_protection",
            method="POST",
            path=f"{_WAREHOUSE}/protection",
            summary="Protect a warehouse from being deleted without force, or no longer.",
            handler=partial(warehouses.set_warehouse_protection, warehouses=stub),
            body=Body("SetProtectionRequest", documents.SetProtectionRequest),
            answers={200: Answer("As it is now.", "ProtectionResponse", documents.ProtectionResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _setting(stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="update_warehouse_delete_profile",
            method="POST",
            path=f"{_WAREHOUSE}/delete-profile",
            summary="Say whether what is dropped from now on can be restored, and for how long.",
            handler=partial(warehouses.set_delete_profile, warehouses=stub),
            body=Body("UpdateWarehouseDeleteProfileRequest", documents.UpdateWarehouseDeleteProfileRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_warehouse_format_version_policy",
            method="POST",
            path=f"{_WAREHOUSE}/format-version-policy",
            summary="Say which Iceberg format versions tables may be made with and upgraded to.",
            handler=partial(warehouses.set_format_version_policy, warehouses=stub),
            body=Body("UpdateWarehouseFormatVersionPolicyRequest", documents.UpdateWarehouseFormatVersionPolicyRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="set_warehouse_managed_by",
            method="POST",
            path=f"{_WAREHOUSE}/managed-by",
            summary="Say who may change what a warehouse is; for administrators of the instance alone.",
            handler=partial(warehouses.set_managed_by, warehouses=stub),
            body=Body("SetWarehouseManagedByRequest", documents.SetWarehouseManagedByRequest),
            answers={200: _SHOWN},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
