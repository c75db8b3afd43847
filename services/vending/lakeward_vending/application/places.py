"""Mark a warehouse's place in its store, and take the mark away. `domain.place_marks` says what marks are and where."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING, Final

from lakeward_vending.application.refusals import FileExists, FileTooLarge, StoreDenied
from lakeward_vending.domain import place_marks
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.place_marks import PlaceMark

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncIterator, Collection
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.application.ports import ObjectStore
    from lakeward_vending.application.storages import Storages
    from lakeward_vending.domain.permit import Permit

_log = logging.getLogger(__name__)

_CONTENT_TYPE: Final = "application/json"
_ATTEMPTS: Final = 3
_PAGE: Final = 1000
# Enclosing places are asked about at once, but not all of the hundreds that a prefix of one-letter segments has.
_ASKED_AT_ONCE: Final = 8


@dataclasses.dataclass(frozen=True, slots=True)
class FoundMark:
    """A mark that stands in the way.

    Attributes:
        location: its own.
        mark: None for an object that is no mark.
    """

    location: str
    mark: PlaceMark | None


@dataclasses.dataclass(frozen=True, slots=True)
class Claimed:
    """What came of a claim.

    Attributes:
        other: whose the place is already; None: it is the claimant's.
        fresh: whether the mark was made now.
    """

    other: FoundMark | None
    fresh: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimPlace:
    """A claim of a place.

    Attributes:
        installation: whose warehouse it is.
        claimed_at: now.
        takes_over: warehouses of the installation that are no more, whose marks are replaced.
    """

    installation: UUID
    claimed_at: dt.datetime
    takes_over: Collection[UUID]


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceClaims:
    """Mark the permit's location as its warehouse's, unless it, or a place above or below it, is another's.

    The mark of the place itself is written on the condition that none is there, so of two claims at once one wins. The mark for
    places above and below is written before others' are looked for, so of two claims at once at least one sees the other. A
    credential that may not write at the top of the bucket makes no such mark: then the same place alone is told.

    Attributes:
        skip: whether the operator wants no store to be touched.

    Raises:
        Refusal: PERMIT_REFUSED, NO_SUCH_SECRET, and those of the store.
    """

    storages: Storages
    skip: bool

    async def __call__(self, command: ClaimPlace, *, permit: Permit) -> Claimed:
        """See the class."""
        permit.require(Purpose.VALIDATE, Access.READ_WRITE_DELETE)
        if self.skip:
            return Claimed(None, fresh=False)
        mark = PlaceMark(command.installation, permit.warehouse_id, command.claimed_at)
        place = _Place(permit.location, await self.storages.open(permit))
        claimed = await place.mark(mark, command.takes_over)
        if claimed.other is not None:
            return claimed
        other = await place.look_around(mark, command.takes_over)
        if other is None:
            return claimed
        if claimed.fresh:
            await place.unmark(permit.warehouse_id, claimed_before=None)
        return Claimed(other, fresh=False)


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceReleases:
    """Take the marks away that the permit's warehouse has at its location; another's stay, and those not `claimed_before`.

    Attributes and refusals are as with `PlaceClaims`.
    """

    storages: Storages
    skip: bool

    async def __call__(self, *, claimed_before: dt.datetime | None, permit: Permit) -> None:
        """See the class."""
        permit.require(Purpose.VALIDATE, Access.READ_WRITE_DELETE)
        if self.skip:
            return
        place = _Place(permit.location, await self.storages.open(permit))
        await place.unmark(permit.warehouse_id, claimed_before=claimed_before)


class _Place:
    """One warehouse's base in its store."""

    def __init__(self, base: Location, store: ObjectStore) -> None:
        self._base = base
        self._store = store

    async def mark(self, mark: PlaceMark, takes_over: Collection[UUID]) -> Claimed:
        """Mark the place itself.

        It is looked for before it is written, since there are stores that heed no condition and don't say so; by a listing, since
        others deny to read what is not there.
        """
        key = place_marks.own_key(self._base)
        last = FoundMark(self._location(key), None)
        for _ in range(_ATTEMPTS):
            listed = key in await self._store.list_page(key, limit=1)
            if not listed and await self._written(key, mark):
                return Claimed(None, fresh=True)
            found = await self._read(key)
            if found is None:
                continue
            last = found
            if found.mark is not None and found.mark.is_of(mark):
                return Claimed(None, fresh=False)
            if not _is_one_of(takes_over, found.mark, of=mark):
                return Claimed(found, fresh=False)
            await self._store.delete([key])
        return Claimed(last, fresh=False)

    async def look_around(self, mark: PlaceMark, takes_over: Collection[UUID]) -> FoundMark | None:
        """A mark of another's above or below, once this one is there to be seen."""
        own = place_marks.listed_key(self._base, mark.warehouse_id)
        try:
            await self._written(own, mark)
            async for key in self._around():
                if key == own:
                    continue
                found = await self._read(key)
                if found is None:
                    continue
                if not _is_one_of(takes_over, found.mark, of=mark):
                    return found
                await self._store.delete([key])
        except StoreDenied:
            # a credential for a prefix alone; marks of the same place are all that it can see
            _log.info("a credential may not mark places at the top of its bucket", extra={"base": str(self._base)})
        return None

    async def unmark(self, warehouse_id: UUID, *, claimed_before: dt.datetime | None) -> None:
        """Take the warehouse's marks away, the one that guards the place last."""
        own = place_marks.own_key(self._base)
        for key in (place_marks.listed_key(self._base, warehouse_id), own):
            try:
                found = await self._read(key)
                if found is None or found.mark is None or found.mark.warehouse_id != warehouse_id:
                    continue
                if claimed_before is None or found.mark.claimed_at < claimed_before:
                    await self._store.delete([key])
            except StoreDenied:
                if key == own:
                    raise

    async def _written(self, key: str, mark: PlaceMark) -> bool:
        """Whether the object was written now, and was not there before."""
        try:
            await self._store.write(key, mark.dump(), content_type=_CONTENT_TYPE)
        except FileExists:
            return False
        return True

    async def _read(self, key: str) -> FoundMark | None:
        """What lies there; None where nothing does any more, since it was seen."""
        try:
            content = await self._store.read(key, limit=place_marks.MAX_BYTES)
        except FileTooLarge:
            return FoundMark(self._location(key), None)
        return None if content is None else FoundMark(self._location(key), place_marks.parse(content))

    async def _around(self) -> AsyncIterator[str]:
        """The keys of marks here and below, and then of those above."""
        for key in await self._store.list_page(place_marks.below_prefix(self._base), limit=_PAGE):
            yield key
        prefixes = place_marks.above_prefixes(self._base)
        for start in range(0, len(prefixes), _ASKED_AT_ONCE):
            asked = prefixes[start : start + _ASKED_AT_ONCE]
            for keys in await asyncio.gather(*(self._store.list_page(prefix, limit=_PAGE) for prefix in asked)):
                for key in keys:
                    yield key

    def _location(self, key: str) -> str:
        return f"{self._base.scheme}://{self._base.host}/{key}"


def _is_one_of(ended: Collection[UUID], found: PlaceMark | None, *, of: PlaceMark) -> bool:
    """Whether a mark is of a warehouse of the same installation that is no more."""
    return found is not None and found.installation == of.installation and found.warehouse_id in ended
