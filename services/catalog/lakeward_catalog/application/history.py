"""Reading the events of a stream, by whoever may know of all that they tell."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator
from typing import TypeAlias

from lakeward_catalog.application.announcements import SERVER_STREAM
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.events.history import HistoryPage, HistoryReads, Part
from lakeward_servicekit.events.positions import Position
from lakeward_servicekit.events.streams import of_project
from lakeward_servicekit.events.subscribing import Subscriptions
from lakeward_servicekit.rpc.call import Again


@dataclasses.dataclass(frozen=True, slots=True)
class OfWarehouse:
    """The events of a warehouse and of what is in it."""

    warehouse_id: WarehouseId


@dataclasses.dataclass(frozen=True, slots=True)
class OfProject:
    """The events of a project itself and of its tags' definitions; None: of the project that the call names."""

    project_id: ProjectId | None


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
        return await self.history(await self.opened(command.stream, caller=caller), command.part)

    def follow(self, stream: Stream, after: Position, *, again: Again[Caller]) -> AsyncGenerator[HistoryPage, None]:
        """Pages of a stream behind a position, and what comes, for as long as the caller may read it.

        Raises:
            Refusal: as a call, whenever that comes to be; and what settles the caller raises.
        """

        async def admit() -> str:
            return await self.opened(stream, caller=await again())

        return Subscriptions(self.history)(admit, after)

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
                demanded = Action.PROJECT_GET_PROJECT_TASKS
                return of_project(await self.doors.project_id(demanded, caller=caller, project_id=project_id))
            case OfServer():
                await self.doors.server(Action.SERVER_LIST_ALL_PROJECTS, caller=caller)
                return SERVER_STREAM
