"""Making a warehouse: a saga over vending and the catalog's database, each step of which may be repeated.

    decide -> normalise -> look for overlaps -> prove the storage -> claim its place -> keep the secret
        -> row and event, overlaps looked for again

The secret is kept before the row: vending then refuses a secret that is another warehouse's, and a row never points to a secret
that will be swept. The place is claimed before the row, since the store alone knows that two endpoints are one. A step that is
refused forgets the secret and releases the place again. A crash in between leaves one encrypted secret without a warehouse and a
mark that is taken over later, and nothing else (docs/adr/0004-sagas.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_project
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.ports.storage import StorageJudge
from lakeward_catalog.application.warehouses.places import Places, overlapped
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import ManagedBy, Project, Storage, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.warehouse_rules import check_restorable_for, check_warehouse_name, format_version_policy
from lakeward_catalog.domain.wording import warehouse_managed
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True)
class CreateWarehouse:
    """Make a warehouse in the project that the call names.

    Attributes:
        profile: JSON of the public API's storage profile.
        secret_id: the secret that was staged with vending; None: none.
        restorable_for: how long what is dropped can be restored; None: drops are final.
        allowed_format_versions: empty: all.
        default_format_version: None: 2 where it is allowed, else the highest.
        managed_by: administrators of the instance alone may have it managed by them.
    """

    name: str
    profile: bytes
    secret_id: UUID | None = None
    restorable_for: timedelta | None = None
    allowed_format_versions: tuple[int, ...] = ()
    default_format_version: int | None = None
    managed_by: ManagedBy = ManagedBy.SELF


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseCreations:
    """Makes warehouses, each once what would be vended was proved by real use."""

    doors: Doors
    changes: Changes
    judge: StorageJudge
    places: Places
    secrets: Secrets
    once: Once
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def __call__(self, command: CreateWarehouse, *, caller: Caller) -> Warehouse:
        """Make one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, WAREHOUSE_MANAGED; INVALID_WAREHOUSE_NAME,
                INVALID_FORMAT_VERSION_POLICY, INVALID_FIELD, WAREHOUSE_EXISTS, STORAGE_OVERLAP; what `StorageJudge` raises.
        """
        place = of_project(self.doors.chosen_project(caller))
        keyed = Keyed(place, "create-warehouse", _asked(command), Payload(command.profile))
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(command, caller, keeper),
            again=lambda kept: self._again(kept, caller),
        )

    async def _create(self, command: CreateWarehouse, caller: Caller, keeper: Keeper) -> Warehouse:
        project = await self.doors.project(Action.PROJECT_CREATE_WAREHOUSE, caller=caller)
        if command.managed_by is not ManagedBy.SELF and not self.doors.administrates(caller):
            raise warehouse_managed(command.name)
        await self._check(command, project)
        storage = await self.judge.normalise(command.profile, secret_id=command.secret_id, replaces=None)
        async with self.changes.change() as change:
            other = await overlapped(change, storage, folded=False)
        if other is not None:
            raise await self.places.overlap(other, project_id=project.project_id, caller=caller)
        warehouse_id = WarehouseId(self.ids.uuid7())
        storage = await self.judge.validate(warehouse_id, storage, principal=caller.principal.key)
        warehouse = self._made(command, project, storage, warehouse_id)
        async with (
            self.places.claimed_for(warehouse_id, storage, project_id=project.project_id, caller=caller) as claim,
            self.secrets.kept_for(warehouse_id, command.secret_id),
        ):
            async with self.changes.change() as change:
                claim.check()
                other = await overlapped(change, storage, folded=storage.folds)
                if other is None:
                    await change.warehouses.insert(warehouse, owner=caller.principal)
                    when = occasion(caller, warehouse.created_at)
                    change.ledger.emit(self.announcer.warehouse(WarehouseChange.CREATED, warehouse, when))
                    await keeper.keep(change, warehouse_id=warehouse.warehouse_id)
            if other is not None:
                raise await self.places.overlap(other, project_id=project.project_id, caller=caller)
        return warehouse

    async def _again(self, kept: Mapping[str, str], caller: Caller) -> Warehouse:
        warehouse_id = WarehouseId(UUID(kept["warehouse_id"]))
        return await self.doors.warehouse(warehouse_id, Action.WAREHOUSE_GET_METADATA, caller=caller, inactive_too=True)

    async def _check(self, command: CreateWarehouse, project: Project) -> None:
        """What can be refused before anything is asked of vending."""
        check_warehouse_name(command.name)
        format_version_policy(command.allowed_format_versions, command.default_format_version)
        check_restorable_for(command.restorable_for)
        if await self.doors.warehouses.find_by_name(project.project_id, command.name) is not None:
            raise name_taken(command.name)

    def _made(
        self, command: CreateWarehouse, project: Project, storage: Storage, warehouse_id: WarehouseId
    ) -> Warehouse:
        allowed, default = format_version_policy(command.allowed_format_versions, command.default_format_version)
        return Warehouse(
            warehouse_id=warehouse_id,
            project_id=project.project_id,
            name=command.name,
            active=True,
            storage=storage,
            restorable_for=command.restorable_for,
            allowed_format_versions=allowed,
            default_format_version=default,
            protected=False,
            row_version=1,
            created_at=self.clock.now(),
            updated_at=None,
            managed_by=command.managed_by,
        )


def name_taken(name: str) -> Refusal:
    """The refusal of a name that another warehouse of the project has, inactive ones included."""
    return Refusal(
        Reason.REASON_WAREHOUSE_EXISTS,
        f"the project has a warehouse {name!r} already, without regard to case; choose another name",
        warehouse=name,
    )


def _asked(command: CreateWarehouse) -> dict[str, object]:
    # A repetition stages its credential again, so a secret's id says nothing of what is asked for.
    return {
        "name": name_key(command.name),
        "with_secret": command.secret_id is not None,
        "restorable_for": None if command.restorable_for is None else command.restorable_for.total_seconds(),
        "allowed_format_versions": command.allowed_format_versions,
        "default_format_version": command.default_format_version,
        "managed_by": command.managed_by.value,
    }
