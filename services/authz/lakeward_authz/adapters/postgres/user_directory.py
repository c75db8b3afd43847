"""Rows of users, as people manage them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_authz.adapters.postgres.idempotency import keep
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.adapters.postgres.users import COLUMNS, FIND, user_of, values_of
from lakeward_authz.application.announcements import UserChange
from lakeward_authz.application.user_directory import Saved
from lakeward_authz.application.users import User
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey, user_subject
from lakeward_authz.domain.permissions.tuples import grant_tuple
from lakeward_authz.domain.profiles import Profile
from lakeward_authz.domain.search import MOST_FOUND, trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.idempotency import Record
from lakeward_servicekit.postgres.pools import Connection, Pool

DELETED_NAME: Final = "Deleted User"
PAGE: Final = f"""
select {COLUMNS} from users
 where deleted_at is null and user_id > $1 and ($2::text is null or position(lower($2) in lower(name)) > 0)
 order by user_id limit $3
"""
SEARCH: Final = f"""
select {COLUMNS} from users
 where deleted_at is null and (user_id = $1 or search && $2::text[])
 order by user_id = $1 desc, (select count(*) from unnest(search) t where t = any($2)) desc, cardinality(search), user_id
 limit {MOST_FOUND}
"""
_FIRST: Final = f"""
select {COLUMNS} from users where deleted_at is null and name is not null order by user_id limit {MOST_FOUND}
"""
_INSERT: Final = f"""
insert into users (user_id, name, email, kind, updated_with, created_at, search) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (user_id) do nothing returning {COLUMNS}
"""
_LOCK: Final = "select deleted_at is not null from users where user_id = $1 for update"
_REVIVE: Final = f"""
update users set name = $2, email = $3, kind = $4, updated_with = $5, created_at = $6, updated_at = null, search = $7,
                 deleted_at = null
 where user_id = $1 returning {COLUMNS}
"""
_UPDATE: Final = f"""
update users set name = $2, email = $3, kind = $4, updated_with = $5, updated_at = $6, search = $7
 where user_id = $1 and deleted_at is null returning {COLUMNS}
"""
_DELETE: Final = """
update users set name = $2, email = null, search = '{}', updated_at = $3, deleted_at = $3
 where user_id = $1 and deleted_at is null returning user_id
"""
REVOKE: Final = """
delete from grants where subject = $1 and relation <> ''
returning project_id, warehouse_id, kind, object_id, relation
"""
_FORGET_SUSPENDED: Final = "delete from suspended_grants where subject = $1 returning project_id"


class PostgresUserDirectory:
    """The `UserDirectory` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        outbox: told of what OpenFGA has to know.
    """

    def __init__(self, pool: Pool, outbox: Outbox) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._outbox = outbox

    async def find(self, user_id: UserId) -> User | None:
        """See `UserDirectory`."""
        row = await self._pool.fetchrow(FIND, user_id)
        return None if row is None else user_of(row)

    async def page(self, *, name: str | None, after: str, limit: int) -> Sequence[User]:
        """See `UserDirectory`."""
        return [user_of(row) for row in await self._pool.fetch(PAGE, after, name, limit)]

    async def search(self, text: str) -> Sequence[User]:
        """See `UserDirectory`."""
        if not text.strip():
            return [user_of(row) for row in await self._pool.fetch(_FIRST)]
        return [user_of(row) for row in await self._pool.fetch(SEARCH, text, trigrams(text))]

    async def save(self, user: User, *, update: bool, record: Record | None) -> Saved | None:
        """See `UserDirectory`."""
        async with self._pool.transaction() as connection:
            saved = await save_in(connection, self._outbox, user, update=update)
            if saved is not None:
                await keep(connection, record)
        return saved

    async def replace(self, user_id: UserId, profile: Profile, *, updated_with: str, at: datetime) -> User | None:
        """See `UserDirectory`."""
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_UPDATE, *values_of(User(user_id, profile, updated_with, at)))
            if row is not None:
                event = self._outbox.announcer.user(UserChange.UPDATED, user_id, profile, updated_with=updated_with)
                await self._outbox.tell(connection, event)
        return None if row is None else user_of(row)

    async def delete(self, user_id: UserId, *, at: datetime, record: Record | None) -> bool:
        """See `UserDirectory`."""
        async with self._pool.transaction() as connection:
            if not await delete_in(connection, self._outbox, user_id, at=at):
                return False
            await keep(connection, record)
            await revoke_in(connection, self._outbox, user_id)
        return True


async def save_in(connection: Connection, outbox: Outbox, user: User, *, update: bool) -> Saved | None:
    """See `UserDirectory.save`, in a transaction."""
    values = values_of(user)
    row = await connection.fetchrow(_INSERT, *values)
    created = row is not None
    if row is None:
        created = bool(await connection.fetchval(_LOCK, user.user_id))
        if not created and not update:
            return None
        row = await connection.fetchrow(_REVIVE if created else _UPDATE, *values)
    assert row is not None, "it is locked, and no row is ever removed"
    change = UserChange.CREATED if created else UserChange.UPDATED
    event = outbox.announcer.user(change, user.user_id, user.profile, updated_with=user.updated_with)
    await outbox.tell(connection, event)
    return Saved(user_of(row), created)


async def delete_in(connection: Connection, outbox: Outbox, user_id: UserId, *, at: datetime) -> bool:
    """Mark a user as deleted, in a transaction; False where there is none, or none any more."""
    if await connection.fetchval(_DELETE, user_id, DELETED_NAME, at) is None:
        return False
    await outbox.tell(connection, outbox.announcer.user_by_id(UserChange.DELETED, user_id))
    return True


async def revoke_in(connection: Connection, outbox: Outbox, user_id: UserId) -> None:
    """Take all that a deleted user was given, in a transaction and as its last step, with what waits until it is active."""
    subject = user_subject(user_id)
    waited = {row["project_id"] for row in await connection.fetch(_FORGET_SUSPENDED, subject)}
    rows: list[tuple[str, UUID, str, UUID, str]] = [tuple(row) for row in await connection.fetch(REVOKE, subject)]
    keys = [(ObjectKey(kind, project, warehouse, ref), relation) for project, warehouse, kind, ref, relation in rows]
    await outbox.put(connection, [(grant_tuple(key, subject, relation), False) for key, relation in keys])
    projects = sorted({*waited, *(key.project_id for key, _ in keys)} - {SERVER.project_id})
    announcer = outbox.announcer
    await outbox.tell(
        connection, *(announcer.user_by_id(UserChange.DELETED, user_id, project_id=each) for each in projects)
    )
    await bump(connection, *(key.project_id for key, _ in keys))
