"""What shows in a warehouse follows from the revision of the grants, and from how much the caller owns there.

All that takes something away, moves it, or gives something on what is there already moves the revision. What is made moves none,
and shows to its owner by one ownership more; while the revision stands none goes, so an equal count is of the same grants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from lakeward_authz.adapters.postgres.holders import Holders
from lakeward_authz.application.permissions import RightsReader, key_of, subject_of, token_roles_of
from lakeward_authz.domain.permissions.lakeward import OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.postgres.pools import Pool

_OWNED: Final = f"""
select count(*) from grants g
 where g.subject = {{0}}.subject and g.relation = '{OWNERSHIP}' and g.project_id = {{1}} and g.warehouse_id = {{2}} offset 0
"""
# Of callers whose roles are known, each by its number.
STATES: Final = f"""
select a.n, (select sum(revision) from revisions)::bigint, sum(g.count)::bigint
  from unnest($1::int[], $2::text[], $3::text[], $4::uuid[]) as a(n, subject, project_id, warehouse_id),
       lateral ({_OWNED.format("a", "a.project_id", "a.warehouse_id")}) as g(count)
 group by a.n
"""
_DIGEST_BYTES: Final = 8
_ATTEMPTS: Final = 5


class _Asked(NamedTuple):
    """How much somebody owns in a warehouse, of whom all subjects are known."""

    subjects: tuple[str, ...]
    project_id: str
    warehouse_id: UUID


class PostgresVisibleStates:
    """The `VisibleStates` on authz's rows, of warehouses and of what is in them.

    The states of all who ask at one moment are one statement.

    Args:
        pool: of authz's schema, on the primary.
        rights: knows which roles a token brings.
        holders: know who holds which roles.
        settings: whatever else decides what shows, in words that differ where it does.
    """

    def __init__(self, pool: Pool, rights: RightsReader, holders: Holders, *, settings: str = "") -> None:
        """Read through `pool`."""
        self._pool: Final = pool
        self._rights: Final = rights
        self._holders: Final = holders
        self._settings: Final = settings
        self._joined: Final = Coalescer[_Asked, tuple[int, int]](self._ask, alike=True)

    async def of(self, principal: Principal, scope: ObjectRef) -> str:
        """See `VisibleStates`."""
        key = key_of(scope)
        if key.warehouse_id == NIL:
            return ""
        subject, also = subject_of(principal), await token_roles_of(principal, self._rights, [key.project_id])
        held = await self._holders.of(subject, also)
        for _ in range(_ATTEMPTS):
            revision, count = await self._joined(_Asked(tuple(held.subjects), key.project_id, key.warehouse_id))
            if revision == held.revision:
                break
            held = await self._holders.of(subject, also, fresh=True)
        else:
            return ""  # rights are given or taken faster than they are read: nothing to be remembered
        rest = "\0".join([self._settings, *sorted(also)])
        digest = hashlib.blake2b(rest.encode(), digest_size=_DIGEST_BYTES).hexdigest()
        return f"{revision}.{count}.{digest}"

    async def _ask(self, questions: Sequence[_Asked]) -> Sequence[tuple[int, int]]:
        rows = [(number, subject, *asked[1:]) for number, asked in enumerate(questions) for subject in asked.subjects]
        found = await self._pool.fetch(STATES, *map(list, zip(*rows, strict=True)))
        states = {number: (revision, count) for number, revision, count in found}
        return [states[number] for number in range(len(questions))]
