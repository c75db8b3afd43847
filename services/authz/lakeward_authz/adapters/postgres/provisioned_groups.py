"""Groups that identity providers send: roles of a provider, and who is in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.provisioned_filters import Wording
from lakeward_authz.adapters.postgres.roles import COLUMNS, PostgresRoles, key_of_role, role_of, taken_by
from lakeward_authz.application.announcements import RoleChange
from lakeward_authz.application.members import MemberKind
from lakeward_authz.application.permissions import Grant
from lakeward_authz.application.provisioned_groups import GroupChange, GroupMember, MembersChange, version_of
from lakeward_authz.application.provisioned_users import id_of
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE
from lakeward_authz.domain.permissions.objects import NIL, Subject, role_subject, user_subject
from lakeward_authz.domain.provisioning import Attribute, Filter, Membership, changed_meanwhile, member_unknown
from lakeward_authz.domain.roles import Role, name_key, no_such_role
from lakeward_authz.domain.search import trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.postgres.pools import Connection, Pool
from lakeward_servicekit.settings.provisioning import SCIM

_USER: Final = MemberKind.USER.value
_ROLE: Final = MemberKind.ROLE.value
_HELD: Final = f"""
select project_id, object_id, subject from {{table}}
 where warehouse_id = '{NIL}' and kind = 'role' and relation = '{ASSIGNEE}'
"""
# Also who is not active: it is in the group, and holds nothing by that until it is.
_IN_GROUPS: Final = f"({_HELD.format(table='grants')} union all {_HELD.format(table='suspended_grants')})"
_ATTRIBUTES: Final = {
    Attribute.ID: "r.role_id",
    Attribute.EXTERNAL_ID: "nullif(r.source_id, r.role_id::text)",
    Attribute.DISPLAY_NAME: "r.name",
    Attribute.CREATED_AT: "r.created_at",
    Attribute.UPDATED_AT: "coalesce(r.updated_at, r.created_at)",
    Attribute.MEMBER: f"""
exists (select from (select {{}} as value) v, {_IN_GROUPS} m
         where m.project_id = r.project_id and m.object_id = r.role_id
           and (v.value is null or m.subject = '{_ROLE}' || v.value
                or m.subject = any (select '{_USER}' || p.user_id from provisioned_users p where p.id::text = v.value)))
""",
}
_MEMBERS: Final = f"""
select m.object_id, p.id as person, p.user_name, r.role_id, r.name from {_IN_GROUPS} m
  left join provisioned_users p on starts_with(m.subject, '{_USER}') and p.user_id = substr(m.subject, {len(_USER) + 1})
  left join roles r on starts_with(m.subject, '{_ROLE}') and r.provider_id = '{SCIM}' and m.subject = '{_ROLE}' || r.role_id
 where m.project_id = $1 and m.object_id = any($2::uuid[]) and (p.id is not null or r.role_id is not null)
 order by m.object_id, p.id nulls last, r.role_id limit $3
"""
_GROUPS_OF: Final = f"""
with recursive inside(subject, group_id, direct) as (
    select m.subject, m.object_id, true from {_IN_GROUPS} m where m.project_id = $1 and m.subject = any($2::text[])
    union
    select i.subject, m.object_id, false from inside i join {_IN_GROUPS} m
        on m.project_id = $1 and m.subject = '{_ROLE}' || i.group_id
)
select i.subject, r.role_id, r.name, bool_or(i.direct) from inside i
  join roles r on r.role_id = i.group_id and r.provider_id = '{SCIM}'
 group by i.subject, r.role_id order by i.subject, r.role_id limit $3
"""
_SUBJECTS: Final = f"select subject from {_IN_GROUPS} m where project_id = $1 and object_id = $2"
_LOCK: Final = f"select {COLUMNS} from roles r where role_id = $1 for update"
_CHANGE: Final = f"""
update roles r set name = $2, name_key = $3, search = $4, provider_id = $5, source_id = $6,
                   updated_at = greatest($7, coalesce(updated_at, created_at) + interval '1 microsecond')
 where role_id = $1 returning {COLUMNS}
"""
# Held, so that none is gone before its membership is there: what is deleted takes its memberships along.
_PEOPLE: Final = "select id, user_id from provisioned_users where id = any($1::uuid[]) order by id for share"
_GROUPS: Final = f"""
select role_id from roles where role_id = any($1::uuid[]) and project_id = $2 and provider_id = '{SCIM}'
 order by role_id for key share
"""


class PostgresProvisionedGroups:
    """The `ProvisionedGroupStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        roles: keeps the roles that groups are.
        grants: keeps who is in them.
    """

    def __init__(self, pool: Pool, roles: PostgresRoles, grants: PostgresGrants) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._roles = roles
        self._grants = grants

    async def members(self, roles: Sequence[Role], *, most: int) -> Sequence[Sequence[GroupMember]]:
        """See `ProvisionedGroupStore`."""
        found: dict[UUID, list[GroupMember]] = {role.role_id: [] for role in roles}
        if not roles:
            return []
        rows = await self._pool.fetch(_MEMBERS, roles[0].project_id, list(found), most + 1)
        if len(rows) > most:
            expected = f"at most {most} members in one answer; leave them out by excludedAttributes=members"
            raise invalid_field("members", f"more than {most}", expected)
        for group, person, user_name, role_id, name in rows:
            if person is not None:
                found[group].append(GroupMember(person, MemberKind.USER, user_name))
            else:
                found[group].append(GroupMember(role_id, MemberKind.ROLE, name))
        return list(found.values())

    async def groups_of(
        self, users: Sequence[UserId], project_id: str, *, most: int
    ) -> Sequence[tuple[Membership, ...]]:
        """See `MembershipStore`."""
        found: dict[str, list[Membership]] = {user_subject(user): [] for user in users}
        rows = await self._pool.fetch(_GROUPS_OF, project_id, list(found), most + 1)
        if len(rows) > most:
            expected = f"at most {most} groups of people in one answer; leave them out by excludedAttributes=groups"
            raise invalid_field("groups", f"more than {most}", expected)
        for subject, group_id, name, direct in rows:
            found[subject].append(Membership(group_id, name, direct))
        return [tuple(found[user_subject(user)]) for user in users]

    async def page(
        self, project_id: str, wanted: Filter | None, *, skip: int, count: int
    ) -> tuple[Sequence[Role], int]:
        """See `ProvisionedGroupStore`."""
        wording = Wording(_ATTRIBUTES, first=2)
        where = f"from roles r where r.project_id = $1 and r.provider_id = '{SCIM}' and {wording.of(wanted)}"
        total: int = await self._pool.fetchval(f"select count(*) {where}", project_id, *wording.arguments)
        if not count or skip >= total:
            return [], total
        place = len(wording.arguments) + 1
        page = f"select {COLUMNS} {where} order by r.role_id offset ${place + 1}::bigint limit ${place + 2}::bigint"
        rows = await self._pool.fetch(page, project_id, *wording.arguments, skip, count)
        return [role_of(row) for row in rows], total

    async def add(self, role: Role, members: frozenset[str]) -> bool:
        """See `ProvisionedGroupStore`."""
        async with self._pool.transaction() as connection:
            if not await self._roles.add_in(connection, role, owner=None):
                return False
            if members:
                subjects = await _subjects(connection, role, members)
                writes = [Grant(each, ASSIGNEE) for each in subjects.values()]
                await self._grants.change_in(connection, key_of_role(role), writes=writes, deletes=())
        return True

    async def change(self, role_id: UUID, change: GroupChange, *, expected: str, at: datetime) -> Role:
        """See `ProvisionedGroupStore`."""
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_LOCK, role_id)
            if row is None:
                raise no_such_role(role_id)
            before = role_of(row)
            if expected and expected != version_of(before):
                raise changed_meanwhile(role_id, expected)
            name, ident = change.name or before.name, change.ident or before.ident
            named = (name, name_key(name), trigrams(name), ident.provider_id, ident.source_id)
            try:
                changed = await connection.fetchrow(_CHANGE, role_id, *named, at)
            except asyncpg.UniqueViolationError as taken:
                raise taken_by(taken, name=name, ident=ident) from taken
            assert changed is not None, "it is locked"
            after = role_of(changed)
            if (after.name, after.ident) != (before.name, before.ident):
                await self._roles.tell(connection, RoleChange.UPDATED, after, before=before)
            await self._change_members(connection, before, change.members)
        return after

    async def _change_members(self, connection: Connection, role: Role, changes: Sequence[MembersChange]) -> None:
        if not changes:
            return
        there = await connection.fetch(_SUBJECTS, role.project_id, role.role_id)
        before: set[Subject] = {Subject(row["subject"]) for row in there}
        added = {member for change in changes for member in change.add}
        removed = {member for change in changes for member in change.remove}
        subjects = await _subjects(connection, role, added, also=removed)
        after = set(before)
        for change in changes:
            if change.clear:
                after.clear()
            after -= {subjects[member] for member in change.remove if member in subjects}
            after |= {subjects[member] for member in change.add}
        writes = [Grant(each, ASSIGNEE) for each in after - before]
        deletes = [Grant(each, ASSIGNEE) for each in before - after]
        await self._grants.change_in(connection, key_of_role(role), writes=writes, deletes=deletes)


async def _subjects(
    connection: Connection, role: Role, members: Collection[str], *, also: Collection[str] = ()
) -> dict[str, Subject]:
    """Who the members are; of those in `also` the ones that are known.

    Raises:
        Refusal: PROVISIONED_MEMBER_UNKNOWN.
    """
    keys = {member: key for member in {*members, *also} for key in [id_of(member)] if key is not None}
    found: dict[UUID, Subject] = {}
    for row in await connection.fetch(_PEOPLE, list(keys.values())):
        found[row["id"]] = user_subject(UserId(row["user_id"]))
    for row in await connection.fetch(_GROUPS, list(keys.values()), role.project_id):
        found[row["role_id"]] = role_subject(row["role_id"])
    for member in members:
        if member not in keys or keys[member] not in found:
            raise member_unknown(member)
    return {member: found[key] for member, key in keys.items() if key in found}
