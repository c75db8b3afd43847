"""Rows of people that identity providers send."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import asyncpg

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_filters import Wording
from lakeward_authz.adapters.postgres.suspending import KEEP_OUT, restore, suspend
from lakeward_authz.adapters.postgres.user_directory import delete_in, revoke_in, save_in
from lakeward_authz.application.announcements import UserChange
from lakeward_authz.application.provisioned_users import Found
from lakeward_authz.application.users import User
from lakeward_authz.domain.provisioning import (
    Attribute,
    Filter,
    MatchedBy,
    ProvisionedProfile,
    ProvisionedUser,
    changed_meanwhile,
    provisioned_already,
)
from lakeward_authz.domain.search import folded
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Connection, Pool

if TYPE_CHECKING:
    from asyncpg import Record

PROVIDER: Final = "role-provider"
_COLUMNS: Final = """
id, user_id, user_name, external_id, display_name, email, active, document, created_at, updated_at, version
"""
_FIND: Final = f"select {_COLUMNS} from provisioned_users where id = $1"
_ATTRIBUTES: Final = {
    Attribute.ID: "id",
    Attribute.EXTERNAL_ID: "external_id",
    Attribute.USER_NAME: "user_name_key",
    Attribute.DISPLAY_NAME: "display_name",
    Attribute.EMAIL: "email",
    Attribute.ACTIVE: "active",
    Attribute.CREATED_AT: "created_at",
    Attribute.UPDATED_AT: "updated_at",
}
_INSERT: Final = """
insert into provisioned_users
       (id, user_id, user_name, user_name_key, external_id, display_name, email, active, document, created_at, updated_at,
        version)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, 1)
"""
_UPDATE: Final = f"""
update provisioned_users
   set user_name = $3, user_name_key = $4, external_id = $5, display_name = $6, email = $7, active = $8, document = $9,
       updated_at = greatest($10, updated_at), version = version + 1
 where id = $1 and version = $2 returning {_COLUMNS}
"""
_DELETE: Final = "delete from provisioned_users where id = $1"


class PostgresProvisionedUsers:
    """The `ProvisionedUserStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        outbox: told of what OpenFGA has to know.
    """

    def __init__(self, pool: Pool, outbox: Outbox) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self._outbox = outbox

    async def find(self, wanted: UUID) -> ProvisionedUser | None:
        """See `ProvisionedUserStore`."""
        row = await self._pool.fetchrow(_FIND, wanted)
        return None if row is None else _user_of(row)

    async def page(self, wanted: Filter | None, *, skip: int, count: int) -> Found:
        """See `ProvisionedUserStore`."""
        wording = Wording(_ATTRIBUTES, first=1)
        where = f"from provisioned_users where {wording.of(wanted)}"
        total: int = await self._pool.fetchval(f"select count(*) {where}", *wording.arguments)
        if not count or skip >= total:
            return Found([], total)
        place = len(wording.arguments)
        page = f"select {_COLUMNS} {where} order by id offset ${place + 1}::bigint limit ${place + 2}::bigint"
        return Found([_user_of(row) for row in await self._pool.fetch(page, *wording.arguments, skip, count)], total)

    async def add(self, user: ProvisionedUser) -> None:
        """See `ProvisionedUserStore`."""
        async with self._pool.transaction() as connection:
            if not user.profile.active:
                await connection.execute(KEEP_OUT)
            try:
                await connection.execute(_INSERT, user.id, user.user_id, *_values(user.profile), user.created_at)
            except asyncpg.UniqueViolationError as taken:
                raise _taken(taken, user.profile, user.user_id) from taken
            await save_in(connection, self._outbox, _visible(user, user.created_at), update=True)
            if not user.profile.active:
                await suspend(connection, self._outbox, user.user_id)

    async def replace(
        self, wanted: UUID, profile: ProvisionedProfile, *, expected: str, at: datetime
    ) -> ProvisionedUser | None:
        """See `ProvisionedUserStore`."""
        async with self._pool.transaction() as connection:
            before = await _locked(connection, wanted, expected)
            if before is None or profile == before.profile:
                return before
            try:
                row = await connection.fetchrow(_UPDATE, wanted, before.version, *_values(profile), at)
            except asyncpg.UniqueViolationError as taken:
                raise _taken(taken, profile, before.user_id) from taken
            assert row is not None, "it is locked"
            user = _user_of(row)
            await self._settle(connection, before, user, at)
        return user

    async def _settle(
        self, connection: Connection, before: ProvisionedUser, user: ProvisionedUser, at: datetime
    ) -> None:
        """Have the user and its rights as the person is."""
        if before.profile.profile() != user.profile.profile():
            await save_in(connection, self._outbox, _visible(user, at), update=True)
        elif before.profile.active is user.profile.active:
            visible = _visible(user, at)
            event = self._outbox.announcer.user(
                UserChange.UPDATED, user.user_id, visible.profile, updated_with=visible.updated_with
            )
            await self._outbox.tell(connection, event)
        if before.profile.active and not user.profile.active:
            await suspend(connection, self._outbox, user.user_id)
        elif user.profile.active and not before.profile.active:
            await restore(connection, self._outbox, user.user_id)

    async def remove(self, wanted: UUID, *, expected: str, at: datetime) -> bool:
        """See `ProvisionedUserStore`."""
        async with self._pool.transaction() as connection:
            user = await _locked(connection, wanted, expected)
            if user is None:
                return False
            await connection.execute(_DELETE, user.id)
            await delete_in(connection, self._outbox, user.user_id, at=at)
            await revoke_in(connection, self._outbox, user.user_id)
        return True


async def _locked(connection: Connection, wanted: UUID, expected: str) -> ProvisionedUser | None:
    row = await connection.fetchrow(f"{_FIND} for update", wanted)
    if row is None:
        return None
    user = _user_of(row)
    if expected and expected != str(user.version):
        raise changed_meanwhile(wanted, expected)
    return user


def _visible(user: ProvisionedUser, at: datetime) -> User:
    return User(user.user_id, user.profile.profile(), PROVIDER, at)


def _values(profile: ProvisionedProfile) -> tuple[object, ...]:
    named = (profile.user_name, folded(profile.user_name), profile.external_id, profile.display_name, profile.email)
    return (*named, profile.active, profile.document)


def _user_of(row: Record) -> ProvisionedUser:
    own, user_id, user_name, external_id, display_name, email, active, document, created_at, updated_at, version = row
    profile = ProvisionedProfile(user_name, external_id, display_name, email, active, document)
    return ProvisionedUser(own, UserId(user_id), profile, created_at, updated_at, version)


def _taken(violation: asyncpg.UniqueViolationError, profile: ProvisionedProfile, user_id: UserId) -> Exception:
    match violation.constraint_name:
        case "provisioned_users_name":
            return provisioned_already(MatchedBy.USER_NAME.value, profile.user_name)
        case "provisioned_users_user":
            return provisioned_already("user id", user_id)
    return violation
