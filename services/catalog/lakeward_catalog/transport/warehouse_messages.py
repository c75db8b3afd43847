"""Warehouses as messages, and what requests say of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final
from uuid import UUID

from google.protobuf.duration_pb2 import Duration

from lakeward_catalog.application.config import ClientConfig
from lakeward_catalog.application.ports.storage import Checked, CheckStatus
from lakeward_catalog.application.warehouses.storage import OldCredential
from lakeward_catalog.domain.model import ManagedBy, Warehouse
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc import failure_of

_STATUS: Final = {
    True: warehouses_pb2.WAREHOUSE_STATUS_ACTIVE,
    False: warehouses_pb2.WAREHOUSE_STATUS_INACTIVE,
}
_MANAGERS: Final = {
    ManagedBy.SELF: warehouses_pb2.MANAGED_BY_SELF,
    ManagedBy.INSTANCE_ADMIN: warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN,
}
_MANAGED: Final = {
    warehouses_pb2.MANAGED_BY_UNSPECIFIED: ManagedBy.SELF,
    **{value: manager for manager, value in _MANAGERS.items()},
}
_CHECKS: Final = {
    CheckStatus.PASSED: warehouses_pb2.CHECK_STATUS_PASSED,
    CheckStatus.FAILED: warehouses_pb2.CHECK_STATUS_FAILED,
    CheckStatus.SKIPPED: warehouses_pb2.CHECK_STATUS_SKIPPED,
}
_ACTIVE: Final = {status: active for active, status in _STATUS.items()}


def config_message(config: ClientConfig) -> warehouses_pb2.GetConfigResponse:
    """An Iceberg client's configuration. Not to be changed: it is handed out again."""
    message = warehouses_pb2.GetConfigResponse(
        warehouse_id=str(config.warehouse.warehouse_id), defaults=config.defaults, overrides=config.overrides
    )
    if config.idempotency_key_lifetime is not None:
        message.idempotency_key_lifetime.FromTimedelta(config.idempotency_key_lifetime)
    return message


def warehouse_message(warehouse: Warehouse) -> warehouses_pb2.Warehouse:
    """A warehouse as it is stored."""
    message = warehouses_pb2.Warehouse(
        warehouse_id=str(warehouse.warehouse_id),
        project_id=warehouse.project_id,
        name=warehouse.name,
        status=_STATUS[warehouse.active],
        storage_profile=warehouse.storage.profile,
        credential_kind=warehouse.storage.credential_kind or "",
        delete_profile=warehouses_pb2.DeleteProfile(),
        allowed_format_versions=warehouse.allowed_format_versions,
        default_format_version=warehouse.default_format_version,
        protected=warehouse.protected,
        managed_by=_MANAGERS[warehouse.managed_by],
    )
    if warehouse.restorable_for is not None:
        message.delete_profile.restorable_for.FromTimedelta(warehouse.restorable_for)
    message.created_at.FromDatetime(warehouse.created_at)
    if warehouse.updated_at is not None:
        message.updated_at.FromDatetime(warehouse.updated_at)
    return message


def check_message(check: Checked) -> warehouses_pb2.WarehouseCheck:
    """What came of a check."""
    message = warehouses_pb2.WarehouseCheck(name=check.name, status=_CHECKS[check.status], reason=check.reason)
    if check.duration is not None:
        message.duration.FromTimedelta(check.duration)
    if check.refusal is not None:
        message.failure.CopyFrom(failure_of(check.refusal))
    return message


def restorable_for(profile: warehouses_pb2.DeleteProfile, *, by_default: timedelta) -> timedelta | None:
    """How long what is dropped can be restored; None: not at all.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if profile.HasField("restorable_for"):
        return _timedelta(profile.restorable_for)
    return by_default if profile.restorable else None


def managed_by(value: warehouses_pb2.ManagedBy.ValueType) -> ManagedBy:
    """Who may change what a warehouse is; whoever has the right to, where nothing is said.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return _MANAGED[value]
    except KeyError:
        raise invalid_field("managed_by", value, "self or an administrator of the instance") from None


def secret_id(text: str) -> UUID | None:
    """The id of a staged secret; None: none was named.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if text == "":
        return None
    try:
        return UUID(text)
    except ValueError:
        raise invalid_field("secret_id", text, "the id of a staged credential, which is a UUID") from None


def credential(request: warehouses_pb2.UpdateStorageRequest) -> UUID | OldCredential:
    """What happens to a warehouse's credential.

    Raises:
        Refusal: INVALID_FIELD, also where the request does not say.
    """
    match request.WhichOneof("credential"):
        case "secret_id":
            return secret_id(request.secret_id) or OldCredential.DROPPED
        case "without_credential" if request.without_credential:
            return OldCredential.DROPPED
        case "keep_credential" if request.keep_credential:
            return OldCredential.KEPT
        case _:
            raise invalid_field(
                "credential", "unset", "a staged credential's id, or true for keeping or dropping the old one"
            )


def statuses(values: Iterable[warehouses_pb2.WarehouseStatus.ValueType]) -> frozenset[bool]:
    """Which warehouses are listed, by whether they serve.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return frozenset(_ACTIVE[value] for value in values)
    except KeyError as error:
        raise invalid_field("statuses", error.args[0], "active or inactive") from None


def _timedelta(duration: Duration) -> timedelta:
    try:
        return duration.ToTimedelta()
    except (ValueError, OverflowError):
        raise invalid_field("delete_profile.restorable_for", f"{duration.seconds} s", "0 to 3650 days") from None
