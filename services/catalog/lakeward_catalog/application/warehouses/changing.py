"""Changing what warehouses are, and deleting them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import ManagedBy, Warehouse, WarehouseId
from lakeward_catalog.domain.warehouse_rules import (
    check_restorable_for,
    check_some_allowed,
    check_warehouse_name,
    format_version_policy,
)
from lakeward_catalog.domain.wording import instance_admin_required, no_such_warehouse, warehouse_protected
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock

_SERVING: Final = {
    True: (Action.WAREHOUSE_ACTIVATE, WarehouseChange.ACTIVATED),
    False: (Action.WAREHOUSE_DEACTIVATE, WarehouseChange.DEACTIVATED),
}


@dataclasses.dataclass(frozen=True, slots=True)
class RenameWarehouse:
    """Give a warehouse another name."""

    warehouse_id: WarehouseId
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class SwitchWarehouse:
    """Let a warehouse serve, or stop it."""

    warehouse_id: WarehouseId
    active: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ProtectWarehouse:
    """Protect a warehouse from being deleted without force, or no longer."""

    warehouse_id: WarehouseId
    protected: bool


@dataclasses.dataclass(frozen=True, slots=True)
class KeepDropped:
    """Say how long what is dropped from now on can be restored; None: not at all."""

    warehouse_id: WarehouseId
    restorable_for: timedelta | None


@dataclasses.dataclass(frozen=True, slots=True)
class AllowFormatVersions:
    """Say which versions tables may be made with and upgraded to; `default` None: 2 where it is allowed, else the highest."""

    warehouse_id: WarehouseId
    allowed: tuple[int, ...]
    default: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class ManageWarehouse:
    """Say who may change what a warehouse is."""

    warehouse_id: WarehouseId
    managed_by: ManagedBy


@dataclasses.dataclass(frozen=True, slots=True)
class DeleteWarehouse:
    """Delete an empty warehouse; `force` overrides protection."""

    warehouse_id: WarehouseId
    force: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseEdits:
    """How every change of a warehouse's row is made: decided, locked, written once and told. What is so already is no change."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(
        self,
        warehouse: Warehouse,
        kind: WarehouseChange,
        edit: Callable[[Warehouse], Warehouse],
        *,
        caller: Caller,
    ) -> Warehouse:
        """Change one.

        Args:
            warehouse: that its door let the caller change.
            kind: what happens to it.
            edit: makes of the row, as it is now, what it shall be.
            caller: who asks.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, WAREHOUSE_MANAGED, WAREHOUSE_EXISTS; what `edit` raises.
        """
        async with self.locked(warehouse.warehouse_id, caller=caller) as (change, stored):
            wanted = edit(stored)
            if wanted == stored:
                return stored
            updated = await change.warehouses.update(wanted)
            when = occasion(caller, self.clock.now())
            data = {"contracts": updated.contracts} if updated.contracts != stored.contracts else {}
            change.ledger.emit(self.announcer.warehouse(kind, updated, when, before=stored, data=data))
        return updated

    @contextlib.asynccontextmanager
    async def locked(self, warehouse_id: WarehouseId, *, caller: Caller) -> AsyncIterator[tuple[Change, Warehouse]]:
        """A transaction that holds the row, of which it was asked again who manages it."""
        async with self.changes.change() as change:
            stored = await change.warehouses.lock(warehouse_id)
            if stored is None:
                raise no_such_warehouse(warehouse_id)
            self.doors.check_manager(stored, caller=caller)
            yield change, stored


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseRenames:
    """Renames active warehouses. A name that one has already is no change, and no event."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: RenameWarehouse, *, caller: Caller) -> Warehouse:
        """Rename one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED, INVALID_WAREHOUSE_NAME, WAREHOUSE_EXISTS.
        """
        found = await self.doors.specified(command.warehouse_id, Action.WAREHOUSE_RENAME, caller=caller)
        check_warehouse_name(command.name)
        return await self.edits(
            found,
            WarehouseChange.RENAMED,
            lambda row: dataclasses.replace(row, name=command.name),
            caller=caller,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseSwitches:
    """Lets warehouses serve, and stops them. Where it is so already nothing changes."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: SwitchWarehouse, *, caller: Caller) -> None:
        """Let one serve, or stop it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED.
        """
        action, kind = _SERVING[command.active]
        found = await self.doors.specified(command.warehouse_id, action, caller=caller, inactive_too=True)
        await self.edits(found, kind, lambda row: dataclasses.replace(row, active=command.active), caller=caller)


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseProtections:
    """Protects warehouses, active or not, and takes their protection away. Where it is so already nothing changes."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: ProtectWarehouse, *, caller: Caller) -> Warehouse:
        """Protect one, or take its protection away.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED.
        """
        action = Action.WAREHOUSE_SET_PROTECTION
        found = await self.doors.specified(command.warehouse_id, action, caller=caller, inactive_too=True)
        return await self.edits(
            found,
            WarehouseChange.PROTECTION_UPDATED,
            lambda row: dataclasses.replace(row, protected=command.protected),
            caller=caller,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class DropRetentions:
    """Says how long what is dropped from active warehouses can be restored. What was dropped before keeps its time."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: KeepDropped, *, caller: Caller) -> Warehouse:
        """Say it of one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED, INVALID_FIELD.
        """
        found = await self.doors.specified(command.warehouse_id, Action.WAREHOUSE_MODIFY_SOFT_DELETION, caller=caller)
        check_restorable_for(command.restorable_for)
        return await self.edits(
            found,
            WarehouseChange.DELETE_PROFILE_UPDATED,
            lambda row: dataclasses.replace(row, restorable_for=command.restorable_for),
            caller=caller,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class FormatVersionPolicies:
    """Says which format versions tables of warehouses, active or not, may be made with and upgraded to."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: AllowFormatVersions, *, caller: Caller) -> Warehouse:
        """Say it of one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED, INVALID_FORMAT_VERSION_POLICY.
        """
        action = Action.WAREHOUSE_SET_FORMAT_VERSION_POLICY
        found = await self.doors.specified(command.warehouse_id, action, caller=caller, inactive_too=True)
        check_some_allowed(command.allowed)
        allowed, default = format_version_policy(command.allowed, command.default)
        return await self.edits(
            found,
            WarehouseChange.FORMAT_VERSION_POLICY_UPDATED,
            lambda row: dataclasses.replace(row, allowed_format_versions=allowed, default_format_version=default),
            caller=caller,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseManagers:
    """Says who may change what warehouses are, active or not."""

    doors: Doors
    edits: WarehouseEdits

    async def __call__(self, command: ManageWarehouse, *, caller: Caller) -> Warehouse:
        """Say it of one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, INSTANCE_ADMIN_REQUIRED.
        """
        action = Action.WAREHOUSE_GET_METADATA
        found = await self.doors.warehouse(command.warehouse_id, action, caller=caller, inactive_too=True)
        if not self.doors.administrates(caller):
            raise instance_admin_required()
        return await self.edits(
            found,
            WarehouseChange.MANAGED_BY_UPDATED,
            lambda row: dataclasses.replace(row, managed_by=command.managed_by),
            caller=caller,
        )


def _seconds(warehouse: Warehouse) -> int | None:
    span = warehouse.restorable_for
    return None if span is None else int(span.total_seconds())


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseDeletions:
    """Deletes empty warehouses, active or not; then their places are released and their secrets forgotten. Files stay."""

    doors: Doors
    edits: WarehouseEdits
    places: Places
    secrets: Secrets
    once: Once

    async def __call__(self, command: DeleteWarehouse, *, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED, WAREHOUSE_PROTECTED, WAREHOUSE_NOT_EMPTY.
        """

        async def delete(keeper: Keeper) -> None:
            warehouse = await self._delete(command, caller, keeper)
            await self.places.release(warehouse.warehouse_id, warehouse.storage)
            if warehouse.storage.secret_id is not None:
                await self.secrets.forget(warehouse.warehouse_id, warehouse.storage.secret_id)

        async def again(_: Mapping[str, str]) -> None:
            """Nothing is left that could be asked about; the record is this principal's own."""

        keyed = Keyed(of_warehouse(command.warehouse_id), "delete-warehouse", {"force": command.force})
        await self.once(keyed, caller=caller, do=delete, again=again)

    async def _delete(self, command: DeleteWarehouse, caller: Caller, keeper: Keeper) -> Warehouse:
        action, edits = Action.WAREHOUSE_DELETE, self.edits
        await self.doors.specified(command.warehouse_id, action, caller=caller, inactive_too=True)
        async with edits.locked(command.warehouse_id, caller=caller) as (change, warehouse):
            if warehouse.protected and not command.force:
                raise warehouse_protected(warehouse.name)
            await change.warehouses.delete(command.warehouse_id)
            when = occasion(caller, edits.clock.now())
            change.ledger.emit(edits.announcer.warehouse(WarehouseChange.DELETED, warehouse, when))
            await keeper.keep(change, warehouse_id=warehouse.warehouse_id)
        return warehouse
