"""Users as authz keeps them: known by name once they called, and who of them was first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from lakeward_authz.application.identifying import Identification
from lakeward_authz.domain.profiles import Profile
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """A user's row.

    Attributes:
        profile: with no name while nobody knew one.
        updated_with: what wrote the row last, in upstream's words, as "config-call-creation".
        deleted: the row of a deleted user stays, without name and address; calling does not revive it.
    """

    user_id: UserId
    profile: Profile
    updated_with: str
    deleted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Administrator:
    """The first administrator.

    Attributes:
        user_id: None for the anonymous caller.
    """

    user_id: UserId | None
    is_operator: bool


class UserStore(Protocol):
    """The rows of users. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def find(self, user_id: UserId) -> User | None:
        """Deleted ones too."""
        ...

    async def add(self, user: User, *, at: datetime) -> bool:
        """False where the row was there already, whatever it holds."""
        ...

    async def complete(self, user: User, *, at: datetime) -> bool:
        """Give a row without a name its profile; False where it is gone, deleted or named."""
        ...

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        """Record the first administrator unless there is one, and answer who it is."""
        ...


async def provision_user(
    caller: Identification,
    *,
    updated_with: str,
    users: UserStore,
    now: Callable[[], datetime],
) -> tuple[UserId | None, bool]:
    """Record the caller where it never was; nothing that was recorded changes, but a row without a name gets one.

    Returns:
        The user's id and whether the row was made now; None for the anonymous caller.
    """
    if caller.profile is None:
        return None, False
    user_id, profile = caller.principal.user_id, caller.profile
    found = await users.find(user_id)
    if found is not None and (found.deleted or found.profile.name is not None or profile.name is None):
        return user_id, False
    user = User(user_id, profile, updated_with, deleted=False)
    if found is None:
        return user_id, await users.add(user, at=now())
    await users.complete(user, at=now())
    return user_id, False


async def bootstrap_administrator(
    caller: Identification,
    *,
    is_operator: bool,
    users: UserStore,
    now: Callable[[], datetime],
) -> None:
    """Record the caller as the first administrator, and as a user.

    Idempotent for one caller: the first answer stands, `is_operator` included.

    Raises:
        Refusal: ALREADY_BOOTSTRAPPED where another caller was first.
    """
    user_id, _ = await provision_user(caller, updated_with="update-endpoint", users=users, now=now)
    first = await users.appoint_first(Administrator(user_id, is_operator), at=now())
    if first.user_id != user_id:
        raise Refusal(
            Reason.REASON_ALREADY_BOOTSTRAPPED,
            "this server has its first administrator already; ask them for the rights that you need",
        )
