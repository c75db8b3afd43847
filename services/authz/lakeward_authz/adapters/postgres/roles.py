"""Roles: as people know them, beside what they are among the objects that rights are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from lakeward_authz.adapters.postgres.idempotency import keep
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.adapters.postgres.tree import PostgresTree
from lakeward_authz.application.announcements import Given, RoleChange
from lakeward_authz.application.permissions import Made
from lakeward_authz.application.role_store import RoleFilter
from lakeward_authz.domain.permissions.lakeward import OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_authz.domain.roles import Role, RoleIdent, name_key
from lakeward_authz.domain.search import MOST_FOUND, trigrams
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import Record
from lakeward_servicekit.postgres.pools import Connection, Pool

COLUMNS: Final = (
    "r.role_id, r.project_id, r.name, r.description, r.provider_id, r.source_id, r.created_at, r.updated_at"
)
FIND: Final = f"select {COLUMNS} from roles r where role_id = $1"
PAGE: Final = f"""
select {COLUMNS} from roles r
 where project_id = $1 and role_id > $2
   and (cardinality($3::uuid[]) = 0 or role_id = any($3))
   and (cardinality($4::text[]) = 0 or provider_id = any($4))
   and (cardinality($5::text[]) = 0 or source_id = any($5))
 order by role_id limit $6
"""
SEARCH: Final = f"""
select {COLUMNS} from roles r
 where project_id = $1 and (role_id::text = lower($2) or source_id = $2 or search && $3::text[])
 order by role_id::text = lower($2) desc, source_id = $2 desc,
          (select count(*) from unnest(search) t where t = any($3)) desc, cardinality(search), role_id
 limit {MOST_FOUND}
"""
_FIRST: Final = f"select {COLUMNS} from roles r where project_id = $1 order by role_id limit {MOST_FOUND}"
_HOLD_PROJECT: Final = "select true from objects where project_id = $1 and kind = 'project' for key share"
_ADD: Final = """
insert into roles (role_id, project_id, name, name_key, description, provider_id, source_id, search, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
_DESCRIBE: Final = f"""
update roles r set name = $2, name_key = $3, search = $4, description = $5, updated_at = $6 where role_id = $1
returning {COLUMNS}
"""
_BIND: Final = f"""
update roles r set provider_id = $2, source_id = $3, updated_at = $4 where role_id = $1 returning {COLUMNS}
"""
_LOCK: Final = f"{FIND} for update"


class PostgresRoles:
    """The `RoleStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        tree: has the objects that roles are.
    """

    def __init__(self, pool: Pool, tree: PostgresTree) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._tree = tree

    @property
    def outbox(self) -> Outbox:
        """Takes what is told of roles and of who is in them."""
        return self._tree.outbox

    async def find(self, role_id: UUID) -> Role | None:
        """See `RoleStore`."""
        row = await self._pool.fetchrow(FIND, role_id)
        return None if row is None else role_of(row)

    async def page(self, project_id: str, wanted: RoleFilter, *, after: str, limit: int) -> Sequence[Role]:
        """See `RoleStore`."""
        behind = UUID(after) if after else NIL
        chosen = (list(wanted.role_ids), _stored(wanted.provider_ids), _stored(wanted.source_ids))
        return [role_of(row) for row in await self._pool.fetch(PAGE, project_id, behind, *chosen, limit)]

    async def search(self, project_id: str, text: str) -> Sequence[Role]:
        """See `RoleStore`."""
        if not text.strip():
            return [role_of(row) for row in await self._pool.fetch(_FIRST, project_id)]
        return [role_of(row) for row in await self._pool.fetch(SEARCH, project_id, text, trigrams(text))]

    async def add(self, role: Role, *, owner: Subject | None, record: Record | None) -> bool:
        """See `RoleStore`."""
        async with self._pool.transaction() as connection:
            if not await self.add_in(connection, role, owner=owner):
                return False
            await keep(connection, record)
        return True

    async def add_in(self, connection: Connection, role: Role, *, owner: Subject | None) -> bool:
        """The same in a transaction.

        Raises:
            Refusal: ROLE_EXISTS, ROLE_IDENT_TAKEN.
        """
        made = Made(key_of_role(role), owner=owner)
        row = (role.role_id, role.project_id, role.name, name_key(role.name), role.description)
        ident = (role.ident.provider_id, role.ident.source_id)
        if await connection.fetchval(_HOLD_PROJECT, role.project_id) is None:
            return False
        try:
            await connection.execute(_ADD, *row, *ident, trigrams(role.name), role.created_at)
        except asyncpg.UniqueViolationError as taken:
            raise taken_by(taken, name=role.name, ident=role.ident) from taken
        await self._tree.make(connection, made)
        if owner is not None:
            # its owner holds it, and who holds which roles is remembered
            await bump(connection, role.project_id)
        has = None if owner is None else Given(owner, OWNERSHIP)
        await self.outbox.tell(connection, self.outbox.announcer.role(RoleChange.CREATED, role, owner=has))
        return True

    async def tell(self, connection: Connection, change: RoleChange, role: Role, *, before: Role | None = None) -> None:
        """Tell of a change of a role, in its transaction."""
        await self.outbox.tell(connection, self.outbox.announcer.role(change, role, before=before))

    async def describe(self, role_id: UUID, *, name: str, description: str | None, at: datetime) -> Role | None:
        """See `RoleStore`."""
        row = (role_id, name, name_key(name), trigrams(name), description, at)
        async with self._pool.transaction() as connection:
            held = await connection.fetchrow(_LOCK, role_id)
            if held is None:
                return None
            try:
                found = await connection.fetchrow(_DESCRIBE, *row)
            except asyncpg.UniqueViolationError as taken:
                raise taken_by(taken, name=name) from taken
            assert found is not None, "it is locked"
            role = role_of(found)
            await self.tell(connection, RoleChange.UPDATED, role, before=role_of(held))
        return role

    async def bind(self, role_id: UUID, ident: RoleIdent, *, at: datetime) -> Role | None:
        """See `RoleStore`."""
        async with self._pool.transaction() as connection:
            held = await connection.fetchrow(_LOCK, role_id)
            if held is None:
                return None
            try:
                found = await connection.fetchrow(_BIND, role_id, ident.provider_id, ident.source_id, at)
            except asyncpg.UniqueViolationError as taken:
                raise taken_by(taken, ident=ident) from taken
            assert found is not None, "it is locked"
            role = role_of(found)
            await self.tell(connection, RoleChange.UPDATED, role, before=role_of(held))
            # whose tokens named the ident that it had hold the role no more
            await bump(connection, role.project_id)
        return role

    async def remove(self, role: Role, *, record: Record | None) -> bool:
        """See `RoleStore`."""
        async with self._pool.transaction() as connection:
            held = await connection.fetchrow(_LOCK, role.role_id)
            if held is None:
                return False
            await keep(connection, record)
            await self._tree.remove(connection, key_of_role(role))
            await self.tell(connection, RoleChange.DELETED, role_of(held))
        return True


def _stored(texts: Sequence[str]) -> list[str]:
    """Texts that Postgres takes: one with a NUL is nobody's, and becomes "", which is nobody's either."""
    return ["" if "\0" in text else text for text in texts]


def role_of(row: Iterable[Any]) -> Role:
    """The role of a row of COLUMNS."""
    role_id, project_id, name, description, provider_id, source_id, created_at, updated_at = row
    return Role(role_id, project_id, name, description, RoleIdent(provider_id, source_id), created_at, updated_at)


def key_of_role(role: Role) -> ObjectKey:
    """A role as rights name it."""
    return ObjectKey("role", role.project_id, id=role.role_id)


def taken_by(violation: asyncpg.UniqueViolationError, *, name: str = "", ident: RoleIdent | None = None) -> Exception:
    """What is raised where another role of the project has the name or the ident."""
    match violation.constraint_name:
        case "roles_name":
            return Refusal(
                Reason.REASON_ROLE_EXISTS,
                f"a role of this project is called {name!r} already, whatever the case; choose another name",
                name=name,
            )
        case "roles_ident":
            return Refusal(
                Reason.REASON_ROLE_IDENT_TAKEN,
                f"a role of this project is bound to {str(ident)!r} already; bind that one to something else first",
                ident=str(ident),
            )
    return violation
