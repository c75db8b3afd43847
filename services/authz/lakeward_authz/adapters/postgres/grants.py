"""Grants, members of roles among them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from lakeward_authz.adapters.postgres.names import SERVED
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.adapters.postgres.suspending import hold_users, listed, set_aside, take_aside
from lakeward_authz.application import announcements
from lakeward_authz.application.permissions import ALL, Given, Grant, Named, Wanted
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_authz.domain.permissions.tuples import FgaTuple, grant_tuple
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection, Pool

if TYPE_CHECKING:
    from asyncpg import Record

_ROLE: Final = "role:"
_ON: Final = """
select g.subject, g.relation, g.granted_at, o.public_id from grants g
  join objects o using (project_id, warehouse_id, kind, object_id)
 where g.project_id = $1 and g.warehouse_id = $2 and g.kind = $3 and g.object_id = $4
   and ($5::text is null or g.subject = $5) and ($6::text[] is null or g.relation = any($6))
   and ($7::text is null or (g.subject, g.relation) > ($7, $8::text))
 order by g.subject, g.relation limit $9
"""
OF: Final = f"""
select g.warehouse_id, g.kind, g.object_id, g.relation, g.granted_at, o.public_id from grants g
  join objects o using (project_id, warehouse_id, kind, object_id)
 where g.subject = $1 and g.relation <> '' and g.project_id = $2 and g.kind <> 'role' and {SERVED.format("g")}
   and ($3::text[] is null or g.relation = any($3))
   and ($4::uuid is null or (g.warehouse_id, g.kind, g.object_id, g.relation) > ($4, $5::text, $6::uuid, $7::text))
 order by g.warehouse_id, g.kind, g.object_id, g.relation limit $8
"""
_HOLD: Final = """
select public_id from objects where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4 for key share
"""
_ROLES: Final = """
select object_id, project_id from objects
 where kind = 'role' and object_id = any($1::uuid[]) and ($2 = '' or project_id = $2) for key share
"""
_DELETE: Final = """
delete from grants g using unnest($5::text[], $6::text[]) as d(subject, relation)
 where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4
   and g.subject = d.subject and g.relation = d.relation
returning g.subject, g.relation
"""
_INSERT: Final = """
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select $1, $2, $3, $4, w.subject, w.relation from unnest($5::text[], $6::text[]) as w(subject, relation)
 order by w.subject, w.relation
on conflict do nothing returning subject, relation
"""
# Two changes of a project's memberships, each harmless, could make a circle together.
_LOCK_ROLES: Final = "select pg_advisory_xact_lock(hashtextextended('roles of ' || $1, 0))"
_MEMBERSHIP: Final = f"g.kind = 'role' and g.relation in ('{ASSIGNEE}', '{OWNERSHIP}')"
# Those among some roles that a role is in, itself counted.
_CIRCLE: Final = f"""
with recursive held(role_id) as (
    select $1::uuid
    union
    select g.object_id from held h join grants g on g.subject = '{_ROLE}' || h.role_id and {_MEMBERSHIP})
select role_id from held where role_id = any($2::uuid[]) order by role_id limit 1
"""
# How far out the roles go that a role is in, and how far in those that are in it. There is no circle, so both end.
_OUTWARD: Final = f"""
with recursive held(role_id, depth) as (
    select $1::uuid, 0
    union
    select g.object_id, h.depth + 1 from held h join grants g on g.subject = '{_ROLE}' || h.role_id and {_MEMBERSHIP})
select max(depth) from held
"""
_INWARD: Final = f"""
with recursive held(start, role_id, depth) as (
    select role_id, role_id, 0 from unnest($2::uuid[]) as r(role_id)
    union
    select h.start, substr(g.subject, {len(_ROLE) + 1})::uuid, h.depth + 1 from held h
      join grants g on g.project_id = $1 and g.object_id = h.role_id and {_MEMBERSHIP} and starts_with(g.subject, '{_ROLE}'))
select start, max(depth) as depth from held group by start order by depth desc, start limit 1
"""


class PostgresGrants:
    """The `GrantStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        outbox: told of what OpenFGA has to know.
        most_nested: the longest chain of roles within roles; None: any.
    """

    def __init__(self, pool: Pool, outbox: Outbox, *, most_nested: int | None = None) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._outbox = outbox
        self._most_nested = most_nested

    async def on(self, key: ObjectKey, wanted: Wanted = ALL) -> Sequence[Given]:
        """See `GrantStore`."""
        relations = None if wanted.relations is None else [*wanted.relations]
        after = wanted.after or (None, None)
        rows = await self._pool.fetch(_ON, *_columns(key), wanted.subject, relations, *after, wanted.size)
        return [
            Given(Grant(Subject(subject), relation), named(key, public_id), at, (subject, relation))
            for subject, relation, at, public_id in rows
        ]

    async def granted_to(self, subject: Subject, project_id: str, wanted: Wanted) -> Sequence[Given]:
        """See `GrantStore`."""
        relations = None if wanted.relations is None else [*wanted.relations]
        after = wanted.after or (None, None, None, None)
        rows = await self._pool.fetch(OF, subject, project_id, relations, *after, wanted.size)
        return [
            Given(
                Grant(subject, relation),
                named(ObjectKey(kind, project_id, warehouse, own), public_id),
                at,
                (str(warehouse), kind, str(own), relation),
            )
            for warehouse, kind, own, relation, at, public_id in rows
        ]

    async def change(
        self, key: ObjectKey, *, writes: Collection[Grant], deletes: Collection[Grant], exact: bool = False
    ) -> bool:
        """See `GrantStore`."""
        async with self._pool.transaction() as connection:
            return await self.change_in(connection, key, writes=writes, deletes=deletes, exact=exact)

    async def change_in(
        self,
        connection: Connection,
        key: ObjectKey,
        *,
        writes: Collection[Grant],
        deletes: Collection[Grant],
        exact: bool = False,
    ) -> bool:
        """The same in a transaction, as its last step: it holds what changes of other grants wait for."""
        held = await connection.fetchrow(_HOLD, *_columns(key))
        if held is None:
            return False
        roles = sorted({UUID(grant.subject[len(_ROLE) :]) for grant in writes if grant.subject.startswith(_ROLE)})
        await _check_roles(connection, key, roles)
        suspended = await hold_users(connection, writes, deletes)
        aside = [each for each in writes if each.subject in suspended]
        counting = [each for each in writes if each.subject not in suspended]
        taken = await connection.fetch(_DELETE, *_columns(key), *listed(deletes))
        taken_aside = await take_aside(connection, key, deletes)
        if key.type == "role" and roles:
            await self._check_nesting(connection, key, roles)
        given = await connection.fetch(_INSERT, *_columns(key), *listed(counting))
        given_aside = await set_aside(connection, key, aside)
        if exact:
            _check_all(deletes, [*taken, *taken_aside], writes, [*given, *given_aside])
        changes = [*_told(key, taken, wanted=False), *_told(key, given, wanted=True)]
        await self._outbox.put(connection, changes)
        events = self._outbox.announcer.grants(
            key,
            given=_said_of([*given, *given_aside]),
            taken=_said_of([*taken, *taken_aside]),
            public_id=held["public_id"],
        )
        await self._outbox.tell(connection, *events)
        if changes:
            await bump(connection, key.project_id)
        return True

    async def _check_nesting(self, connection: Connection, key: ObjectKey, members: Sequence[UUID]) -> None:
        await connection.execute(_LOCK_ROLES, key.project_id)
        within: UUID | None = await connection.fetchval(_CIRCLE, key.id, members)
        if within is not None:
            raise Refusal(
                Reason.REASON_ROLE_MEMBERSHIP_CYCLE,
                f"the role {within} can't be in the role {key.id}: it would be in itself, since {key.id} is in it already",
                role=str(key.id),
                member=str(within),
            )
        if self._most_nested is None:
            return
        outward: int = await connection.fetchval(_OUTWARD, key.id)
        row = await connection.fetchrow(_INWARD, key.project_id, members)
        assert row is not None
        if outward + 1 + row["depth"] > self._most_nested:
            raise Refusal(
                Reason.REASON_ROLE_NESTED_TOO_DEEP,
                f"with the role {row['start']} in the role {key.id} roles would be nested {outward + 1 + row['depth']} deep;"
                f" at most {self._most_nested} is configured",
                role=str(key.id),
                member=str(row["start"]),
                limit=str(self._most_nested),
            )


def named(key: ObjectKey, public_id: UUID | None) -> Named:
    """An object as people name it."""
    return Named(
        key.type,
        key.project_id,
        None if key.warehouse_id == NIL else key.warehouse_id,
        public_id or (None if key.id == NIL else key.id),
    )


def _check_all(
    deletes: Collection[Grant], taken: Sequence[Record], writes: Collection[Grant], given: Sequence[Record]
) -> None:
    """Raises Refusal NO_SUCH_GRANT, GRANT_EXISTS for the first that was not taken, or not given."""
    gone = {Grant(Subject(row["subject"]), row["relation"]) for row in taken}
    for grant in sorted(deletes):
        if grant not in gone:
            raise Refusal(
                Reason.REASON_NO_SUCH_GRANT,
                f"there is no grant of {_said(grant)} here, so it can't be taken; nothing was changed",
                grant=_said(grant),
            )
    new = {Grant(Subject(row["subject"]), row["relation"]) for row in given}
    for grant in sorted(writes):
        if grant not in new:
            raise Refusal(
                Reason.REASON_GRANT_EXISTS,
                f"{_said(grant)} was given already; nothing was changed",
                grant=_said(grant),
            )


def _said(grant: Grant) -> str:
    kind, _, who = grant.subject.partition(":")
    return f"{grant.relation} to {kind} {who}"


async def _check_roles(connection: Connection, key: ObjectKey, roles: Sequence[UUID]) -> None:
    if not roles:
        return
    there = {row["object_id"] for row in await connection.fetch(_ROLES, roles, key.project_id)}
    for role in roles:
        if role not in there:
            where = "" if key.type == "server" else f" of the project {key.project_id}"
            raise Refusal(
                Reason.REASON_PERMISSIONS_INVALID,
                f"there is no role {role}{where}, so nothing can be given to it",
                cause="GrantRoleNotInProject",
            )


def _told(key: ObjectKey, rows: Sequence[Record], *, wanted: bool) -> list[tuple[FgaTuple, bool]]:
    return [(grant_tuple(key, Subject(row["subject"]), row["relation"]), wanted) for row in rows]


def _said_of(rows: Sequence[Record]) -> list[announcements.Given]:
    return [announcements.Given(Subject(row["subject"]), row["relation"]) for row in rows]


def _columns(key: ObjectKey) -> tuple[object, ...]:
    return key.project_id, key.warehouse_id, key.type, key.id
