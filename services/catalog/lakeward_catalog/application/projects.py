"""Projects: making them, listing those that a caller sees, giving one another name, and deleting empty ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from lakeward_catalog.application.announcements import Announcer, ProjectChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import OF_SERVER, Keeper, Keyed, Once, of_project
from lakeward_catalog.domain.model import Project, ProjectId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.project_rules import check_project_name
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True)
class CreateProject:
    """Make a project; `project_id` None: a UUID is made."""

    name: str
    project_id: ProjectId | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RenameProject:
    """Give the project that the call names, else the default project, another name."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectListings:
    """Lists projects that the caller may see. No permission: who sees none gets an empty list."""

    doors: Doors

    async def __call__(self, *, caller: Caller) -> Sequence[Project]:
        """All of them, by name without case; those of one name by id."""
        visible = await self.doors.shown(SERVER, ObjectKind.PROJECT, caller=caller)
        projects = await self.doors.servers.projects(visible)
        return sorted(projects, key=lambda each: (name_key(each.name), each.project_id))


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectCreations:
    """Makes projects. Names need not be unique, ids are."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def __call__(self, command: CreateProject, *, caller: Caller) -> Project:
        """Make one.

        Raises:
            Refusal: FORBIDDEN, INVALID_PROJECT_NAME, PROJECT_EXISTS.
        """
        keyed = Keyed(OF_SERVER, "create-project", {"name": command.name, "project_id": command.project_id})
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(command, caller, keeper),
            again=lambda kept: self._again(kept, caller),
        )

    async def _create(self, command: CreateProject, caller: Caller, keeper: Keeper) -> Project:
        await self.doors.server(Action.SERVER_CREATE_PROJECT, caller=caller)
        check_project_name(command.name)
        project = Project(command.project_id or ProjectId(str(self.ids.uuid7())), command.name)
        async with self.changes.change() as change:
            await change.projects.insert(project, owner=caller.principal)
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.project(ProjectChange.CREATED, project, when))
            await keeper.keep(change, project_id=project.project_id)
        return project

    async def _again(self, kept: Mapping[str, str], caller: Caller) -> Project:
        project_id = ProjectId(kept["project_id"])
        return await self.doors.project(Action.PROJECT_GET_METADATA, caller=caller, project_id=project_id)


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectRenames:
    """Renames projects. Two may have one name. A name that one has already is no change, and no event."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: RenameProject, *, caller: Caller) -> Project:
        """Rename one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_PROJECT_NAME.
        """
        found = await self.doors.project(Action.PROJECT_RENAME, caller=caller)
        check_project_name(command.name)
        async with self.changes.change() as change:
            project = await change.projects.lock(found.project_id)
            if project is None:
                raise no_such_project(found.project_id)
            if project.name == command.name:
                return project
            renamed = dataclasses.replace(project, name=command.name)
            await change.projects.rename(project.project_id, command.name)
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.project(ProjectChange.RENAMED, renamed, when, before=project))
        return renamed


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectDeletions:
    """Deletes the project that the call names, else the default project, where it has no warehouse, active or not."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock

    async def __call__(self, *, caller: Caller) -> None:
        """Delete it.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, PROJECT_NOT_EMPTY.
        """

        async def again(_: Mapping[str, str]) -> None:
            """Nothing is left that could be asked about; the record is this principal's own."""

        keyed = Keyed(of_project(self.doors.chosen_project(caller)), "delete-project", {})
        await self.once(keyed, caller=caller, do=lambda keeper: self._delete(caller, keeper), again=again)

    async def _delete(self, caller: Caller, keeper: Keeper) -> None:
        found = await self.doors.project(Action.PROJECT_DELETE, caller=caller)
        async with self.changes.change() as change:
            project = await change.projects.lock(found.project_id)
            if project is None:
                raise no_such_project(found.project_id)
            await change.projects.delete(project.project_id)
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.project(ProjectChange.DELETED, project, when))
            await keeper.keep(change, project_id=project.project_id)
