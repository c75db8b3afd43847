"""Which roles callers hold, and what they hold on places above what they see, remembered under the revision of the grants.

All that changes it moves the revision: members and owners that are given or taken, roles that go, roles that are made with
an owner, what is given or taken on a place, and places that move, go, or are managed otherwise. So a statement that is told
who its caller is, and reads the revision too, needs not follow roles within roles; and one about a table needs not look at
all that is above it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from lakeward_authz.adapters.postgres.subjects import SUBJECTS, for_several
from lakeward_authz.domain.permissions.objects import Subject
from lakeward_servicekit.postgres.pools import Pool

HELD: Final = f"""
with recursive {SUBJECTS} select subjects, (select sum(revision) from revisions)::bigint from who
"""
_HELD_BY_SEVERAL: Final = for_several(HELD)
_MOST: Final = 10_000
_MOST_PLACES: Final = 100_000  # of about 300 bytes each
_Caller: TypeAlias = tuple[Subject, tuple[Subject, ...]]


Place: TypeAlias = tuple[str, str, bytes, bytes]
"""Type, project, warehouse and id of an object, as rows have them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """A caller as it was at a revision.

    Attributes:
        subjects: itself, with all roles that it holds.
        places: what it holds on warehouses that it sees, and on namespaces around tabulars that it sees; as bits of their
            types. Of anything else nothing is remembered, so what is hidden takes what is absent takes.
    """

    subjects: Sequence[str]
    revision: int
    places: dict[Place, int] = dataclasses.field(default_factory=dict, compare=False)


class Holders:
    """Remembers them, in memory.

    Args:
        pool: of authz's schema, on the primary.
        most: callers that are remembered; with one more all are forgotten.
        most_places: places of theirs; likewise.
    """

    def __init__(self, pool: Pool, *, most: int = _MOST, most_places: int = _MOST_PLACES) -> None:
        """Know none."""
        self._pool: Final = pool
        self._most: Final = most
        self._most_places: Final = most_places
        self._revision = -1
        self._known: dict[_Caller, Held] = {}
        self._places = 0

    def known(self, subject: Subject, also: Sequence[Subject] = ()) -> Held | None:
        """The caller as it was known last, where it was; as `of`."""
        return self._known.get((subject, tuple(also)))

    def keep(self, held: Held, places: Mapping[Place, int]) -> None:
        """Remember what a caller that is known holds on places, which was read under the same revision."""
        new = {place: its for place, its in places.items() if place not in held.places}
        if held.revision != self._revision or not new:
            return
        if self._places + len(new) > self._most_places:
            self._known, self._places = {}, 0
            return
        held.places.update(new)
        self._places += len(new)

    async def of(self, subject: Subject, also: Sequence[Subject] = (), *, fresh: bool = False) -> Held:
        """The caller as it was known last; it counts where its revision is read again, or else is asked for `fresh`."""
        caller = (subject, tuple(also))
        known = None if fresh else self._known.get(caller)
        if known is not None:
            return known
        row = (
            await self._pool.fetchrow(_HELD_BY_SEVERAL, [subject, *also])
            if also
            else await self._pool.fetchrow(HELD, subject)
        )
        assert row is not None
        held = Held(row[0], row[1])
        if held.revision > self._revision or len(self._known) >= self._most:
            self._known, self._places = {}, 0
        self._revision = max(self._revision, held.revision)
        if held.revision == self._revision:
            self._known[caller] = held
        return held
