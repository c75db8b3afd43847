"""Replacing a warehouse's storage profile, its credential, or both.

Whether the new profile may replace the old one is judged before anything is written to the new place. The proof runs outside any
transaction; the row's version then says whether another change came first.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.storage import StorageJudge
from lakeward_catalog.application.warehouses.places import Places, has_moved, overlapped
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import Storage, Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock

_WHOLE: Final = Action.WAREHOUSE_MODIFY_STORAGE, WarehouseChange.STORAGE_UPDATED
_CREDENTIAL_ALONE: Final = Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL, WarehouseChange.CREDENTIAL_UPDATED


class OldCredential(enum.Enum):
    """What happens to a warehouse's credential where no new one is given."""

    KEPT = enum.auto()
    DROPPED = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class ReplaceStorage:
    """Replace a storage profile, its credential, or both.

    Attributes:
        profile: JSON of the public API's storage profile; None: the stored one stays, and only the credential's permission
            is needed.
        credential: the secret that was staged with vending, or what happens without one.
    """

    warehouse_id: WarehouseId
    profile: bytes | None
    credential: UUID | OldCredential


@dataclasses.dataclass(frozen=True, slots=True)
class StorageReplacements:
    """Replaces the storage of active warehouses. A stored profile is judged again: some depend on the kind of credential."""

    doors: Doors
    changes: Changes
    judge: StorageJudge
    places: Places
    secrets: Secrets
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ReplaceStorage, *, caller: Caller) -> Warehouse:
        """Replace one's.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED, STORAGE_OVERLAP, CONCURRENT_CHANGE; what
                `StorageJudge` raises.
        """
        action, kind = _CREDENTIAL_ALONE if command.profile is None else _WHOLE
        warehouse = await self.doors.specified(command.warehouse_id, action, caller=caller)
        old = warehouse.storage
        secret_id = secret_after(command.credential, old)
        profile = old.profile if command.profile is None else command.profile
        storage = await self.judge.normalise(profile, secret_id=secret_id, replaces=old.profile)
        storage = await self.judge.validate(warehouse.warehouse_id, storage, principal=caller.principal.key)
        fresh = secret_id if secret_id != old.secret_id else None
        project_id = warehouse.project_id
        async with (
            self.places.claimed_for(warehouse.warehouse_id, storage, project_id=project_id, caller=caller) as claim,
            self.secrets.kept_for(warehouse.warehouse_id, fresh),
        ):
            updated, other = await self._write(warehouse, storage, kind, caller)
            if other is not None:
                raise await self.places.overlap(other, project_id=project_id, caller=caller)
        if claim.fresh and has_moved(old, storage):
            # A fresh mark says that the old place is another store, or this one without a mark: then this spares the new one.
            await self.places.release(warehouse.warehouse_id, old, before=claim.at)
        if old.secret_id is not None and old.secret_id != secret_id:
            await self.secrets.forget(warehouse.warehouse_id, old.secret_id)
        return updated

    async def _write(
        self, warehouse: Warehouse, storage: Storage, kind: WarehouseChange, caller: Caller
    ) -> tuple[Warehouse, Warehouse | None]:
        """The warehouse afterwards, and one that its new place overlaps; then nothing was written."""
        async with self.changes.change() as change:
            if has_moved(warehouse.storage, storage):
                other = await overlapped(change, storage, folded=storage.folds, but_not=warehouse.warehouse_id)
                if other is not None:
                    return warehouse, other
            updated = await change.warehouses.update(dataclasses.replace(warehouse, storage=storage))
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.warehouse(kind, updated, when, before=warehouse))
        return updated, None


def secret_after(credential: UUID | OldCredential, old: Storage) -> UUID | None:
    """Which secret a storage has once its credential was replaced; None: none."""
    if isinstance(credential, OldCredential):
        return old.secret_id if credential is OldCredential.KEPT else None
    return credential
