"""Counting what lives in warehouses, hour by hour."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.ports.upkeep import Upkeep
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.workers import Progress, Terms
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """Counts tables and views of a project's warehouses, and remembers what changed since the last time."""

    upkeep: Upkeep
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Count those of one project."""
        progress.done = await self.upkeep.count_tabulars(task.project_id, now=self.clock.now())
        return f"Counted {progress.done} warehouses"


KIND: Final = QueueKind(
    queue=Queue.STATISTICS,
    level=Level.PROJECT,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: Counts(tools.upkeep, tools.clock),
    cancelled="Cancelled; the next one comes at its time",
    every=timedelta(hours=1),
)
