"""Renaming, activating, deactivating and deleting warehouses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from lakeward_catalog.application.access import open_warehouse
from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports import Clock, WarehouseStore
from lakeward_catalog.application.ports_storage import StorageJudge
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import forget
from lakeward_catalog.domain.model import Warehouse, WarehouseId
from lakeward_catalog.domain.warehouse_rules import check_warehouse_name
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
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
class DeleteWarehouse:
    """Delete an empty warehouse; `force` overrides protection."""

    warehouse_id: WarehouseId
    force: bool = False


async def rename_warehouse(
    command: RenameWarehouse,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    announcer: Announcer,
    clock: Clock,
) -> Warehouse:
    """Rename an active warehouse. A name that it has already is no change, and no event.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, INVALID_WAREHOUSE_NAME, WAREHOUSE_EXISTS.
    """
    await open_warehouse(
        command.warehouse_id, Action.WAREHOUSE_RENAME, caller=caller, authorizer=authorizer, warehouses=warehouses
    )
    check_warehouse_name(command.name)
    async with changes.change() as change:
        warehouse = await change.warehouses.lock(command.warehouse_id)
        if warehouse is None:
            raise no_such_warehouse(command.warehouse_id)
        if warehouse.name == command.name:
            return warehouse
        renamed = await change.warehouses.update(warehouse, name=command.name)
        told = {"old-name": warehouse.name}
        event = announcer.warehouse(WarehouseChange.RENAMED, renamed, occasion(caller, clock.now()), data=told)
        change.ledger.emit(event)
    return renamed


async def set_serving(
    warehouse_id: WarehouseId,
    *,
    active: bool,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    announcer: Announcer,
    clock: Clock,
) -> None:
    """Let a warehouse serve, or stop it. Where it is so already nothing changes.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
    """
    action, kind = _SERVING[active]
    await open_warehouse(
        warehouse_id, action, caller=caller, authorizer=authorizer, warehouses=warehouses, inactive_too=True
    )
    async with changes.change() as change:
        warehouse = await change.warehouses.lock(warehouse_id)
        if warehouse is None:
            raise no_such_warehouse(warehouse_id)
        if warehouse.active is active:
            return
        updated = await change.warehouses.update(warehouse, active=active)
        change.ledger.emit(announcer.warehouse(kind, updated, occasion(caller, clock.now())))


async def delete_warehouse(
    command: DeleteWarehouse,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    judge: StorageJudge,
    places: Places,
    once: Once,
    announcer: Announcer,
    clock: Clock,
) -> None:
    """Delete an empty warehouse, active or not; then release its place and forget its secret. Its files stay.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_PROTECTED, WAREHOUSE_NOT_EMPTY.
    """

    async def delete(keeper: Keeper) -> None:
        await open_warehouse(
            command.warehouse_id,
            Action.WAREHOUSE_DELETE,
            caller=caller,
            authorizer=authorizer,
            warehouses=warehouses,
            inactive_too=True,
        )
        async with changes.change() as change:
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
            change.ledger.emit(announcer.warehouse(WarehouseChange.DELETED, warehouse, occasion(caller, clock.now())))
            await keeper.keep(change, warehouse_id=warehouse.warehouse_id)
        await places.release(warehouse.warehouse_id, warehouse.storage)
        if warehouse.storage.secret_id is not None:
            await forget(judge, warehouse.storage.secret_id, warehouse.warehouse_id)

    async def again(_: Mapping[str, str]) -> None:
        """Nothing is left that could be asked about; the record is this principal's own."""

    keyed = Keyed(of_warehouse(command.warehouse_id), "delete-warehouse", {"force": command.force})
    await once(keyed, caller=caller, do=delete, again=again)
