"""What the catalog counts and forgets in the background, project by project."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.schedules import Timetable
from lakeward_catalog.domain.tasks import Queue


class Upkeep(Protocol):
    """Each method is whole in itself, and may be repeated. All raise Refusal DATABASE_UNAVAILABLE."""

    async def forget_attempts(self, project_id: ProjectId, *, before: datetime, limit: int) -> int:
        """Forget attempts of tasks of a project and its warehouses, gone ones too; how many went, at most `limit`.

        They go when the newest attempt of their task ended before this, and the task is no more: one that waits, runs, or failed
        for good and can be run again, keeps all of its attempts.
        """
        ...

    async def count_tabulars(self, project_id: ProjectId, *, now: datetime) -> int:
        """Count what lives in a project's warehouses, for the hour that it is; how many warehouses there are.

        A warehouse whose counts are those of its last record gets none.
        """
        ...


class ScheduleStore(Protocol):
    """When queues make their own tasks."""

    async def make_due(self, queue: Queue, *, now: datetime, after: Callable[[Timetable], datetime], limit: int) -> int:
        """Make a task for each project whose time has come, and say when its next comes; how many were due, at most `limit`.

        Times that were missed make one task together, and one that still waits or runs is enough. Two who ask at once make one
        task. A project that was never asked about is due.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Hour:
    """What lived in a warehouse when it was last counted in an hour; `ended_at` is the hour's end."""

    ended_at: datetime
    tables: int
    views: int
    generic_tables: int
    counted_at: datetime


class StatisticsStore(Protocol):
    """What was counted."""

    async def hours(self, warehouse_id: WarehouseId, *, before: datetime, limit: int) -> Sequence[Hour]:
        """Hours that ended before this, the latest first; at most `limit`."""
        ...
