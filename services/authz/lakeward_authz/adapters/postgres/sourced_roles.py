"""Roles that follow a directory."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.roles import COLUMNS, PostgresRoles, key_of_role, role_of
from lakeward_authz.application.announcements import RoleChange, UserChange
from lakeward_authz.application.permissions import Grant
from lakeward_authz.application.synchronising import RoleMembers, Synchronised, WouldEmpty
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE
from lakeward_authz.domain.permissions.objects import NIL, Subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.roles import Role, name_key
from lakeward_authz.domain.search import trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Connection, Pool
from lakeward_servicekit.system import Ids

_PROVIDER: Final = "role-provider"
_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended('roles that follow ' || $1, 0))"
_PROJECT: Final = "select true from objects where project_id = $1 and kind = 'project'"
_THERE: Final = f"select {COLUMNS} from roles r where project_id = $1 and provider_id = $2 order by role_id for update"
_NAMED: Final = "select name_key from roles where project_id = $1 and provider_id <> $2"
_RENAME: Final = "update roles set name = $2, name_key = $3, search = $4, updated_at = $5 where role_id = $1"
_MEMBERS: Final = f"""
select object_id, subject from (
    select project_id, warehouse_id, kind, object_id, subject, relation from grants
    union all
    select project_id, warehouse_id, kind, object_id, subject, relation from suspended_grants) g
 where project_id = $1 and warehouse_id = '{NIL}' and kind = 'role' and relation = '{ASSIGNEE}' and object_id = any($2::uuid[])
"""
_RECORD: Final = f"""
insert into users (user_id, kind, updated_with, created_at)
select u, '{UserKind.APPLICATION}', '{_PROVIDER}', $2 from unnest($1::text[]) u order by u
on conflict (user_id) do nothing returning user_id
"""
_DELETED: Final = "select user_id from users where user_id = any($1::text[]) and deleted_at is not null"


class PostgresSourcedRoles:
    """The `SourcedRoleStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        roles: keeps roles.
        grants: keeps who is in them.
        ids: of roles that are made.
    """

    def __init__(self, pool: Pool, roles: PostgresRoles, grants: PostgresGrants, ids: Ids) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._roles = roles
        self._grants = grants
        self._ids = ids

    async def apply(
        self, provider: str, project_id: str, wanted: Collection[RoleMembers], *, may_empty: bool, at: datetime
    ) -> Synchronised | None:
        """See `SourcedRoleStore`."""
        async with self._pool.transaction() as connection:
            await connection.execute(_LOCK, provider)
            if await connection.fetchval(_PROJECT, project_id) is None:
                return None
            there = [role_of(row) for row in await connection.fetch(_THERE, project_id, provider)]
            before = await _members(connection, project_id, there)
            after = await self._users(connection, wanted, at)
            if any(before.values()) and not any(after.values()) and not may_empty:
                had = len(set().union(*before.values()))
                raise WouldEmpty(
                    f"the directory shows nobody in any group, where {had} users were in one; nothing was changed"
                )
            roles = {role.ident.source_id: role for role in there}
            taken_names = {row["name_key"] for row in await connection.fetch(_NAMED, project_id, provider)}
            names = names_of(wanted, taken_names | _left(there, wanted), provider)
            renamed = await _rename(connection, {role: names[s] for s, role in roles.items() if s in names}, at)
            for role, name in renamed.items():
                await self._roles.tell(
                    connection, RoleChange.UPDATED, dataclasses.replace(role, name=name, updated_at=at), before=role
                )
            fresh = [each for each in wanted if each.ident.source_id not in roles]
            for each in fresh:
                name, ident = names[each.ident.source_id], each.ident
                roles[ident.source_id] = Role(self._ids.uuid7(), project_id, name, None, ident, at)
                await self._roles.add_in(connection, roles[ident.source_id], owner=None)
            given = taken = 0
            for source_id, role in roles.items():
                held, due = before.get(role.role_id, frozenset()), after.get(source_id, frozenset())
                writes = [Grant(each, ASSIGNEE) for each in due - held]
                deletes = [Grant(each, ASSIGNEE) for each in held - due]
                given, taken = given + len(writes), taken + len(deletes)
                if writes or deletes:
                    await self._grants.change_in(connection, key_of_role(role), writes=writes, deletes=deletes)
        return Synchronised(len(fresh), given, taken)

    async def _users(
        self, connection: Connection, wanted: Collection[RoleMembers], at: datetime
    ) -> Mapping[str, frozenset[Subject]]:
        """Who is to be in each role, by source id; those who were never recorded are now."""
        every = sorted({user_id for each in wanted for user_id in each.users})
        fresh = await connection.fetch(_RECORD, every, at)
        kept = Profile(None, None, UserKind.APPLICATION)
        outbox = self._roles.outbox
        await outbox.tell(
            connection,
            *(
                outbox.announcer.user(UserChange.CREATED, UserId(row["user_id"]), kept, updated_with=_PROVIDER)
                for row in fresh
            ),
        )
        deleted = {UserId(row["user_id"]) for row in await connection.fetch(_DELETED, every)}
        return {
            each.ident.source_id: frozenset(user_subject(user_id) for user_id in each.users - deleted)
            for each in wanted
        }


def _left(there: Collection[Role], wanted: Collection[RoleMembers]) -> set[str]:
    """Names of roles whose groups are gone: they stay, for what people gave to them."""
    shown = {each.ident.source_id for each in wanted}
    return {name_key(role.name) for role in there if role.ident.source_id not in shown}


async def _rename(connection: Connection, names: Mapping[Role, str], at: datetime) -> Mapping[Role, str]:
    """Call roles what they are called now; those that were called otherwise, and what they are called."""
    moved = {role: name for role, name in names.items() if role.name != name}
    for role in moved:  # out of each other's way first: two may have changed names
        aside = str(role.role_id)
        await connection.execute(_RENAME, role.role_id, aside, name_key(aside), [], at)
    for role, name in moved.items():
        await connection.execute(_RENAME, role.role_id, name, name_key(name), trigrams(name), at)
    return moved


def names_of(wanted: Collection[RoleMembers], taken: Collection[str], provider: str) -> dict[str, str]:
    """What each role is called, by source id: its group's name, or with what tells it from another that has the name."""
    used, names = set(taken), dict[str, str]()
    for each in sorted(wanted, key=lambda each: each.ident.source_id):
        ident = each.ident.source_id
        name = next(
            name
            for name in (each.name, f"{each.name} ({provider})", f"{each.name[:128]} ({ident[:300]})", ident)
            if name_key(name) not in used
        )
        names[ident] = name
        used.add(name_key(name))
    return names


async def _members(
    connection: Connection, project_id: str, roles: Collection[Role]
) -> Mapping[UUID, frozenset[Subject]]:
    found: dict[UUID, set[Subject]] = {role.role_id: set() for role in roles}
    for role_id, subject in await connection.fetch(_MEMBERS, project_id, list(found)):
        found[role_id].add(Subject(subject))
    return {role_id: frozenset(subjects) for role_id, subjects in found.items()}
