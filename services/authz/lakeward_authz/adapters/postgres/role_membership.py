"""Who may act as which role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.adapters.postgres.subjects import SUBJECTS, for_several
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_servicekit.authorization.principals import RoleId, UserId
from lakeward_servicekit.postgres.pools import Pool

_MAY_ASSUME: Final = f"""
with recursive {SUBJECTS}
select $3 = any(w.subjects)
  from objects o cross join who w where o.kind = 'role' and o.object_id = $2
"""
_PROJECT: Final = "select project_id from objects where kind = 'role' and object_id = $1"


class PostgresRoleMembership:
    """The `RoleMembership` on authz's rows.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def may_assume(self, user_id: UserId, role_id: RoleId, *, token_roles: Sequence[str] = ()) -> bool | None:
        """See `RoleMembership`."""
        role = UUID(role_id)
        subject, also = user_subject(user_id), list[Subject]()
        if token_roles:
            project_id: str | None = await self._pool.fetchval(_PROJECT, role)
            also += await PostgresRights(self._pool).bound(token_roles, [project_id] if project_id else [])
        statement = for_several(_MAY_ASSUME) if also else _MAY_ASSUME
        asked = [subject, *also] if also else subject
        may: bool | None = await self._pool.fetchval(statement, asked, role, role_subject(role))
        return may
