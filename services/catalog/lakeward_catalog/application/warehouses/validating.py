"""Checking a warehouse without making or changing one: what is refused where it counts is answered here, check by check.

The checks have the public API's names. Two that vending makes beside those count in theirs: a signature that reaches too far is a
scope that is not enforced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeVar

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.storage import Checked, CheckStatus, StorageJudge
from lakeward_catalog.application.warehouses.creating import CreateWarehouse, name_taken
from lakeward_catalog.application.warehouses.places import Places, has_moved, overlapped
from lakeward_catalog.application.warehouses.storage import ReplaceStorage, secret_after
from lakeward_catalog.domain.model import ManagedBy, ProjectId, Storage, WarehouseId
from lakeward_catalog.domain.warehouse_rules import check_restorable_for, check_warehouse_name, format_version_policy
from lakeward_catalog.domain.wording import warehouse_managed
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Family, Refusal, rule_of
from lakeward_servicekit.system import Clock, Ids

Result = TypeVar("Result")

_STORAGE_CHECKS: Final = (
    "storage-client-initialized",
    "lakekeeper-read-write",
    "vended-credentials-issued",
    "vended-credentials-read-write",
    "vended-credentials-scope-enforced",
    "cleanup",
)
# What vending checks beside, under the public name whose claim it makes false.
_COUNTS_AS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "remote-signing-scope-enforced": "vended-credentials-scope-enforced",
        "case-sensitivity-determined": "lakekeeper-read-write",
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class ValidateStorage:
    """Check a warehouse's storage; `instead` None: as it is."""

    warehouse_id: WarehouseId
    instead: ReplaceStorage | None = None


class _Report:
    """Runs checks one after another, and keeps what came of each."""

    def __init__(self, clock: Clock) -> None:
        self._clock: Final = clock
        self.checks: Final[list[Checked]] = []

    async def check(self, name: str, work: Callable[[], Awaitable[Result]]) -> Result | None:
        """What the work answers; None where it is refused, which is kept.

        Raises:
            Refusal: for what says nothing of the warehouse: who was to be asked is away.
        """
        begun = self._clock.now()
        try:
            result = await work()
        except Refusal as refusal:
            if rule_of(refusal.reason).family in {Family.FAMILY_UNAVAILABLE, Family.FAMILY_INTERNAL}:
                raise
            self.checks.append(Checked(name, CheckStatus.FAILED, self._clock.now() - begun, refusal))
            return None
        self.checks.append(Checked(name, CheckStatus.PASSED, self._clock.now() - begun))
        return result

    def skip(self, *names: str, reason: str) -> None:
        self.checks.extend(Checked(name, CheckStatus.SKIPPED, reason=reason) for name in names)


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseChecks:
    """Checks warehouses that are not made, and storages as they are or might be.

    A credential that was staged for it is kept for nobody, so vending sweeps it.
    """

    doors: Doors
    changes: Changes
    judge: StorageJudge
    places: Places
    clock: Clock
    ids: Ids

    async def of_creation(self, command: CreateWarehouse, *, caller: Caller) -> Sequence[Checked]:
        """What making a warehouse would come to.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN; SERVICE_UNAVAILABLE.
        """
        project = await self.doors.project(Action.PROJECT_CREATE_WAREHOUSE, caller=caller)
        report, warehouse_id = _Report(self.clock), WarehouseId(self.ids.uuid7())

        async def named() -> None:
            check_warehouse_name(command.name)
            if await self.doors.warehouses.find_by_name(project.project_id, command.name) is not None:
                raise name_taken(command.name)

        async def versions() -> None:
            format_version_policy(command.allowed_format_versions, command.default_format_version)

        async def managed() -> None:
            if command.managed_by is not ManagedBy.SELF and not self.doors.administrates(caller):
                raise warehouse_managed(command.name)

        async def formed() -> Storage:
            check_restorable_for(command.restorable_for)
            return await self.judge.normalise(command.profile, secret_id=command.secret_id, replaces=None)

        await report.check("format-version-policy-consistent", versions)
        await report.check("managed-by-allowed", managed)
        await report.check("warehouse-name-valid", named)
        storage = await report.check("profile-well-formed", formed)
        await self._prove(report, warehouse_id, storage, project_id=project.project_id, caller=caller)
        return report.checks

    async def of_storage(self, command: ValidateStorage, *, caller: Caller) -> Sequence[Checked]:
        """What the storage of a warehouse is, or would be.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN; SERVICE_UNAVAILABLE.
        """
        instead, report = command.instead, _Report(self.clock)
        alone = instead is not None and instead.profile is None
        action = Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL if alone else Action.WAREHOUSE_MODIFY_STORAGE
        warehouse = await self.doors.warehouse(
            command.warehouse_id, action, caller=caller, inactive_too=instead is None
        )
        old = warehouse.storage
        if instead is None:
            await self._examine(report, warehouse.warehouse_id, old, caller)
            return report.checks

        async def mutable() -> None:
            self.doors.check_manager(warehouse, caller=caller)

        secret_id = secret_after(instead.credential, old)
        profile = old.profile if instead.profile is None else instead.profile
        await report.check("spec-mutable", mutable)
        storage = await report.check(
            "profile-well-formed", lambda: self.judge.normalise(profile, secret_id=secret_id, replaces=None)
        )
        if storage is None:
            report.skip("profile-compatible", reason="the profile can't be used")
        else:
            storage = await report.check(
                "profile-compatible", lambda: self.judge.normalise(profile, secret_id=secret_id, replaces=old.profile)
            )
        moved = storage is not None and has_moved(old, storage)
        await self._prove(
            report, warehouse.warehouse_id, storage, project_id=warehouse.project_id, caller=caller, moved=moved
        )
        return report.checks

    async def _prove(
        self,
        report: _Report,
        warehouse_id: WarehouseId,
        storage: Storage | None,
        *,
        project_id: ProjectId,
        caller: Caller,
        moved: bool = True,
    ) -> None:
        """Whether nobody else is there, and whether the storage works."""
        if storage is None:
            report.skip("location-exclusive", *_STORAGE_CHECKS, reason="the profile can't be used")
            return

        async def exclusive() -> None:
            async with self.changes.change() as change:
                other = await overlapped(change, storage, folded=storage.folds, but_not=warehouse_id)
            if other is not None:
                raise await self.places.overlap(other, project_id=project_id, caller=caller)

        if not moved:
            report.skip("location-exclusive", reason="the place stays the same")
        elif await _failed(report, "location-exclusive", exclusive):
            # what would be tried would be written into another's place
            report.skip(*_STORAGE_CHECKS, reason="the place is another warehouse's")
            return
        await self._examine(report, warehouse_id, storage, caller)

    async def _examine(self, report: _Report, warehouse_id: WarehouseId, storage: Storage, caller: Caller) -> None:
        report.checks.extend(_public(await self.judge.examine(warehouse_id, storage, principal=caller.principal.key)))


async def _failed(report: _Report, name: str, work: Callable[[], Awaitable[None]]) -> bool:
    await report.check(name, work)
    return report.checks[-1].status is CheckStatus.FAILED


def _public(checks: Sequence[Checked]) -> Sequence[Checked]:
    """Vending's checks under the names that the public API has."""
    failed = {_COUNTS_AS[each.name]: each for each in checks if each.name in _COUNTS_AS and each.refusal is not None}
    shown = [each for each in checks if each.name not in _COUNTS_AS]
    return [dataclasses.replace(failed.get(each.name, each), name=each.name) for each in shown]
