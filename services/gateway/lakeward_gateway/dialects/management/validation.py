"""Checking warehouses without making or changing any: a check that fails is an answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from lakeward_gateway.dialects.management import documents, warehouses
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.errors import Rendering
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc
from lakeward_protocol.errors.v1 import failure_pb2
from lakeward_protocol.vending.v1 import vending_pb2_grpc

_TAG: Final = "warehouse"
_ANSWERS: Final = {
    200: Answer("What came of each check.", "ValidateWarehouseResponse", documents.ValidateWarehouseResponse)
}
_STORAGE: Final = "/management/v1/warehouse/{warehouse_id}/storage"
_STATUSES: Final[dict[int, Literal["passed", "failed", "skipped"]]] = {
    warehouses_pb2.CHECK_STATUS_PASSED: "passed",
    warehouses_pb2.CHECK_STATUS_FAILED: "failed",
    warehouses_pb2.CHECK_STATUS_SKIPPED: "skipped",
}


async def validate_creation(
    request: Request,
    *,
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Check a warehouse that is not made."""
    wanted = await warehouses.wanted(request, storage)
    message = warehouses_pb2.ValidateWarehouseRequest(context=wanted.context, warehouse=wanted)
    return _shown((await stub.ValidateWarehouse(message)).checks)


async def validate_access(request: Request, *, stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub) -> Response:
    """Check a warehouse's storage as it is."""
    return await _validated(stub, _about(request))


async def validate_profile(
    request: Request,
    *,
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Check another profile for a warehouse."""
    message = _about(request)
    message.storage.CopyFrom(await warehouses.wanted_storage(request, storage))
    return await _validated(stub, message)


async def validate_credential(
    request: Request,
    *,
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    storage: vending_pb2_grpc.StorageServiceAsyncStub,
) -> Response:
    """Check another credential for a warehouse."""
    message = _about(request)
    message.credential.CopyFrom(await warehouses.wanted_credential(request, storage))
    return await _validated(stub, message)


def _about(request: Request) -> warehouses_pb2.ValidateWarehouseStorageRequest:
    return warehouses_pb2.ValidateWarehouseStorageRequest(context=request.context, warehouse_id=request.arguments[0])


async def _validated(
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub, message: warehouses_pb2.ValidateWarehouseStorageRequest
) -> Response:
    return _shown((await stub.ValidateWarehouseStorage(message)).checks)


def _shown(checks: Sequence[warehouses_pb2.WarehouseCheck]) -> Response:
    valid = all(check.status != warehouses_pb2.CHECK_STATUS_FAILED for check in checks)
    return json_response(documents.ValidateWarehouseResponse(valid, [_check(check) for check in checks]))


def _check(check: warehouses_pb2.WarehouseCheck) -> documents.ValidationCheck:
    took = check.duration.ToMilliseconds() if check.HasField("duration") else None
    return documents.ValidationCheck(
        name=check.name,
        status=_STATUSES[check.status],
        duration_ms=took,
        error=_error(check.failure) if check.HasField("failure") else None,
        reason=check.reason or None,
    )


def _error(failure: failure_pb2.Failure) -> documents.ErrorModel:
    entry = RENDERED[failure.reason]
    rendering = entry if isinstance(entry, Rendering) else entry(failure.metadata)
    return documents.ErrorModel(failure.message, rendering.type, rendering.status)


def operations(
    stub: warehouses_pb2_grpc.WarehouseServiceAsyncStub, storage: vending_pb2_grpc.StorageServiceAsyncStub
) -> Sequence[Operation]:
    """Every operation that checks a warehouse."""
    return (
        Operation(
            id="validate_warehouse",
            method="POST",
            path="/management/v1/warehouse-creation-validation",
            summary="Check a warehouse that is not made: what would be refused, and whether its storage works.",
            handler=partial(validate_creation, stub=stub, storage=storage),
            body=Body("CreateWarehouseRequest", documents.CreateWarehouseRequest),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="validate_storage_access",
            method="POST",
            path=f"{_STORAGE}/validate-access",
            summary="Check whether a warehouse's storage works as it is.",
            handler=partial(validate_access, stub=stub),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="validate_storage_profile",
            method="POST",
            path=f"{_STORAGE}/validate-profile",
            summary="Check another storage profile for a warehouse, which stays as it is.",
            handler=partial(validate_profile, stub=stub, storage=storage),
            body=Body("UpdateWarehouseStorageRequest", documents.UpdateWarehouseStorageRequest),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="validate_storage_credential",
            method="POST",
            path=f"{_STORAGE}/validate-credential",
            summary="Check another credential for a warehouse, which keeps the one it has.",
            handler=partial(validate_credential, stub=stub, storage=storage),
            body=Body("UpdateWarehouseCredentialRequest", documents.UpdateWarehouseCredentialRequest),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
