"""Listing the warehouses of a project."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.domain.model import Warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef


@dataclasses.dataclass(frozen=True, slots=True)
class ListWarehouses:
    """List warehouses of the project that the call names.

    Attributes:
        active: which, by whether they serve; empty: those that do.
    """

    active: Collection[bool]


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseListings:
    """Lists warehouses that the caller may see, by name."""

    doors: Doors

    async def __call__(self, command: ListWarehouses, *, caller: Caller) -> Sequence[Warehouse]:
        """All of them.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        project = await self.doors.project(Action.PROJECT_LIST_WAREHOUSES, caller=caller)
        container = ObjectRef.project(project.project_id)
        visible = await self.doors.shown(container, ObjectKind.WAREHOUSE, caller=caller)
        wanted = set(command.active) or {True}
        only = None if len(wanted) > 1 else next(iter(wanted))
        return await self.doors.warehouses.list(project.project_id, active=only, visible=visible)
