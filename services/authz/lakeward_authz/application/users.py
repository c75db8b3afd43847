"""Users as authz keeps them: known by name once they called, and who of them was first."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Protocol

from lakeward_authz.application.identifying import Identification
from lakeward_authz.domain.profiles import Profile
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """A user's row.

    Attributes:
        profile: with no name while nobody knew one.
        updated_with: what wrote the row last, in upstream's words, as "config-call-creation".
        created_at: when it was recorded, or came back after it was deleted.
        updated_at: None: never since.
        deleted: the row of a deleted user stays, without name and address; calling does not revive it.
    """

    user_id: UserId
    profile: Profile
    updated_with: str
    created_at: datetime
    updated_at: datetime | None = None
    deleted: bool = False


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

    async def add(self, user: User) -> bool:
        """False where the row was there already, whatever it holds."""
        ...

    async def complete(self, user: User) -> bool:
        """Give a row without a name its profile, updated when `user` was created; False where it is gone, deleted or named."""
        ...

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        """Record the first administrator unless there is one, with its right on the server, and answer who it is.

        The anonymous caller is recorded and gets no right: nobody could be told from it.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Provisioned:
    """What came of recording a caller.

    Attributes:
        user_id: None for the anonymous caller, who is never recorded.
        created: whether the row was made now.
    """

    user_id: UserId | None
    created: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionUser:
    """Records a caller where it never was; always the user, whatever role it assumes.

    No permission: everyone may be known by name, and it grants nothing.
    """

    users: UserStore
    clock: Clock

    async def __call__(self, *, caller: Identification, updated_with: str) -> Provisioned:
        """Nothing that was recorded changes, but a row without a name gets one.

        Args:
            caller: who is recorded.
            updated_with: see `User`.
        """
        if caller.profile is None:
            return Provisioned(None, created=False)
        user_id, profile = caller.principal.user_id, caller.profile
        found = await self.users.find(user_id)
        if found is not None and (found.deleted or found.profile.name is not None or profile.name is None):
            return Provisioned(user_id, created=False)
        user = User(user_id, profile, updated_with, self.clock.now())
        if found is None:
            # Of callers who come at once one makes the row, and the others find it made.
            return Provisioned(user_id, created=await self.users.add(user))
        await self.users.complete(user)
        return Provisioned(user_id, created=False)


@dataclasses.dataclass(frozen=True, slots=True)
class BootstrapAdministrator:
    """Makes a caller the first administrator, and records it as a user. No permission: nobody has one before it; it works once.

    Attributes:
        provision: records the caller as a user.
    """

    provision: ProvisionUser
    users: UserStore
    clock: Clock

    async def __call__(self, *, caller: Identification, is_operator: bool) -> None:
        """Idempotent for one caller: the first answer stands, `is_operator` included.

        Raises:
            Refusal: ALREADY_BOOTSTRAPPED where another caller was first.
        """
        user_id = (await self.provision(caller=caller, updated_with="update-endpoint")).user_id
        first = await self.users.appoint_first(Administrator(user_id, is_operator), at=self.clock.now())
        if first.user_id != user_id:
            raise Refusal(
                Reason.REASON_ALREADY_BOOTSTRAPPED,
                "this server has its first administrator already; ask them for the rights that you need",
            )
