"""Users as people manage them: recorded, looked up, changed and deleted.

A caller may do to itself what it may not do to others, whatever role it assumes. Everyone who calls knows the others by name: who
shares something has to say with whom.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.paging import read_page
from lakeward_authz.application.users import User
from lakeward_authz.domain.profiles import Profile, UserKind, checked_email, checked_name, incomplete
from lakeward_authz.domain.roles import no_such_role
from lakeward_authz.domain.search import sought
from lakeward_authz.domain.user_ids import no_such_user
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import SERVER
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import OF_SERVER, Keeper, Keyed, Once, Record
from lakeward_servicekit.paging import Page, PageRequest, PageSizes
from lakeward_servicekit.system import Clock

_CREATED: Final = "create-endpoint"
_UPDATED: Final = "update-endpoint"


@dataclasses.dataclass(frozen=True, slots=True)
class Saved:
    """A user that was written.

    Attributes:
        created: whether it was not there before, or deleted.
    """

    user: User
    created: bool


class UserDirectory(Protocol):
    """The rows of users, as people manage them. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def find(self, user_id: UserId) -> User | None:
        """Deleted ones too."""
        ...

    async def page(self, *, name: str | None, after: str, limit: int) -> Sequence[User]:
        """Users behind an id, by id, deleted ones left out; with `name`, those who have it in theirs, whatever the case."""
        ...

    async def search(self, text: str) -> Sequence[User]:
        """At most ten users: the one of that id, then those likest by name and address; deleted and nameless ones left out.

        For no text, the first ones by id.
        """
        ...

    async def save(self, user: User, *, update: bool, record: Record | None) -> Saved | None:
        """Add a user, bring back a deleted one, or, with `update`, change one, at `user.created_at`.

        None where it is there and is not to be changed; nothing is written then.

        Raises:
            Refusal: REQUEST_IN_PROGRESS, where the record's key was kept by another.
        """
        ...

    async def replace(self, user_id: UserId, profile: Profile, *, updated_with: str, at: datetime) -> User | None:
        """Give a user another profile; None where there is none, or it was deleted."""
        ...

    async def delete(self, user_id: UserId, *, at: datetime, record: Record | None) -> bool:
        """Delete a user with all that was granted to it, in one transaction; False where there is none, or none any more.

        Raises:
            Refusal: REQUEST_IN_PROGRESS, where the record's key was kept by another.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateUser:
    """Record a user.

    Attributes:
        user_id: None: the caller itself.
        name: None of the caller itself: as its token says; so are the other two.
    """

    user_id: UserId | None = None
    name: str | None = None
    email: str | None = None
    kind: UserKind | None = None
    update_if_exists: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class UserCreations:
    """Records users. No permission to record oneself."""

    doors: DirectoryDoors
    users: UserDirectory
    once: Once
    clock: Clock

    async def __call__(self, command: CreateUser, *, caller: Caller) -> Saved:
        """Record one.

        Raises:
            Refusal: FORBIDDEN, USER_INCOMPLETE, USER_EXISTS.
        """
        user_id = command.user_id or caller.user_id
        if user_id is None:
            raise incomplete("id", "missing", "nobody is asked who they are here, so say which user is meant")
        await self.doors.user(user_id, Action.SERVER_PROVISION_USERS, caller=caller)
        kind = None if command.kind is None else command.kind.value
        asked = {"user_id": user_id, "name": command.name, "email": command.email, "kind": kind}
        keyed = Keyed(OF_SERVER, "create-user", {**asked, "update": command.update_if_exists})
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._save(user_id, command, caller, keeper),
            again=lambda kept: self._again(user_id, kept),
        )

    async def _save(self, user_id: UserId, command: CreateUser, caller: Caller, keeper: Keeper) -> Saved:
        profile = _own_profile(command, caller, user_id) if user_id == caller.user_id else _others_profile(command)
        user = User(user_id, profile, _CREATED, self.clock.now())
        record = await keeper.record(user_id=user_id)
        saved = await self.users.save(user, update=command.update_if_exists, record=record)
        if saved is None:
            raise Refusal(
                Reason.REASON_USER_EXISTS,
                f"the user {user_id!r} is there already; with update-if-exists it is changed",
                user=user_id,
            )
        return saved

    async def _again(self, user_id: UserId, _: Mapping[str, str]) -> Saved:
        user = await _found(self.users, user_id)
        return Saved(user, created=user.updated_at is None)


def _own_profile(command: CreateUser, caller: Caller, user_id: UserId) -> Profile:
    said = caller.profile or Profile(None, None, UserKind.APPLICATION)
    nameless = f"Nameless App with ID {user_id}"
    return Profile(
        (said.name or nameless) if command.name is None else checked_name(command.name),
        said.email if command.email is None else checked_email(command.email),
        said.kind if command.kind is None else command.kind,
    )


def _others_profile(command: CreateUser) -> Profile:
    if command.name is None:
        raise incomplete("name", "missing", "who records another user says its name")
    if command.kind is None:
        raise incomplete("type", "missing", "who records another user says whether it is human or an application")
    return Profile(checked_name(command.name), checked_email(command.email), command.kind)


@dataclasses.dataclass(frozen=True, slots=True)
class UserLookups:
    """Looks users up. No permission: everyone who calls knows the others by name."""

    users: UserDirectory

    async def __call__(self, command: UserId, *, caller: Caller) -> User:
        """The user of an id.

        Raises:
            Refusal: NO_SUCH_USER.
        """
        del caller
        return await _found(self.users, command)


@dataclasses.dataclass(frozen=True, slots=True)
class Self:
    """A caller as a user.

    Attributes:
        instance_administrator: whether it passes what is no data by configuration; never while it acts as a role.
    """

    user: User
    instance_administrator: bool


@dataclasses.dataclass(frozen=True, slots=True)
class SelfLookups:
    """Tells callers who they are. No permission.

    Attributes:
        administrators: ids of users that are administrators of the instance.
    """

    users: UserDirectory
    administrators: Collection[str]

    async def __call__(self, *, caller: Caller) -> Self:
        """The caller.

        Raises:
            Refusal: NOBODY; NO_SUCH_USER for one that was never recorded, or was deleted.
        """
        user_id = caller.user_id
        if user_id is None:
            raise Refusal(Reason.REASON_NOBODY, "nobody is asked who they are here, so you are nobody in particular")
        itself = caller.principal.kind is PrincipalKind.USER
        return Self(await _found(self.users, user_id), itself and user_id in self.administrators)


@dataclasses.dataclass(frozen=True, slots=True)
class ListUsers:
    """List users; `name` None: all."""

    page: PageRequest
    name: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class UserListings:
    """Lists users."""

    doors: DirectoryDoors
    users: UserDirectory
    sizes: PageSizes

    async def __call__(self, command: ListUsers, *, caller: Caller) -> Page[User]:
        """A page, by id.

        Raises:
            Refusal: FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        await self.doors.server(Action.SERVER_LIST_USERS, caller=caller)
        name = None if command.name is None else sought(command.name)
        return await read_page(
            command.page,
            listing=("users", name or "", caller.principal.key),
            sizes=self.sizes,
            place=lambda user: user.user_id,
            read=lambda after, limit: self.users.page(name=name, after=after, limit=limit),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class UserSearches:
    """Searches users. No permission: everyone who calls knows the others by name."""

    users: UserDirectory

    async def __call__(self, command: str, *, caller: Caller) -> Sequence[User]:
        """At most ten users, the likest first."""
        del caller
        return await self.users.search(sought(command))


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateUser:
    """Replace what is known of a user; `email` None: none."""

    user_id: UserId
    name: str
    email: str | None
    kind: UserKind | None


@dataclasses.dataclass(frozen=True, slots=True)
class UserUpdates:
    """Changes users. No permission to change oneself."""

    doors: DirectoryDoors
    users: UserDirectory
    clock: Clock

    async def __call__(self, command: UpdateUser, *, caller: Caller) -> User:
        """Change one.

        Raises:
            Refusal: FORBIDDEN, USER_INCOMPLETE, NO_SUCH_USER.
        """
        await self.doors.user(command.user_id, Action.SERVER_UPDATE_USERS, caller=caller)
        if command.kind is None:
            raise incomplete("type", "missing", "it is human or application")
        profile = Profile(checked_name(command.name), checked_email(command.email), command.kind)
        at = self.clock.now()
        user = await self.users.replace(command.user_id, profile, updated_with=_UPDATED, at=at)
        if user is None:
            raise no_such_user(command.user_id)
        return user


@dataclasses.dataclass(frozen=True, slots=True)
class UserDeletions:
    """Deletes users, and takes all their rights. No permission to delete oneself."""

    doors: DirectoryDoors
    users: UserDirectory
    once: Once
    clock: Clock

    async def __call__(self, command: UserId, *, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: FORBIDDEN, NO_SUCH_USER.
        """
        await self.doors.user(command, Action.SERVER_DELETE_USERS, caller=caller)

        async def again(_: Mapping[str, str]) -> None:
            """Nothing is left that could be asked about."""

        keyed = Keyed(OF_SERVER, "delete-user", {"user_id": command})
        await self.once(keyed, caller=caller, do=lambda keeper: self._delete(command, keeper), again=again)

    async def _delete(self, user_id: UserId, keeper: Keeper) -> None:
        record = await keeper.record(user_id=user_id)
        if not await self.users.delete(user_id, at=self.clock.now(), record=record):
            raise no_such_user(user_id)


@dataclasses.dataclass(frozen=True, slots=True)
class InspectUser:
    """Ask what may be done to a user.

    Attributes:
        by: by whom: a user's id, or a role's; None: by the caller.
    """

    user_id: UserId
    by: UserId | UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class UserInspections:
    """Says what may be done to a user. No permission to ask about oneself."""

    doors: DirectoryDoors

    async def __call__(self, command: InspectUser, *, caller: Caller) -> Sequence[str]:
        """Words of the actions, as "read_role_assignments".

        Raises:
            Refusal: FORBIDDEN, about another principal; NO_SUCH_ROLE.
        """
        asked, itself = caller.principal, caller.user_id
        if command.by is not None:
            asked, itself = _other(command.by)
            if asked != caller.principal:
                await self.doors.server(Action.SERVER_READ_ASSIGNMENTS, caller=caller)
            # whether a role is there is said to who may ask about it
            if isinstance(command.by, UUID) and await self.doors.roles.find(command.by) is None:
                raise no_such_role(command.by)
        words = {
            "update": Action.SERVER_UPDATE_USERS,
            "delete": Action.SERVER_DELETE_USERS,
            "read_role_assignments": Action.SERVER_LIST_USERS,
        }
        if itself == command.user_id:
            return ["read", *words]
        outcomes = await self.doors.authorizer.decide(asked, [Demand(SERVER, action) for action in words.values()])
        allowed = [word for word, outcome in zip(words, outcomes, strict=True) if outcome is Outcome.ALLOWED]
        return ["read", *allowed]


def _other(by: UserId | UUID) -> tuple[Principal, UserId | None]:
    if isinstance(by, UUID):
        return Principal(PrincipalKind.ROLE, role_id=RoleId(str(by))), None
    return Principal(PrincipalKind.USER, by), by


async def _found(users: UserDirectory, user_id: UserId) -> User:
    user = await users.find(user_id)
    if user is None or user.deleted:
        raise no_such_user(user_id)
    return user
