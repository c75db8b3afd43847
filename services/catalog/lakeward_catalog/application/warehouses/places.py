"""Having a warehouse's place marked in its store, around the change that makes the warehouse lie there.

The catalog compares the places that it knows, by the spelling of their endpoints; a store can be reached by others, and by other
installations. So the store itself says that a place is taken. A mark whose warehouse is no more, as a crash or a store's outage
leaves one behind, is taken over by this installation once it is older than any claim that may yet become a warehouse.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.placing import base_of
from lakeward_catalog.application.ports.storage import PlaceMark, StorageJudge
from lakeward_catalog.domain.model import ProjectId, Storage, Warehouse, WarehouseId
from lakeward_locations.location import Location
from lakeward_servicekit.errors import CommitStateUnknown, Reason, Refusal
from lakeward_servicekit.system import Clock

_log = logging.getLogger(__name__)

# A claim becomes a row within the one, or not at all; a mark without a row is nobody's after the other.
GOOD_FOR: Final = timedelta(minutes=5)
LEFT_BEHIND_AFTER: Final = timedelta(minutes=10)
# Each look finds one mark that is in the way; a place with more that were left behind takes another attempt.
_LOOKS: Final = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Places:
    """Has places marked as a warehouse's, and unmarked, and refuses those that are another's."""

    doors: Doors
    judge: StorageJudge
    clock: Clock

    @contextlib.asynccontextmanager
    async def claimed_for(
        self, warehouse_id: WarehouseId, storage: Storage, *, project_id: ProjectId, caller: Caller
    ) -> AsyncIterator[Claim]:
        """Claim a place for what the block does; where that is refused and the warehouse does not lie there, release it.

        Raises:
            Refusal: STORAGE_OVERLAP; what `StorageJudge.claim_place` raises.
        """
        claim = await self._claim(warehouse_id, storage, project_id=project_id, caller=caller)
        try:
            yield claim
        except CommitStateUnknown:
            raise  # a row may yet lie there
        except Refusal:
            if claim.fresh and not await self._lies_there(warehouse_id, storage):
                await self.release(warehouse_id, storage)
            raise

    async def release(self, warehouse_id: WarehouseId, storage: Storage, *, before: datetime | None = None) -> None:
        """Release a place, as well as may be: what was done is done, so a failure is only logged.

        A mark that stays is taken over by whoever claims the place next, once its warehouse is no more.
        """
        try:
            await self.judge.release_place(warehouse_id, storage, claimed_before=before)
        except Refusal as refusal:
            _log.warning(
                "a place that no warehouse lies at could not be released",
                extra={"base": storage.base_location, "warehouse_id": str(warehouse_id), "reason": str(refusal)},
            )

    async def overlap(
        self, other: Warehouse, *, project_id: ProjectId, caller: Caller, mark: str | None = None
    ) -> Refusal:
        """The refusal of storage that overlaps another warehouse's; it names only one that the caller sees in its project.

        `mark` is the object in the store that says so, where that is how it is known: a warehouse that moved away while its old
        store was unreachable has left it there, and somebody may know.
        """
        sees = other.project_id == project_id and await self.doors.sees(other, caller=caller)
        named = other.name if sees else "one that you can't see"
        by = "" if mark is None else f", whose mark is {mark}"
        return Refusal(
            Reason.REASON_STORAGE_OVERLAP,
            f"the storage overlaps that of another warehouse ({named}){by}; choose another bucket or key prefix",
            other=named,
        )

    async def _claim(
        self, warehouse_id: WarehouseId, storage: Storage, *, project_id: ProjectId, caller: Caller
    ) -> Claim:
        installation = (await self.doors.servers.server()).installation_id
        at = self.clock.now()
        ended: list[UUID] = []
        while True:
            claimed = await self.judge.claim_place(
                warehouse_id, storage, installation=installation, at=at, takes_over=ended
            )
            other = claimed.other
            if other is None:
                return Claim(at, fresh=claimed.fresh, clock=self.clock)
            if other.warehouse_id is None or other.installation != installation:
                raise _taken(other, ours=False)
            known = await self.doors.warehouses.find(other.warehouse_id)
            if known is not None:
                raise await self.overlap(known, project_id=project_id, caller=caller, mark=other.location)
            if other.claimed_at is None or at - other.claimed_at < LEFT_BEHIND_AFTER or len(ended) == _LOOKS:
                raise _taken(other, ours=True)
            ended.append(other.warehouse_id)

    async def _lies_there(self, warehouse_id: WarehouseId, storage: Storage) -> bool:
        """Whether a warehouse's row has, or might have, this place."""
        try:
            found = await self.doors.warehouses.find(warehouse_id)
        except Refusal:
            return True
        return found is not None and _place(found.storage) == _place(storage)


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """A place that is marked as a warehouse's.

    Attributes:
        at: when it was claimed.
        fresh: whether the mark was made by this claim.
    """

    at: datetime
    fresh: bool
    clock: Clock

    def check(self) -> None:
        """Refuse to write a row by a claim that somebody may take over meanwhile.

        Raises:
            Refusal: DEADLINE_EXCEEDED.
        """
        if self.clock.now() - self.at > GOOD_FOR:
            raise Refusal(
                Reason.REASON_DEADLINE_EXCEEDED,
                f"the storage was claimed over {GOOD_FOR.total_seconds():.0f} s ago; nothing was changed, so try again",
            )


async def overlapped(
    change: Change, storage: Storage, *, folded: bool, but_not: WarehouseId | None = None
) -> Warehouse | None:
    """A warehouse whose storage overlaps this; nobody can make one until the transaction ends.

    Warehouses of all projects are compared, since files don't know projects: two at one place could purge each other.

    Args:
        change: the transaction.
        storage: what it is about; `place` is one store, so what is known of its case goes for the others there.
        folded: whether places that differ by case alone count as one. Before the storage is proved, that is not known.
        but_not: the warehouse itself.
    """
    await change.warehouses.lock_place(storage.place)
    base = Location.parse(storage.base_location)
    for other in await change.warehouses.at(storage.place):
        if other.warehouse_id != but_not and base_of(other).overlaps(base, folded=folded):
            return other
    return None


def has_moved(old: Storage, new: Storage) -> bool:
    """Whether the catalog knows the two as different places; they may be two spellings of one."""
    return _place(old) != _place(new)


def _place(storage: Storage) -> tuple[str, str]:
    return storage.place, storage.base_location


def _taken(other: PlaceMark, *, ours: bool) -> Refusal:
    """The refusal for a mark of a warehouse that this catalog does not have."""
    if other.warehouse_id is None:
        named, whose = "an unknown one", "an object that is no mark of a warehouse"
    elif ours:
        named, whose = str(other.warehouse_id), f"the mark of a warehouse {other.warehouse_id} that is just being made"
    else:
        named = str(other.warehouse_id)
        whose = f"the mark of warehouse {named} of another installation ({other.installation})"
    return Refusal(
        Reason.REASON_STORAGE_OVERLAP,
        f"the storage overlaps that of another warehouse: {other.location} is {whose}; choose another bucket or key prefix, "
        "or delete that object if you know that nobody uses the place",
        other=named,
    )
