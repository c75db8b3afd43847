"""Which roles callers hold, remembered under the revision of the grants that they were read with.

All that changes it moves the revision: members and owners that are given or taken, roles that go, and roles that are made with an
owner. So a statement that is told who its caller is, and reads the revision too, needs not follow roles within roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from lakeward_authz.adapters.postgres.subjects import SUBJECTS, for_several
from lakeward_authz.domain.permissions.objects import Subject
from lakeward_servicekit.postgres.pools import Pool

HELD: Final = f"""
with recursive {SUBJECTS} select subjects, (select sum(revision) from revisions)::bigint from who
"""
_HELD_BY_SEVERAL: Final = for_several(HELD)
_MOST: Final = 10_000
_Caller: TypeAlias = tuple[Subject, tuple[Subject, ...]]


class Held(NamedTuple):
    """A caller with all roles that it holds, and the revision that this is of."""

    subjects: Sequence[str]
    revision: int


class Holders:
    """Remembers them, in memory.

    Args:
        pool: of authz's schema, on the primary.
        most: callers that are remembered; with one more all are forgotten.
    """

    def __init__(self, pool: Pool, *, most: int = _MOST) -> None:
        """Know none."""
        self._pool: Final = pool
        self._most: Final = most
        self._revision = -1
        self._known: dict[_Caller, Held] = {}

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
            self._known = {}
        self._revision = max(self._revision, held.revision)
        if held.revision == self._revision:
            self._known[caller] = held
        return held
