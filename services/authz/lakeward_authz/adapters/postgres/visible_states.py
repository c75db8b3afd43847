"""What shows in a warehouse follows from the revision of the grants, and from how many of them the caller has there.

All that takes something away, moves it, or gives something on what is there already moves the revision. What is made moves none,
and shows to its owner by one grant more; while the revision stands none goes, so an equal count is of the same grants.
"""

from __future__ import annotations

import hashlib
from typing import Final

from lakeward_authz.adapters.postgres.rights import GIVEN, MINE, SUBJECTS, for_several
from lakeward_authz.application.permissions import RightsReader, key_of, subject_of, token_roles_of
from lakeward_authz.domain.permissions.objects import NIL
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.postgres.pools import Pool

STATE: Final = f"""
with recursive {SUBJECTS}
select (select sum(revision) from revisions)::bigint,
       (select count(*) from {MINE} (
            select from grants g where {GIVEN} and g.project_id = $2 and g.warehouse_id = $3 offset 0) as g)
"""
_STATE_OF_SEVERAL: Final = for_several(STATE)
_DIGEST_BYTES: Final = 8


class PostgresVisibleStates:
    """The `VisibleStates` on authz's rows, of warehouses and of what is in them.

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

    async def of(self, principal: Principal, scope: ObjectRef) -> str:
        """See `VisibleStates`."""
        key = key_of(scope)
        if key.warehouse_id == NIL:
            return ""
        subject, also = subject_of(principal), await token_roles_of(principal, self._rights, [key.project_id])
        place = (key.project_id, key.warehouse_id)
        row = (
            await self._pool.fetchrow(_STATE_OF_SEVERAL, [subject, *also], *place)
            if also
            else await self._pool.fetchrow(STATE, subject, *place)
        )
        assert row is not None
        revision, count = row
        rest = "\0".join([self._settings, *sorted(also)])
        digest = hashlib.blake2b(rest.encode(), digest_size=_DIGEST_BYTES).hexdigest()
        return f"{revision}.{count}.{digest}"
