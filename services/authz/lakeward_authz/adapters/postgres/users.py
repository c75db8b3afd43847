"""Rows of users."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from lakeward_authz.application.users import Administrator, User
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.search import trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Pool

if TYPE_CHECKING:
    from asyncpg import Record

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
"""
_FIRST: Final = "select user_id, is_operator from first_administrator"
_ADDED: Final = "INSERT 0 1"
_COMPLETED: Final = "UPDATE 1"


class PostgresUsers:
    """The `UserStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Keep rows through `pool`."""
        self._pool = pool

    async def find(self, user_id: UserId) -> User | None:
        """See `UserStore`."""
        row = await self._pool.fetchrow(FIND, user_id)
        return None if row is None else user_of(row)

    async def add(self, user: User) -> bool:
        """See `UserStore`."""
        return await self._pool.execute(_ADD, *values_of(user)) == _ADDED

    async def complete(self, user: User) -> bool:
        """See `UserStore`."""
        return await self._pool.execute(_COMPLETE, *values_of(user)) == _COMPLETED

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        """See `UserStore`."""
        await self._pool.execute(_APPOINT, administrator.user_id, administrator.is_operator, at)
        row = await self._pool.fetchrow(_FIRST)
        assert row is not None
        return Administrator(row["user_id"], row["is_operator"])


def user_of(row: Record) -> User:
    """The user of a row of COLUMNS."""
    user_id, name, email, kind, updated_with, created_at, updated_at, deleted = row
    return User(UserId(user_id), Profile(name, email, UserKind(kind)), updated_with, created_at, updated_at, deleted)


def values_of(user: User) -> tuple[object, ...]:
    """A user's row as it is written: id, name, address, kind, what wrote it, when, and what it is searched by."""
    profile = user.profile
    search = [] if profile.name is None else trigrams(profile.name, profile.email)
    written = (user.user_id, profile.name, profile.email, profile.kind.value, user.updated_with)
    return (*written, user.created_at, search)
