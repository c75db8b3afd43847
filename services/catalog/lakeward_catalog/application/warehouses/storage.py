"""Replacing a warehouse's storage profile, its credential, or both.

Whether the new profile may replace the old one is judged before anything is written to the new place. The proof runs outside any
transaction; the row's version then says whether another change came first.
"""

from __future__ import annotations

import dataclasses
import enum
from uuid import UUID

from lakeward_catalog.application.access import open_warehouse
from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.ports import Clock, WarehouseStore
from lakeward_catalog.application.ports_storage import StorageJudge
from lakeward_catalog.application.warehouses.overlapping import overlap, overlapped
from lakeward_catalog.application.warehouses.places import Places, has_moved
from lakeward_catalog.application.warehouses.secrets import forget, kept_for
from lakeward_catalog.domain.model import Storage, Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


class Credential(enum.Enum):
    """What happens to a warehouse's credential where no new one is given."""

    KEEP = enum.auto()
    NONE = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateStorage:
    """Replace a storage profile.

    Attributes:
        profile: JSON of the public API's storage profile.
        credential: the secret that was staged with vending, or what happens without one.
    """

    warehouse_id: WarehouseId
    profile: bytes
    credential: UUID | Credential


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateStorageCredential:
    """Replace a credential; None: the warehouse goes on without one."""

    warehouse_id: WarehouseId
    secret_id: UUID | None


async def update_storage(
    command: UpdateStorage,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    judge: StorageJudge,
    places: Places,
    announcer: Announcer,
    clock: Clock,
) -> Warehouse:
    """Replace the profile of an active warehouse.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, STORAGE_OVERLAP, CONCURRENT_CHANGE; what `StorageJudge` raises.
    """
    warehouse = await open_warehouse(
        command.warehouse_id,
        Action.WAREHOUSE_MODIFY_STORAGE,
        caller=caller,
        authorizer=authorizer,
        warehouses=warehouses,
    )
    kept = warehouse.storage.secret_id if command.credential is Credential.KEEP else None
    return await _replace(
        warehouse,
        command.profile,
        kept if isinstance(command.credential, Credential) else command.credential,
        WarehouseChange.STORAGE_UPDATED,
        caller=caller,
        authorizer=authorizer,
        warehouses=warehouses,
        changes=changes,
        judge=judge,
        places=places,
        announcer=announcer,
        clock=clock,
    )


async def update_storage_credential(
    command: UpdateStorageCredential,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    judge: StorageJudge,
    places: Places,
    announcer: Announcer,
    clock: Clock,
) -> Warehouse:
    """Replace the credential of an active warehouse. The profile is judged again: some depend on the kind of credential.

    Raises:
        Refusal: as `update_storage`.
    """
    warehouse = await open_warehouse(
        command.warehouse_id,
        Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL,
        caller=caller,
        authorizer=authorizer,
        warehouses=warehouses,
    )
    return await _replace(
        warehouse,
        warehouse.storage.profile,
        command.secret_id,
        WarehouseChange.CREDENTIAL_UPDATED,
        caller=caller,
        authorizer=authorizer,
        warehouses=warehouses,
        changes=changes,
        judge=judge,
        places=places,
        announcer=announcer,
        clock=clock,
    )


async def _replace(
    warehouse: Warehouse,
    profile: bytes,
    secret_id: UUID | None,
    kind: WarehouseChange,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    changes: Changes,
    judge: StorageJudge,
    places: Places,
    announcer: Announcer,
    clock: Clock,
) -> Warehouse:
    old = warehouse.storage
    storage = await judge.normalise(profile, secret_id=secret_id, replaces=old.profile)
    storage = await judge.validate(warehouse.warehouse_id, storage, principal=caller.principal.key)
    fresh = secret_id if secret_id != old.secret_id else None
    async with (
        places.claimed_for(warehouse.warehouse_id, storage, project_id=warehouse.project_id, caller=caller) as claim,
        kept_for(judge, fresh, warehouse.warehouse_id, warehouses=warehouses),
    ):
        updated, other = await _write(
            warehouse, storage, kind, caller=caller, changes=changes, announcer=announcer, clock=clock
        )
        if other is not None:
            raise await overlap(other, project_id=warehouse.project_id, caller=caller, authorizer=authorizer)
    if claim.fresh and has_moved(old, storage):
        # Where the mark is a fresh one, the old place is another store, or this one without a mark: then this spares the new one.
        await places.release(warehouse.warehouse_id, old, before=claim.at)
    if old.secret_id is not None and old.secret_id != secret_id:
        await forget(judge, old.secret_id, warehouse.warehouse_id)
    return updated


async def _write(
    warehouse: Warehouse,
    storage: Storage,
    kind: WarehouseChange,
    *,
    caller: Caller,
    changes: Changes,
    announcer: Announcer,
    clock: Clock,
) -> tuple[Warehouse, Warehouse | None]:
    """The warehouse afterwards, and one that its new place overlaps; then nothing was written."""
    moved = (storage.place, storage.base_location) != (warehouse.storage.place, warehouse.storage.base_location)
    async with changes.change() as change:
        other = (
            await overlapped(change, storage, folded=storage.folds, but_not=warehouse.warehouse_id) if moved else None
        )
        if other is not None:
            return warehouse, other
        updated = await change.warehouses.update(warehouse, storage=storage)
        change.ledger.emit(announcer.warehouse(kind, updated, occasion(caller, clock.now())))
    return updated, None
