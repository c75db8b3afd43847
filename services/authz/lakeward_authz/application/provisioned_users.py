"""People that an identity provider sends, and the users that they are.

A person that is not active has no rights, and what is given to it meanwhile waits for it too. Who is no person here any more
is no user either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.provisioned_memberships import Memberships
from lakeward_authz.domain.provisioning import (
    OF_PEOPLE,
    Filter,
    Matching,
    ProvisionedProfile,
    ProvisionedUser,
    check_filter,
    id_fixed,
    not_provisioned,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock, Ids

LARGEST_PAGE: Final = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A part of a listing.

    Attributes:
        total: how many there are, with those that are not in it.
    """

    users: Sequence[ProvisionedUser]
    total: int


class ProvisionedUserStore(Protocol):
    """The rows of people. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def find(self, wanted: UUID) -> ProvisionedUser | None:
        """A person."""
        ...

    async def page(self, wanted: Filter | None, *, skip: int, count: int) -> Found:
        """People by id, in the order in which they were sent."""
        ...

    async def add(self, user: ProvisionedUser) -> None:
        """Add a person and the user that it is, which comes back where it was deleted.

        Raises:
            Refusal: PROVISIONED_ALREADY.
        """
        ...

    async def replace(
        self, wanted: UUID, profile: ProvisionedProfile, *, expected: str, at: datetime
    ) -> ProvisionedUser | None:
        """Give a person another profile, and its rights or none by whether it is active; nothing is written where none differs.

        None where there is none.

        Raises:
            Refusal: PROVISIONED_ALREADY; PROVISIONED_CONCURRENTLY, where its version is not `expected`, unless that is "".
        """
        ...

    async def remove(self, wanted: UUID, *, expected: str, at: datetime) -> bool:
        """Remove a person, and delete the user with all that was granted to it; False where there is none.

        Raises:
            Refusal: PROVISIONED_CONCURRENTLY, as `replace`.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class UserProvisionings:
    """Records people."""

    doors: DirectoryDoors
    people: ProvisionedUserStore
    matching: Matching
    clock: Clock
    ids: Ids

    async def __call__(self, command: ProvisionedProfile, *, caller: Caller) -> ProvisionedUser:
        """Record one.

        Raises:
            Refusal: FORBIDDEN, USER_INCOMPLETE, INVALID_FIELD, INVALID_USER_ID, PROVISIONED_ALREADY.
        """
        await self.doors.server(Action.SERVER_PROVISION_USERS, caller=caller)
        now = self.clock.now()
        user_id = self.matching.user_id(command.checked())
        made = ProvisionedUser(self.ids.uuid7(), user_id, command, now, now)
        await self.people.add(made)
        return made


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedUserLookups:
    """Looks people up."""

    doors: DirectoryDoors
    people: ProvisionedUserStore
    memberships: Memberships

    async def __call__(self, command: str, *, with_groups: bool, caller: Caller) -> ProvisionedUser:
        """The person of an id.

        Raises:
            Refusal: FORBIDDEN, NOT_PROVISIONED; INVALID_FIELD, where it is in too many groups.
        """
        await self.doors.server(Action.SERVER_LIST_USERS, caller=caller)
        user = await _found(self.people, command)
        return await self.memberships.shown_of(user, caller=caller) if with_groups else user


@dataclasses.dataclass(frozen=True, slots=True)
class ListProvisioned:
    """List people or groups; `filter` None: all."""

    filter: Filter | None = None
    skip: int = 0
    count: int = LARGEST_PAGE


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedUserListings:
    """Lists people."""

    doors: DirectoryDoors
    people: ProvisionedUserStore
    memberships: Memberships

    async def __call__(self, command: ListProvisioned, *, with_groups: bool, caller: Caller) -> Found:
        """A part of them, by id.

        Raises:
            Refusal: FORBIDDEN; INVALID_FIELD, also where they are in too many groups.
        """
        await self.doors.server(Action.SERVER_LIST_USERS, caller=caller)
        if command.filter is not None:
            check_filter(command.filter, OF_PEOPLE)
        found = await self.people.page(command.filter, skip=command.skip, count=min(command.count, LARGEST_PAGE))
        if not with_groups:
            return found
        return Found(await self.memberships.shown(found.users, caller=caller), found.total)


@dataclasses.dataclass(frozen=True, slots=True)
class ReplaceProvisionedUser:
    """Replace what is known of a person; `expected` "": whatever its version is."""

    id: str
    profile: ProvisionedProfile
    expected: str = ""
    with_groups: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedUserReplacements:
    """Changes people."""

    doors: DirectoryDoors
    people: ProvisionedUserStore
    memberships: Memberships
    matching: Matching
    clock: Clock

    async def __call__(self, command: ReplaceProvisionedUser, *, caller: Caller) -> ProvisionedUser:
        """Change one.

        Raises:
            Refusal: FORBIDDEN, NOT_PROVISIONED, USER_INCOMPLETE, INVALID_FIELD, PROVISIONED_ID_FIXED, PROVISIONED_ALREADY,
                PROVISIONED_CONCURRENTLY.
        """
        await self.doors.server(Action.SERVER_UPDATE_USERS, caller=caller)
        before = await _found(self.people, command.id)
        if self.matching.user_id(command.profile.checked()) != before.user_id:
            raise id_fixed(self.matching.by)
        now = self.clock.now()
        user = await self.people.replace(before.id, command.profile, expected=command.expected, at=now)
        if user is None:
            raise not_provisioned(command.id)
        return await self.memberships.shown_of(user, caller=caller) if command.with_groups else user


@dataclasses.dataclass(frozen=True, slots=True)
class DeleteProvisioned:
    """Delete a person or a group; `expected` "": whatever its version is."""

    id: str
    expected: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedUserDeletions:
    """Forgets people, and deletes the users that they are."""

    doors: DirectoryDoors
    people: ProvisionedUserStore
    clock: Clock

    async def __call__(self, command: DeleteProvisioned, *, caller: Caller) -> None:
        """Forget one.

        Raises:
            Refusal: FORBIDDEN, NOT_PROVISIONED, PROVISIONED_CONCURRENTLY.
        """
        await self.doors.server(Action.SERVER_DELETE_USERS, caller=caller)
        wanted = id_of(command.id)
        if wanted is None or not await self.people.remove(wanted, expected=command.expected, at=self.clock.now()):
            raise not_provisioned(command.id)


async def _found(people: ProvisionedUserStore, wanted: str) -> ProvisionedUser:
    key = id_of(wanted)
    user = None if key is None else await people.find(key)
    if user is None:
        raise not_provisioned(wanted)
    return user


def id_of(text: str) -> UUID | None:
    """An id of ours; None of a text that can't be one, so nothing has it."""
    try:
        return UUID(text)
    except ValueError:
        return None
