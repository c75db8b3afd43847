"""Renaming, activating, deactivating, protecting and deleting warehouses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import Warehouse, WarehouseId
from lakeward_catalog.domain.warehouse_rules import check_warehouse_name
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal

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
class DeleteWarehouse:
    """Delete an empty warehouse; `force` overrides protection."""

    warehouse_id: WarehouseId
    force: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseRenames:
    """Renames active warehouses. A name that one has already is no change, and no event."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: RenameWarehouse, *, caller: Caller) -> Warehouse:
        """Rename one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, INVALID_WAREHOUSE_NAME, WAREHOUSE_EXISTS.
        """
        await self.doors.warehouse(command.warehouse_id, Action.WAREHOUSE_RENAME, caller=caller)
        check_warehouse_name(command.name)
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(command.warehouse_id)
            if warehouse is None:
                raise no_such_warehouse(command.warehouse_id)
            if warehouse.name == command.name:
                return warehouse
            renamed = await change.warehouses.update(dataclasses.replace(warehouse, name=command.name))
            when, told = occasion(caller, self.clock.now()), {"old-name": warehouse.name}
            change.ledger.emit(self.announcer.warehouse(WarehouseChange.RENAMED, renamed, when, data=told))
        return renamed


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseSwitches:
    """Lets warehouses serve, and stops them. Where it is so already nothing changes."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: SwitchWarehouse, *, caller: Caller) -> None:
        """Let one serve, or stop it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        action, kind = _SERVING[command.active]
        await self.doors.warehouse(command.warehouse_id, action, caller=caller, inactive_too=True)
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(command.warehouse_id)
            if warehouse is None:
                raise no_such_warehouse(command.warehouse_id)
            if warehouse.active is command.active:
                return
            updated = await change.warehouses.update(dataclasses.replace(warehouse, active=command.active))
            change.ledger.emit(self.announcer.warehouse(kind, updated, occasion(caller, self.clock.now())))


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseProtections:
    """Protects warehouses, active or not, and takes their protection away. Where it is so already nothing changes."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ProtectWarehouse, *, caller: Caller) -> Warehouse:
        """Protect one, or take its protection away.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        action = Action.WAREHOUSE_SET_PROTECTION
        await self.doors.warehouse(command.warehouse_id, action, caller=caller, inactive_too=True)
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(command.warehouse_id)
            if warehouse is None:
                raise no_such_warehouse(command.warehouse_id)
            if warehouse.protected is command.protected:
                return warehouse
            updated = await change.warehouses.update(dataclasses.replace(warehouse, protected=command.protected))
            when, told = occasion(caller, self.clock.now()), {"protected": updated.protected}
            change.ledger.emit(self.announcer.warehouse(WarehouseChange.PROTECTION_UPDATED, updated, when, data=told))
        return updated


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseDeletions:
    """Deletes empty warehouses, active or not; then their places are released and their secrets forgotten. Files stay."""

    doors: Doors
    changes: Changes
    places: Places
    secrets: Secrets
    once: Once
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: DeleteWarehouse, *, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_PROTECTED, WAREHOUSE_NOT_EMPTY.
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
        await self.doors.warehouse(command.warehouse_id, Action.WAREHOUSE_DELETE, caller=caller, inactive_too=True)
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(command.warehouse_id)
            if warehouse is None:
                raise no_such_warehouse(command.warehouse_id)
            if warehouse.protected and not command.force:
                raise Refusal(
                    Reason.REASON_WAREHOUSE_PROTECTED,
                    f"warehouse {warehouse.name!r} is protected; take its protection away first, or use force",
                    warehouse=warehouse.name,
                )
            await change.warehouses.delete(command.warehouse_id)
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.warehouse(WarehouseChange.DELETED, warehouse, when))
            await keeper.keep(change, warehouse_id=warehouse.warehouse_id)
        return warehouse
