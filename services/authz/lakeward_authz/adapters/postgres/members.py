"""Who is in which role: grants of the relation "assignee" on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.roles import COLUMNS, key_of_role, role_of
from lakeward_authz.application.members import Member, MemberKind, MemberUser
from lakeward_authz.application.permissions import Grant
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE
from lakeward_authz.domain.permissions.objects import NIL, Subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.roles import Role, no_such_role
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection, Pool

if TYPE_CHECKING:
    from asyncpg import Record

_USER: Final = MemberKind.USER.value
_ROLE: Final = MemberKind.ROLE.value
_IN_ROLE: Final = f"g.warehouse_id = '{NIL}' and g.kind = 'role' and g.relation = '{ASSIGNEE}'"
# Held, so that none of them is deleted before its membership is there: what is deleted takes its memberships along. A user's row
# stays when it is deleted, so holding its key alone would hold nothing.
_HOLD_USERS: Final = """
select user_id from users where user_id = any($1::text[]) and deleted_at is null order by user_id for share
"""
_HOLD_ROLES: Final = """
select role_id from roles where role_id = any($1::uuid[]) and project_id = $2 order by role_id for key share
"""
# Roles that are in a role, itself counted: all of them where $5, else itself alone.
MEMBERS: Final = f"""
with recursive inside(role_id) as (
    select $2::uuid
    union
    select substr(g.subject, {len(_ROLE) + 1})::uuid from inside i
      join grants g on g.project_id = $1 and g.object_id = i.role_id and {_IN_ROLE} and starts_with(g.subject, '{_ROLE}')
     where $5),
found(subject) as (
    select distinct g.subject from inside i join grants g on g.project_id = $1 and g.object_id = i.role_id and {_IN_ROLE}
     where starts_with(g.subject, $3) and g.subject > $4)
select f.subject, u.name, u.email, u.kind, {COLUMNS}
  from found f
  left join users u on starts_with(f.subject, '{_USER}') and u.user_id = substr(f.subject, {len(_USER) + 1})
       and u.deleted_at is null
  left join roles r on starts_with(f.subject, '{_ROLE}')
       and r.role_id = case when starts_with(f.subject, '{_ROLE}') then substr(f.subject, {len(_ROLE) + 1})::uuid end
 where starts_with(f.subject, '{_USER}') or r.role_id is not null
 order by f.subject limit $6
"""
ROLES_OF: Final = f"""
with recursive held(role_id) as (
    select g.object_id from grants g where g.subject = $1 and g.project_id = $2 and {_IN_ROLE}
    union
    select g.object_id from held h
      join grants g on g.subject = '{_ROLE}' || h.role_id and g.project_id = $2 and {_IN_ROLE}
     where $4)
select {COLUMNS} from held h join roles r on r.role_id = h.role_id where r.role_id > $3 order by r.role_id limit $5
"""


class PostgresMembers:
    """The `MemberStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        grants: keeps memberships.
    """

    def __init__(self, pool: Pool, grants: PostgresGrants) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._grants = grants

    async def add(self, role: Role, members: Sequence[Subject]) -> bool:
        """See `MemberStore`."""
        writes = [Grant(member, ASSIGNEE) for member in members]
        async with self._pool.transaction() as connection:
            await _hold(connection, role, members)
            return await self._grants.change_in(connection, key_of_role(role), writes=writes, deletes=())

    async def remove(self, role: Role, member: Subject) -> bool:
        """See `MemberStore`."""
        return await self._grants.change(key_of_role(role), writes=(), deletes=[Grant(member, ASSIGNEE)])

    async def members(
        self, role: Role, *, kind: MemberKind | None, transitive: bool, after: str, limit: int
    ) -> Sequence[Member]:
        """See `MemberStore`."""
        begins = "" if kind is None else kind.value
        rows = await self._pool.fetch(MEMBERS, role.project_id, role.role_id, begins, after, transitive, limit)
        return [_member(row) for row in rows]

    async def roles_of(
        self, member: Subject, project_id: str, *, transitive: bool, after: str, limit: int
    ) -> Sequence[Role]:
        """See `MemberStore`."""
        behind = UUID(after) if after else NIL
        return [role_of(row) for row in await self._pool.fetch(ROLES_OF, member, project_id, behind, transitive, limit)]


async def _hold(connection: Connection, role: Role, members: Sequence[Subject]) -> None:
    users = [member.removeprefix(_USER) for member in members if member.startswith(_USER)]
    there = {row["user_id"] for row in await connection.fetch(_HOLD_USERS, users)} if users else set()
    for user_id in users:
        if user_id not in there:
            raise Refusal(
                Reason.REASON_ROLE_MEMBER_UNKNOWN,
                f"there is no user {user_id!r} to put into the role; POST /management/v1/user records one",
                user=user_id,
            )
    roles = [UUID(member.removeprefix(_ROLE)) for member in members if member.startswith(_ROLE)]
    known = {row["role_id"] for row in await connection.fetch(_HOLD_ROLES, roles, role.project_id)} if roles else set()
    for role_id in roles:
        if role_id not in known:
            raise no_such_role(role_id)


def _member(row: Record) -> Member:
    subject, name, email, kind, *role = row
    if subject.startswith(_ROLE):
        return role_of(role)
    profile = None if kind is None else Profile(name, email, UserKind(kind))
    return MemberUser(UserId(subject.removeprefix(_USER)), profile)
