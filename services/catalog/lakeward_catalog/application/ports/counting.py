"""How often what was asked of the server."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from lakeward_catalog.domain.model import ProjectId, WarehouseId


@dataclasses.dataclass(frozen=True, slots=True)
class Calls:
    """Requests that were answered alike, within an hour, as a gateway counted them.

    Attributes:
        route: method and template of the path.
        status: of HTTP.
        warehouse_id: that the request named by its id.
        name_key: of the warehouse that it named by name instead; None: by no name.
        project_id: in which that is; and whose the request is where it named no warehouse.
    """

    route: str
    status: int
    warehouse_id: UUID | None
    name_key: str | None
    project_id: ProjectId | None
    count: int
    first_at: datetime
    last_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class Counted:
    """What was counted in an hour; `updated_at` None: once.

    Attributes:
        hour: its end.
        warehouse_name: None where it is no more.
    """

    hour: datetime
    route: str
    status: int
    warehouse_id: WarehouseId | None
    warehouse_name: str | None
    count: int
    created_at: datetime
    updated_at: datetime | None


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """From `start` on, and before `end`."""

    start: datetime
    end: datetime


class CallStore(Protocol):
    """Counts of requests. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def add(self, calls: Sequence[Calls]) -> None:
        """Add to what was counted: a warehouse's to its own project. What belongs to no project is passed over."""

    async def read(
        self,
        project_id: ProjectId,
        window: Window,
        *,
        of: WarehouseId | None,
        unmapped: bool,
        statuses: Collection[int],
    ) -> Sequence[Counted]:
        """Of hours that begin in a window, the earliest first.

        Args:
            project_id: whose.
            window: of time.
            of: this warehouse alone; None: all.
            unmapped: what names no warehouse alone.
            statuses: these alone; empty: all.
        """
        ...
