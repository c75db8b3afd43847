"""Roles of projects: made, found, changed and deleted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors, no_such_project
from lakeward_authz.application.paging import read_page
from lakeward_authz.application.permissions import subject_of
from lakeward_authz.application.role_store import ALL_ROLES, RoleFilter, RoleStore
from lakeward_authz.domain.permissions.objects import ANYBODY
from lakeward_authz.domain.roles import NATIVE, Role, RoleIdent, check_role, invalid_ident, no_such_role
from lakeward_authz.domain.search import sought
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.idempotency import Keeper, Keyed, Once, of_project
from lakeward_servicekit.paging import Page, PageRequest, PageSizes
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True)
class CreateRole:
    """Make a role.

    Attributes:
        provider_id: None, with `source_id`: the role is known here alone.
    """

    name: str
    description: str | None = None
    provider_id: str | None = None
    source_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RoleCreations:
    """Makes roles, which their makers own: the user, or the role that it acts as."""

    doors: DirectoryDoors
    once: Once
    clock: Clock
    ids: Ids

    async def __call__(self, command: CreateRole, *, caller: Caller) -> Role:
        """Make one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_ROLE_NAME, INVALID_ROLE_IDENT, INVALID_FIELD,
                RESERVED_ROLE_PROVIDER, ROLE_MANAGED, ROLE_EXISTS, ROLE_IDENT_TAKEN.
        """
        project_id = await self.doors.project_id(Action.PROJECT_CREATE_ROLE, caller=caller)
        keyed = Keyed(of_project(project_id), "create-role", dataclasses.asdict(command))
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(project_id, command, caller, keeper),
            again=self._again,
        )

    async def _create(self, project_id: str, command: CreateRole, caller: Caller, keeper: Keeper) -> Role:
        role_id = self.ids.uuid7()
        check_role(command.name, command.description)
        ident = _ident(command, role_id)
        self.doors.check_free(ident)
        role = Role(role_id, project_id, command.name, command.description, ident, self.clock.now())
        subject = subject_of(caller.principal)
        owner = None if subject == ANYBODY else subject
        if not await self.doors.roles.add(role, owner=owner, record=await keeper.record(role_id=role_id)):
            raise no_such_project(project_id)
        return role

    async def _again(self, kept: Mapping[str, str]) -> Role:
        role_id = UUID(kept["role_id"])
        role = await self.doors.roles.find(role_id)
        if role is None:
            raise no_such_role(role_id)
        return role


def _ident(command: CreateRole, role_id: UUID) -> RoleIdent:
    provider_id, source_id = command.provider_id, command.source_id
    if provider_id is None and source_id is None:
        return RoleIdent.of(NATIVE, str(role_id))
    if provider_id is None or source_id is None:
        raise invalid_ident(f"{provider_id or ''}~{source_id or ''}", "one half of it is missing")
    return RoleIdent.of(provider_id, source_id)


@dataclasses.dataclass(frozen=True, slots=True)
class RoleMetadataLookups:
    """Tells what a role of any project is called. No permission: grants name roles so, across projects."""

    roles: RoleStore

    async def __call__(self, command: UUID, *, caller: Caller) -> Role:
        """The role of an id.

        Raises:
            Refusal: NO_SUCH_ROLE.
        """
        del caller
        role = await self.roles.find(command)
        if role is None:
            raise no_such_role(command)
        return role


@dataclasses.dataclass(frozen=True, slots=True)
class ListRoles:
    """List a project's roles."""

    page: PageRequest
    wanted: RoleFilter = ALL_ROLES


@dataclasses.dataclass(frozen=True, slots=True)
class RoleListings:
    """Lists roles: whoever lists those of a project sees all of them."""

    doors: DirectoryDoors
    sizes: PageSizes

    async def __call__(self, command: ListRoles, *, caller: Caller) -> Page[Role]:
        """A page, by id.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        project_id = await self.doors.project_id(Action.PROJECT_LIST_ROLES, caller=caller)
        return await read_page(
            command.page,
            listing=("roles", project_id, repr(command.wanted), caller.principal.key),
            sizes=self.sizes,
            place=lambda role: str(role.role_id),
            read=lambda after, limit: self.doors.roles.page(project_id, command.wanted, after=after, limit=limit),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class RoleSearches:
    """Searches a project's roles."""

    doors: DirectoryDoors

    async def __call__(self, command: str, *, caller: Caller) -> Sequence[Role]:
        """At most ten roles, the likest first.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        project_id = await self.doors.project_id(Action.PROJECT_SEARCH_ROLES, caller=caller)
        return await self.doors.roles.search(project_id, sought(command))


@dataclasses.dataclass(frozen=True, slots=True)
class DescribeRole:
    """Give a role another name and description; `description` None: none."""

    role_id: UUID
    name: str
    description: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class RoleDescriptions:
    """Names roles and describes them."""

    doors: DirectoryDoors
    clock: Clock

    async def __call__(self, command: DescribeRole, *, caller: Caller) -> Role:
        """Describe one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_ROLE_NAME, INVALID_FIELD, ROLE_EXISTS.
        """
        await self.doors.role(command.role_id, Action.ROLE_UPDATE, caller=caller)
        check_role(command.name, command.description)
        role = await self.doors.roles.describe(
            command.role_id, name=command.name, description=command.description, at=self.clock.now()
        )
        if role is None:
            raise no_such_role(command.role_id)
        return role


@dataclasses.dataclass(frozen=True, slots=True)
class BindRole:
    """Say what a provider calls a role."""

    role_id: UUID
    provider_id: str
    source_id: str


@dataclasses.dataclass(frozen=True, slots=True)
class RoleBindings:
    """Binds roles to providers' names of them."""

    doors: DirectoryDoors
    clock: Clock

    async def __call__(self, command: BindRole, *, caller: Caller) -> Role:
        """Bind one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN, INVALID_ROLE_IDENT, RESERVED_ROLE_PROVIDER, ROLE_MANAGED,
                ROLE_IDENT_TAKEN.
        """
        await self.doors.role(command.role_id, Action.ROLE_UPDATE_SOURCE_SYSTEM, caller=caller)
        ident = RoleIdent.of(command.provider_id, command.source_id)
        self.doors.check_free(ident, role_id=str(command.role_id))
        role = await self.doors.roles.bind(command.role_id, ident, at=self.clock.now())
        if role is None:
            raise no_such_role(command.role_id)
        return role


@dataclasses.dataclass(frozen=True, slots=True)
class RoleDeletions:
    """Deletes roles, with what was granted to them and on them."""

    doors: DirectoryDoors
    once: Once

    async def __call__(self, command: UUID, *, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN.
        """

        async def again(_: Mapping[str, str]) -> None:
            """Nothing is left that could be asked about; the record is this principal's own."""

        keyed = Keyed(of_project(caller.chosen_project), "delete-role", {"role_id": str(command)})
        await self.once(keyed, caller=caller, do=lambda keeper: self._delete(command, caller, keeper), again=again)

    async def _delete(self, role_id: UUID, caller: Caller, keeper: Keeper) -> None:
        role = await self.doors.role(role_id, Action.ROLE_DELETE, caller=caller)
        if not await self.doors.roles.remove(role, record=await keeper.record(role_id=role_id)):
            raise no_such_role(role_id)
