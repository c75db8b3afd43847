"""Rows of users, each change with its event in one statement: the event exists exactly when the row moved."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lakeward.authz.application.users import Administrator, User
from lakeward.authz.domain.events import Event
from lakeward.authz.domain.profiles import Profile, UserKind
from lakeward.servicekit.authorization.principals import UserId
from lakeward.servicekit.postgres.pools import Pool

_FIND: Final = """
select name, email, kind, updated_with, deleted_at is not null as deleted from users where user_id = $1
"""
_ADD: Final = """
with made as (
    insert into users (user_id, name, email, kind, updated_with, created_at) values ($1, $2, $3, $4, $5, $6)
    on conflict (user_id) do nothing returning user_id)
insert into outbox (event_id, stream, kind, verb, body) select $7, $8, $9, $10, $11 from made
"""
_COMPLETE: Final = """
with made as (
    update users set name = $2, email = $3, kind = $4, updated_with = $5, updated_at = $6
     where user_id = $1 and name is null and deleted_at is null returning user_id)
insert into outbox (event_id, stream, kind, verb, body) select $7, $8, $9, $10, $11 from made
"""
_APPOINT: Final = """
insert into first_administrator (user_id, is_operator, appointed_at) values ($1, $2, $3) on conflict (only_row) do nothing
"""
_FIRST: Final = "select user_id, is_operator from first_administrator"
_ONE_ROW: Final = "INSERT 0 1"


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
        row = await self._pool.fetchrow(_FIND, user_id)
        if row is None:
            return None
        profile = Profile(row["name"], row["email"], UserKind(row["kind"]))
        return User(user_id, profile, row["updated_with"], row["deleted"])

    async def add(self, user: User, *, at: datetime, event: Event) -> bool:
        """See `UserStore`."""
        return await self._write(_ADD, user, at, event)

    async def complete(self, user: User, *, at: datetime, event: Event) -> bool:
        """See `UserStore`."""
        return await self._write(_COMPLETE, user, at, event)

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        """See `UserStore`."""
        await self._pool.execute(_APPOINT, administrator.user_id, administrator.is_operator, at)
        row = await self._pool.fetchrow(_FIRST)
        assert row is not None
        return Administrator(row["user_id"], row["is_operator"])

    async def _write(self, statement: str, user: User, at: datetime, event: Event) -> bool:
        profile = user.profile
        changed = (user.user_id, profile.name, profile.email, profile.kind.value, user.updated_with, at)
        told = (event.event_id, event.stream, event.kind, event.verb, event.body)
        return await self._pool.execute(statement, *changed, *told) == _ONE_ROW
