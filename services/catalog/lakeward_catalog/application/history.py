"""Reading the events of a stream, by whoever may know of all that they tell."""

from __future__ import annotations

import dataclasses
from typing import Final, TypeAlias

from lakeward_catalog.application.announcements import SERVER_STREAM
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.events.history import HistoryPage, HistoryReads, Part

# Who makes a project chooses its id, and may choose that of a warehouse, whose stream has the same name.
_OF_PROJECTS: Final = frozenset({"project", "tag-definition"})


@dataclasses.dataclass(frozen=True, slots=True)
class OfWarehouse:
    """The events of a warehouse and of what is in it."""

    warehouse_id: WarehouseId


@dataclasses.dataclass(frozen=True, slots=True)
class OfProject:
    """The events of a project itself and of its tags' definitions."""

    project_id: ProjectId


@dataclasses.dataclass(frozen=True, slots=True)
class OfServer:
    """The events of the installation itself."""


Stream: TypeAlias = OfWarehouse | OfProject | OfServer


@dataclasses.dataclass(frozen=True, slots=True)
class ReadEvents:
    """Which part of which stream is asked for."""

    stream: Stream
    part: Part


@dataclasses.dataclass(frozen=True, slots=True)
class EventReadings:
    """Reads events.

    They tell of everything in their stream, and of who did it. So they are for who may list all of it: to show others what they
    see, each event would have to be decided as of when it happened, about things that are gone.
    """

    doors: Doors
    history: HistoryReads

    async def __call__(self, command: ReadEvents, *, caller: Caller) -> HistoryPage:
        """A page of a stream.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT, FORBIDDEN; and what `HistoryReads` raises.
        """
        stream = command.stream
        name = await self.opened(stream, caller=caller)
        page = await self.history(name, command.part, snapshots=isinstance(stream, OfWarehouse))
        if isinstance(stream, OfProject) and any(each.kind not in _OF_PROJECTS for each in page.events):
            raise no_such_project(stream.project_id)
        return page

    async def opened(self, stream: Stream, *, caller: Caller) -> str:
        """The name of a stream that the caller may read.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT, FORBIDDEN.
        """
        match stream:
            case OfWarehouse(warehouse_id):
                # deactivated, it still has a history, which tells of that
                demanded = Action.WAREHOUSE_LIST_EVERYTHING
                await self.doors.warehouse(warehouse_id, demanded, caller=caller, inactive_too=True)
                return str(warehouse_id)
            case OfProject(project_id):
                await self.doors.project(Action.PROJECT_GET_PROJECT_TASKS, caller=caller, project_id=project_id)
                return project_id
            case OfServer():
                await self.doors.server(Action.SERVER_LIST_ALL_PROJECTS, caller=caller)
                return SERVER_STREAM
