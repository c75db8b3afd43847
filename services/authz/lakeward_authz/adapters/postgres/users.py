"""Rows of users."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.application.announcements import Given, UserChange
from lakeward_authz.application.users import Administrator, User
from lakeward_authz.domain.permissions.lakeward import ADMIN, OPERATOR
from lakeward_authz.domain.permissions.objects import SERVER, user_subject
from lakeward_authz.domain.permissions.tuples import grant_tuple
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.search import trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Connection, Pool

COLUMNS: Final = "user_id, name, email, kind, updated_with, created_at, updated_at, deleted_at is not null as deleted"
FIND: Final = f"select {COLUMNS} from users where user_id = $1"
_ADD: Final = """
insert into users (user_id, name, email, kind, updated_with, created_at, search) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (user_id) do nothing
"""
_COMPLETE: Final = """
update users set name = $2, email = $3, kind = $4, updated_with = $5, updated_at = $6, search = $7
 where user_id = $1 and name is null and deleted_at is null
"""
_APPOINT: Final = """
insert into first_administrator (user_id, is_operator, appointed_at) values ($1, $2, $3) on conflict (only_row) do nothing
returning true
"""
_GRANT: Final = """
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation, granted_at)
values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing
"""
_FIRST: Final = "select user_id, is_operator from first_administrator"
_ADDED: Final = "INSERT 0 1"
_COMPLETED: Final = "UPDATE 1"


class PostgresUsers:
    """The `UserStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        outbox: told of what OpenFGA has to know.
    """

    def __init__(self, pool: Pool, outbox: Outbox) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._outbox = outbox

    async def find(self, user_id: UserId) -> User | None:
        """See `UserStore`."""
        row = await self._pool.fetchrow(FIND, user_id)
        return None if row is None else user_of(row)

    async def add(self, user: User) -> bool:
        """See `UserStore`."""
        async with self._pool.transaction() as connection:
            added = await connection.execute(_ADD, *values_of(user)) == _ADDED
            if added:
                await self._tell(connection, UserChange.CREATED, user)
        return added

    async def complete(self, user: User) -> bool:
        """See `UserStore`."""
        async with self._pool.transaction() as connection:
            completed = await connection.execute(_COMPLETE, *values_of(user)) == _COMPLETED
            if completed:
                await self._tell(connection, UserChange.UPDATED, user)
        return completed

    async def _tell(self, connection: Connection, change: UserChange, user: User) -> None:
        event = self._outbox.announcer.user(change, user.user_id, user.profile, updated_with=user.updated_with)
        await self._outbox.tell(connection, event)

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        """See `UserStore`."""
        async with self._pool.transaction() as connection:
            if await connection.fetchval(_APPOINT, administrator.user_id, administrator.is_operator, at):
                await self._grant(connection, administrator, at)
            row = await connection.fetchrow(_FIRST)
            assert row is not None
            return Administrator(row["user_id"], row["is_operator"])

    async def _grant(self, connection: Connection, administrator: Administrator, at: datetime) -> None:
        if administrator.user_id is None:
            return
        subject = user_subject(administrator.user_id)
        relation = OPERATOR if administrator.is_operator else ADMIN
        key = (SERVER.project_id, SERVER.warehouse_id, SERVER.type, SERVER.id)
        await connection.execute(_GRANT, *key, subject, relation, at)
        await self._outbox.put(connection, [(grant_tuple(SERVER, subject, relation), True)])
        given = [Given(subject, relation)]
        await self._outbox.tell(connection, *self._outbox.announcer.grants(SERVER, given=given, taken=()))
        await bump(connection, SERVER.project_id)


def user_of(row: Iterable[Any]) -> User:
    """The user of a row of COLUMNS."""
    user_id, name, email, kind, updated_with, created_at, updated_at, deleted = row
    return User(UserId(user_id), Profile(name, email, UserKind(kind)), updated_with, created_at, updated_at, deleted)


def values_of(user: User) -> tuple[object, ...]:
    """A user's row as it is written: id, name, address, kind, what wrote it, when, and what it is searched by."""
    profile = user.profile
    search = [] if profile.name is None else trigrams(profile.name, profile.email)
    written = (user.user_id, profile.name, profile.email, profile.kind.value, user.updated_with)
    return (*written, user.created_at, search)
