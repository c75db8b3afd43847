"""Groups that people are in, shown with the people to those who may list them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Protocol

from lakeward_servicekit.authorization.actions import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_authz.application.caller import Caller
    from lakeward_authz.application.directory_doors import DirectoryDoors
    from lakeward_authz.domain.provisioning import Membership, ProvisionedUser
    from lakeward_servicekit.authorization.principals import UserId

MOST_MEMBERSHIPS_LISTED: Final = 100_000


class MembershipStore(Protocol):
    """Who is in which group."""

    async def groups_of(
        self, users: Sequence[UserId], project_id: str, *, most: int
    ) -> Sequence[tuple[Membership, ...]]:
        """The groups of a project that each user is in, by id, also while it is not active; through groups as well.

        Raises:
            Refusal: INVALID_FIELD, where they are more than `most` together; DATABASE_UNAVAILABLE.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Memberships:
    """Adds their groups to people."""

    doors: DirectoryDoors
    groups: MembershipStore

    async def shown(self, people: Sequence[ProvisionedUser], *, caller: Caller) -> Sequence[ProvisionedUser]:
        """People with their groups in the project that the call names; with none where the caller may not list that one's roles.

        People are the server's, so who may not look into the project, or names none, is not refused.

        Raises:
            Refusal: INVALID_FIELD, where the groups are too many.
        """
        project_id = await self.doors.project_if_allowed(Action.PROJECT_LIST_ROLES, caller=caller)
        if project_id is None or not people:
            return people
        users = [person.user_id for person in people]
        found = await self.groups.groups_of(users, project_id, most=MOST_MEMBERSHIPS_LISTED)
        return [dataclasses.replace(person, groups=own) for person, own in zip(people, found, strict=True)]

    async def shown_of(self, person: ProvisionedUser, *, caller: Caller) -> ProvisionedUser:
        """One person likewise.

        Raises:
            Refusal: INVALID_FIELD, where the groups are too many.
        """
        (shown,) = await self.shown([person], caller=caller)
        return shown
