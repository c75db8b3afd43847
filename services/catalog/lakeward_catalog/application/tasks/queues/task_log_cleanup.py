"""Forgetting the record of tasks that ended long ago."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.ports.tasks import TaskRecords
from lakeward_catalog.application.ports.upkeep import Upkeep
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.workers import Progress, Terms
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_servicekit.system import Clock

KEPT_FOR: Final = timedelta(days=90)
EVERY: Final = timedelta(days=1)
"""How far apart cleanups are, and the nearest that they may be."""
_ROWS: Final = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class LogCleanups:
    """Forgets old attempts, some at a time. What waits, runs or failed keeps its own, however old."""

    upkeep: Upkeep
    records: TaskRecords
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Forget what one project needs no more."""
        config = await self.records.config(task.owner, task.queue)
        before = self.clock.now() - (KEPT_FOR if config.kept_for is None else config.kept_for)
        gone = _ROWS
        while gone >= _ROWS:
            gone = await self.upkeep.forget_attempts(task.project_id, before=before, limit=_ROWS)
            progress.done += gone
        return f"Forgot {progress.done} attempts"


KIND: Final = QueueKind(
    queue=Queue.TASK_LOG_CLEANUP,
    level=Level.PROJECT,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: LogCleanups(tools.upkeep, tools.task_records, tools.clock),
    cancelled="Cancelled; the next one comes at its time",
    every=EVERY,
    takes_periods=True,
)
