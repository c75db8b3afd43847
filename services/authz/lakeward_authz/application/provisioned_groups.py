"""Groups that an identity provider sends: roles of a project, which nobody owns and nobody changes by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors, no_such_project
from lakeward_authz.application.members import MemberKind
from lakeward_authz.application.provisioned_users import LARGEST_PAGE, DeleteProvisioned, ListProvisioned
from lakeward_authz.domain.provisioning import OF_GROUPS, Filter, changed_meanwhile, check_filter
from lakeward_authz.domain.roles import Role, RoleIdent, check_role, no_such_role
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.settings.provisioning import SCIM
from lakeward_servicekit.system import Clock, Ids

MOST_MEMBERS_SENT: Final = 10_000
MOST_MEMBERS_LISTED: Final = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class GroupMember:
    """A person or a group in a group."""

    id: UUID
    kind: MemberKind
    display: str


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """A group.

    Attributes:
        members: None where they were not asked for.
    """

    role: Role
    members: Sequence[GroupMember] | None

    @property
    def external_id(self) -> str | None:
        """What the provider calls it; None: nothing."""
        return None if self.role.ident.source_id == str(self.role.role_id) else self.role.ident.source_id

    @property
    def version(self) -> str:
        """Another after each change."""
        return version_of(self.role)


def version_of(role: Role) -> str:
    """Another after each change of a group."""
    return str(int((role.updated_at or role.created_at).timestamp() * 1_000_000))


@dataclasses.dataclass(frozen=True, slots=True)
class FoundGroups:
    """A part of a listing.

    Attributes:
        total: how many there are, with those that are not in it.
    """

    groups: Sequence[ProvisionedGroup]
    total: int


@dataclasses.dataclass(frozen=True, slots=True)
class MembersChange:
    """A change of who is in a group: some or all out, then some in."""

    clear: bool = False
    remove: frozenset[str] = frozenset()
    add: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class GroupChange:
    """A change of a group; None: as it was."""

    name: str | None = None
    ident: RoleIdent | None = None
    members: tuple[MembersChange, ...] = ()


class ProvisionedGroupStore(Protocol):
    """The rows of groups. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def members(self, roles: Sequence[Role], *, most: int) -> Sequence[Sequence[GroupMember]]:
        """Who is in each, people before groups, each by id.

        Raises:
            Refusal: INVALID_FIELD, where they are more than `most` together.
        """
        ...

    async def page(
        self, project_id: str, wanted: Filter | None, *, skip: int, count: int
    ) -> tuple[Sequence[Role], int]:
        """Groups of a project by id, and how many there are in all."""
        ...

    async def add(self, role: Role, members: frozenset[str]) -> bool:
        """Add a group to its project's objects; False where there is no such project.

        Raises:
            Refusal: ROLE_EXISTS, ROLE_IDENT_TAKEN, PROVISIONED_MEMBER_UNKNOWN.
        """
        ...

    async def change(self, role_id: UUID, change: GroupChange, *, expected: str, at: datetime) -> Role:
        """Make a change, all or none; `updated_at` moves on by it.

        Raises:
            Refusal: NO_SUCH_ROLE; PROVISIONED_CONCURRENTLY, where its version is not `expected`, unless that is "";
                ROLE_EXISTS, ROLE_IDENT_TAKEN, PROVISIONED_MEMBER_UNKNOWN, ROLE_MEMBERSHIP_CYCLE, ROLE_NESTED_TOO_DEEP.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class CreateGroup:
    """Make a group; `external_id` None: the provider calls it nothing."""

    name: str
    external_id: str | None = None
    members: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class GroupCreations:
    """Makes groups. Nobody owns them: an owner would hold what is given to the group."""

    doors: DirectoryDoors
    groups: ProvisionedGroupStore
    clock: Clock
    ids: Ids

    async def __call__(self, command: CreateGroup, *, caller: Caller) -> ProvisionedGroup:
        """Make one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_ROLE_NAME, INVALID_ROLE_IDENT, INVALID_FIELD,
                ROLE_EXISTS, ROLE_IDENT_TAKEN, PROVISIONED_MEMBER_UNKNOWN.
        """
        project_id = await self.doors.project_id(Action.PROJECT_CREATE_ROLE, caller=caller)
        role_id = self.ids.uuid7()
        check_role(command.name, None)
        ident = RoleIdent.of(SCIM, command.external_id or str(role_id))
        _check_sent([MembersChange(add=command.members)])
        role = Role(role_id, project_id, command.name, None, ident, self.clock.now())
        if not await self.groups.add(role, command.members):
            raise no_such_project(project_id)
        return await _shown(self.groups, role)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupLookup:
    """Look a group up."""

    id: UUID
    with_members: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class GroupLookups:
    """Looks groups up."""

    doors: DirectoryDoors
    groups: ProvisionedGroupStore

    async def __call__(self, command: GroupLookup, *, caller: Caller) -> ProvisionedGroup:
        """One group.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN; INVALID_FIELD, where it has too many members.
        """
        role = await self.doors.sourced_role(command.id, SCIM, [Action.ROLE_READ_ASSIGNMENTS], caller=caller)
        return await _shown(self.groups, role) if command.with_members else ProvisionedGroup(role, None)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupListings:
    """Lists groups."""

    doors: DirectoryDoors
    groups: ProvisionedGroupStore

    async def __call__(self, command: ListProvisioned, *, with_members: bool, caller: Caller) -> FoundGroups:
        """A part of a project's groups, by id.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN; INVALID_FIELD, also where they have too many members.
        """
        project_id = await self.doors.project_id(Action.PROJECT_LIST_ROLES, caller=caller)
        if command.filter is not None:
            check_filter(command.filter, OF_GROUPS)
        count = min(command.count, LARGEST_PAGE)
        roles, total = await self.groups.page(project_id, command.filter, skip=command.skip, count=count)
        if not with_members:
            return FoundGroups([ProvisionedGroup(role, None) for role in roles], total)
        members = await self.groups.members(roles, most=MOST_MEMBERS_LISTED)
        return FoundGroups([ProvisionedGroup(role, own) for role, own in zip(roles, members, strict=True)], total)


@dataclasses.dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Change a group; None: as it was.

    Attributes:
        external_id: "" for none any more.
        expected: "" for whatever its version is.
    """

    id: UUID
    name: str | None = None
    external_id: str | None = None
    members: tuple[MembersChange, ...] = ()
    expected: str = ""
    with_members: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class GroupChanges:
    """Changes groups."""

    doors: DirectoryDoors
    groups: ProvisionedGroupStore
    clock: Clock

    async def __call__(self, command: ChangeGroup, *, caller: Caller) -> ProvisionedGroup:
        """Change one, all or none.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_FIELD, and as `ProvisionedGroupStore.change`.
        """
        needs = [] if command.name is None and command.external_id is None else [Action.ROLE_UPDATE]
        needs += [Action.ROLE_GRANT_ASSIGNEE] if command.members or not needs else []
        role = await self.doors.sourced_role(command.id, SCIM, needs, caller=caller)
        _check_sent(command.members)
        if command.name is not None:
            check_role(command.name, None)
        ident = None
        if command.external_id is not None:
            ident = RoleIdent.of(SCIM, command.external_id or str(role.role_id))
        change = GroupChange(command.name, ident, command.members)
        role = await self.groups.change(command.id, change, expected=command.expected, at=self.clock.now())
        return await _shown(self.groups, role) if command.with_members else ProvisionedGroup(role, None)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupDeletions:
    """Deletes groups, with all that was granted to them."""

    doors: DirectoryDoors

    async def __call__(self, command: DeleteProvisioned, *, group_id: UUID, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, PROVISIONED_CONCURRENTLY.
        """
        role = await self.doors.sourced_role(group_id, SCIM, [Action.ROLE_DELETE], caller=caller)
        if command.expected and command.expected != version_of(role):
            raise changed_meanwhile(role.role_id, command.expected)
        if not await self.doors.roles.remove(role, record=None):
            raise no_such_role(group_id)


def _check_sent(changes: Sequence[MembersChange]) -> None:
    sent = sum(len(change.add) + len(change.remove) for change in changes)
    if sent > MOST_MEMBERS_SENT:
        raise invalid_field("members", f"{sent} members", f"at most {MOST_MEMBERS_SENT} in one request")


async def _shown(groups: ProvisionedGroupStore, role: Role) -> ProvisionedGroup:
    (members,) = await groups.members([role], most=MOST_MEMBERS_LISTED)
    return ProvisionedGroup(role, members)
