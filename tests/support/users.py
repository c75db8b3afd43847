"""Users that are kept in memory, and the servicer over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from lakeward_authz.application.identifying import Authenticate, Authenticator, RoleMembership
from lakeward_authz.application.users import Administrator, BootstrapAdministrator, ProvisionUser, User
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.transport.identity import IdentityServicer
from lakeward_servicekit.authorization.principals import RoleId, UserId


@dataclasses.dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands."""

    at: datetime

    def now(self) -> datetime:
        return self.at


class FakeUsers:
    """The `UserStore` in memory."""

    def __init__(self) -> None:
        self.rows: dict[UserId, User] = {}
        self.first: Administrator | None = None
        self.granted: list[tuple[UserId, str]] = []

    async def find(self, user_id: UserId) -> User | None:
        return self.rows.get(user_id)

    async def add(self, user: User) -> bool:
        if user.user_id in self.rows:
            return False
        self.rows[user.user_id] = user
        return True

    async def complete(self, user: User) -> bool:
        found = self.rows.get(user.user_id)
        if found is None or found.deleted or found.profile.name is not None:
            return False
        completed = dataclasses.replace(user, created_at=found.created_at, updated_at=user.created_at)
        self.rows[user.user_id] = completed
        return True

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        del at
        if self.first is None:
            self.first = administrator
            if administrator.user_id is not None:
                self.granted.append((administrator.user_id, "operator" if administrator.is_operator else "admin"))
        return self.first


class FakeRoles:
    """The `RoleMembership` in memory.

    Attributes:
        holders: of each role, the subjects that hold or own it.
    """

    def __init__(self, holders: Mapping[UUID, Collection[Subject]] | None = None) -> None:
        self.holders = {} if holders is None else dict(holders)

    async def may_assume(self, user_id: UserId, role_id: RoleId, *, token_roles: Sequence[str] = ()) -> bool | None:
        del token_roles
        if UUID(role_id) not in self.holders:
            return None
        found, fresh = set[Subject](), {user_subject(user_id)}
        while fresh:
            found |= fresh
            fresh = {
                role_subject(role) for role, holders in self.holders.items() if not found.isdisjoint(holders)
            } - found
        return role_subject(UUID(role_id)) in found


def identity_servicer(
    authenticator: Authenticator, users: FakeUsers, *, at: datetime, roles: RoleMembership | None = None
) -> IdentityServicer:
    """The servicer as it is composed, over what a test gives it; `at` is the time."""
    clock = FixedClock(at)
    provision = ProvisionUser(users, clock)
    return IdentityServicer(
        authenticate=Authenticate(authenticator, roles or FakeRoles()),
        provision_user=provision,
        bootstrap_administrator=BootstrapAdministrator(provision, users, clock),
    )
