"""What shows in a warehouse follows from the revision of the grants, and from how much the caller owns there.

All that takes something away, moves it, or gives something on what is there already moves the revision. What is made moves none,
and shows to its owner by one ownership more; while the revision stands none goes, so an equal count is of the same grants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from lakeward_authz.adapters.postgres.subjects import MINE, SUBJECTS, for_several
from lakeward_authz.application.permissions import RightsReader, key_of, subject_of, token_roles_of
from lakeward_authz.domain.permissions.lakeward import OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL, Subject
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.postgres.pools import Pool

_OWNED: Final = f"""
select count(*) from grants g
 where g.subject = {{0}}.subject and g.relation = '{OWNERSHIP}' and g.project_id = {{1}} and g.warehouse_id = {{2}} offset 0
"""
STATE: Final = f"""
with recursive {SUBJECTS}
select (select sum(revision) from revisions)::bigint, (select subjects from who),
       (select sum(g.count) from {MINE} ({_OWNED.format("me", "$2", f"'{NIL}'")}) as g(count))::bigint,
       (select sum(g.count) from {MINE} ({_OWNED.format("me", "$2", "$3")}) as g(count))::bigint
"""
_STATE_OF_SEVERAL: Final = for_several(STATE)
# Of callers whose roles are known, each by its number.
STATES: Final = f"""
select a.n, (select sum(revision) from revisions)::bigint, sum(outside.count)::bigint, sum(inside.count)::bigint
  from unnest($1::int[], $2::text[], $3::text[], $4::uuid[]) as a(n, subject, project_id, warehouse_id),
       lateral ({_OWNED.format("a", "a.project_id", f"'{NIL}'")}) as outside(count),
       lateral ({_OWNED.format("a", "a.project_id", "a.warehouse_id")}) as inside(count)
 group by a.n
"""
_DIGEST_BYTES: Final = 8
_MOST: Final = 10_000  # callers whose roles are known
# Who asks in which project, with the roles that it has for this question alone.
_Caller: TypeAlias = tuple[Subject, tuple[Subject, ...], str]


class _Known(NamedTuple):
    """All subjects that a caller is, and how much they owned in the project itself."""

    subjects: tuple[str, ...]
    owned: int


class _Asked(NamedTuple):
    """How much somebody owns in a warehouse, of whom all subjects are known."""

    subjects: tuple[str, ...]
    project_id: str
    warehouse_id: UUID


class PostgresVisibleStates:
    """The `VisibleStates` on authz's rows, of warehouses and of what is in them.

    Who holds which roles is remembered under the revision that it was read with, and counts where that is read again with the
    rest: so the states of all who ask at one moment are one statement. A role that is made moves no revision, and its owner holds
    it; so what somebody owns in the project itself is counted as well.

    Args:
        pool: of authz's schema, on the primary.
        rights: knows which roles a token brings.
        settings: whatever else decides what shows, in words that differ where it does.
    """

    def __init__(self, pool: Pool, rights: RightsReader, *, settings: str = "") -> None:
        """Read through `pool`."""
        self._pool: Final = pool
        self._rights: Final = rights
        self._settings: Final = settings
        self._revision = -1
        self._callers: dict[_Caller, _Known] = {}
        self._joined: Final = Coalescer[_Asked, tuple[int, int, int]](self._ask, alike=True)

    async def of(self, principal: Principal, scope: ObjectRef) -> str:
        """See `VisibleStates`."""
        key = key_of(scope)
        if key.warehouse_id == NIL:
            return ""
        subject, also = subject_of(principal), await token_roles_of(principal, self._rights, [key.project_id])
        revision, count = await self._state((subject, tuple(also), key.project_id), key.warehouse_id)
        rest = "\0".join([self._settings, *sorted(also)])
        digest = hashlib.blake2b(rest.encode(), digest_size=_DIGEST_BYTES).hexdigest()
        return f"{revision}.{count}.{digest}"

    async def _state(self, caller: _Caller, warehouse_id: UUID) -> tuple[int, int]:
        """The revision, and how much the caller owns in a warehouse."""
        subject, also, project_id = caller
        before, known = self._revision, self._callers.get(caller)
        if known is not None:
            revision, owned, count = await self._joined(_Asked(known.subjects, project_id, warehouse_id))
            if (revision, owned) == (before, known.owned):
                return revision, count
        row = (
            await self._pool.fetchrow(_STATE_OF_SEVERAL, [subject, *also], project_id, warehouse_id)
            if also
            else await self._pool.fetchrow(STATE, subject, project_id, warehouse_id)
        )
        assert row is not None
        revision, subjects, owned, count = row
        self._keep(caller, revision, _Known(tuple(subjects), owned))
        return revision, count

    async def _ask(self, questions: Sequence[_Asked]) -> Sequence[tuple[int, int, int]]:
        rows = [(number, subject, *asked[1:]) for number, asked in enumerate(questions) for subject in asked.subjects]
        found = await self._pool.fetch(STATES, *map(list, zip(*rows, strict=True)))
        states = {number: (revision, owned, count) for number, revision, owned, count in found}
        return [states[number] for number in range(len(questions))]

    def _keep(self, caller: _Caller, revision: int, known: _Known) -> None:
        if revision > self._revision or len(self._callers) >= _MOST:
            self._callers = {}
        self._revision = max(self._revision, revision)
        if revision == self._revision:
            self._callers[caller] = known
