"""Who is in which role: users, and roles with all who are in them.

A member holds what its role was given, and so does an owner of the role, who is listed among its grants and not here. Rows say
who is in what, whichever engine decides, so what follows from several memberships is listed under each of them.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.paging import read_page
from lakeward_authz.application.user_directory import UserDirectory
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.domain.profiles import Profile
from lakeward_authz.domain.roles import Role, no_such_role
from lakeward_authz.domain.user_ids import no_such_user
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.paging import Page, PageRequest, PageSizes

MOST_MEMBERS: Final = 1000


class MemberKind(enum.Enum):
    """A kind of member; the values are how its subjects begin."""

    USER = "user:"
    ROLE = "role:"


@dataclasses.dataclass(frozen=True, slots=True)
class MemberUser:
    """A user in a role.

    Attributes:
        profile: None of one that was never recorded.
    """

    user_id: UserId
    profile: Profile | None


Member: TypeAlias = MemberUser | Role


class MemberStore(Protocol):
    """Who is in which role. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def add(self, role: Role, members: Sequence[Subject]) -> bool:
        """Put members into a role, all or none; who is in it stays. False where the role is gone.

        Raises:
            Refusal: ROLE_MEMBER_UNKNOWN, for a user that was never recorded, or was deleted; NO_SUCH_ROLE, for a member that
                is no role of the project; ROLE_MEMBERSHIP_CYCLE; ROLE_NESTED_TOO_DEEP.
        """
        ...

    async def remove(self, role: Role, member: Subject) -> bool:
        """Take a member out of a role, if it is in it. False where the role is gone."""
        ...

    async def members(
        self, role: Role, *, kind: MemberKind | None, transitive: bool, after: str, limit: int
    ) -> Sequence[Member]:
        """Who is in a role, by subject, behind one; "" is before all of them. With `transitive` through roles too."""
        ...

    async def roles_of(
        self, member: Subject, project_id: str, *, transitive: bool, after: str, limit: int
    ) -> Sequence[Role]:
        """In which roles of a project a subject is, by id, behind one; "" is before all. With `transitive` through roles too."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class AddMembers:
    """Put members into a role."""

    role_id: UUID
    members: tuple[Subject, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class MemberAdditions:
    """Puts members into roles."""

    doors: DirectoryDoors
    members: MemberStore

    async def __call__(self, command: AddMembers, *, caller: Caller) -> Sequence[Subject]:
        """Put them in, all or none; each is answered once.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_FIELD for too many, and as `MemberStore.add`.
        """
        role = await self.doors.role(command.role_id, Action.ROLE_GRANT_ASSIGNEE, caller=caller)
        members = list(dict.fromkeys(command.members))
        if len(members) > MOST_MEMBERS:
            raise invalid_field("members", f"{len(members)} members", f"at most {MOST_MEMBERS}")
        if members and not await self.members.add(role, members):
            raise no_such_role(command.role_id)
        return members


@dataclasses.dataclass(frozen=True, slots=True)
class RemoveMember:
    """Take a member out of a role."""

    role_id: UUID
    member: Subject


@dataclasses.dataclass(frozen=True, slots=True)
class MemberRemovals:
    """Takes members out of roles."""

    doors: DirectoryDoors
    members: MemberStore

    async def __call__(self, command: RemoveMember, *, caller: Caller) -> None:
        """Take one out; who is not in it is passed over.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN.
        """
        role = await self.doors.role(command.role_id, Action.ROLE_GRANT_ASSIGNEE, caller=caller)
        if not await self.members.remove(role, command.member):
            raise no_such_role(command.role_id)


@dataclasses.dataclass(frozen=True, slots=True)
class ListMembers:
    """List who is in a role; `kind` None: both kinds."""

    role_id: UUID
    page: PageRequest
    kind: MemberKind | None = None
    transitive: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class MemberListings:
    """Lists who is in a role."""

    doors: DirectoryDoors
    members: MemberStore
    sizes: PageSizes

    async def __call__(self, command: ListMembers, *, caller: Caller) -> Page[Member]:
        """A page: roles first, each kind by id.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        role = await self.doors.role(command.role_id, Action.ROLE_READ_ASSIGNMENTS, caller=caller)
        kind, transitive = command.kind, command.transitive
        return await read_page(
            command.page,
            listing=("members", str(role.role_id), str(kind), str(transitive), caller.principal.key),
            sizes=self.sizes,
            place=_subject,
            read=lambda after, limit: self.members.members(
                role, kind=kind, transitive=transitive, after=after, limit=limit
            ),
        )


def _subject(member: Member) -> str:
    return user_subject(member.user_id) if isinstance(member, MemberUser) else role_subject(member.role_id)


@dataclasses.dataclass(frozen=True, slots=True)
class ListRolesOfRole:
    """List in which roles a role is."""

    role_id: UUID
    page: PageRequest
    transitive: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class RoleMembershipListings:
    """Lists in which roles a role is."""

    doors: DirectoryDoors
    members: MemberStore
    sizes: PageSizes

    async def __call__(self, command: ListRolesOfRole, *, caller: Caller) -> Page[Role]:
        """A page, by id.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        role = await self.doors.role(command.role_id, Action.ROLE_READ_ASSIGNMENTS, caller=caller)
        return await _roles_of(
            role_subject(role.role_id),
            role.project_id,
            command.page,
            transitive=command.transitive,
            caller=caller,
            members=self.members,
            sizes=self.sizes,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class ListRolesOfUser:
    """List in which roles of a project a user is."""

    user_id: UserId
    page: PageRequest
    transitive: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class UserMembershipListings:
    """Lists in which roles a user is. No permission to ask about oneself."""

    doors: DirectoryDoors
    users: UserDirectory
    members: MemberStore
    sizes: PageSizes

    async def __call__(self, command: ListRolesOfUser, *, caller: Caller) -> Page[Role]:
        """A page, by id.

        Raises:
            Refusal: PROJECT_MISSING, FORBIDDEN, NO_SUCH_USER, INVALID_PAGE_TOKEN.
        """
        project_id = caller.chosen_project
        await self.doors.user(command.user_id, Action.SERVER_LIST_USERS, caller=caller)
        user = await self.users.find(command.user_id)
        if user is None or user.deleted:
            raise no_such_user(command.user_id)
        return await _roles_of(
            user_subject(command.user_id),
            project_id,
            command.page,
            transitive=command.transitive,
            caller=caller,
            members=self.members,
            sizes=self.sizes,
        )


async def _roles_of(
    member: Subject,
    project_id: str,
    page: PageRequest,
    *,
    transitive: bool,
    caller: Caller,
    members: MemberStore,
    sizes: PageSizes,
) -> Page[Role]:
    return await read_page(
        page,
        listing=("roles of", member, project_id, str(transitive), caller.principal.key),
        sizes=sizes,
        place=lambda role: str(role.role_id),
        read=lambda after, limit: members.roles_of(member, project_id, transitive=transitive, after=after, limit=limit),
    )
