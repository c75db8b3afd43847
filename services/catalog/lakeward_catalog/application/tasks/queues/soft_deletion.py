"""Ending the retention of what was dropped."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.announcements import Announcer, Occasion, TabularChange
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.ports.stores import WarehouseStore
from lakeward_catalog.application.tasks.kinds import OnCancel, QueueKind
from lakeward_catalog.application.workers import Progress, Terms
from lakeward_catalog.domain.model import State
from lakeward_catalog.domain.tasks import Level, NewTask, Queue, Task
from lakeward_servicekit.events.cloud_events import Actor
from lakeward_servicekit.system import Clock

_GONE: Final = "The tabular was restored, or is gone already"
_TRACE: Final = "background"  # in place of a request's id, in events


@dataclasses.dataclass(frozen=True, slots=True)
class Expiries:
    """Deletes soft-deleted tabulars for good, and queues the purge of their files where the drop asked for it."""

    warehouses: WarehouseStore
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Delete one."""
        warehouse = await self.warehouses.find(task.warehouse_id)
        async with self.changes.change() as change:
            tabular = await change.tabulars.lock_incarnation(task.warehouse_id, task.incarnation)
            # It may have been restored and dropped again, for another while.
            if warehouse is None or tabular is None or tabular.state is not State.DROPPED:
                return _GONE
            if not await change.tasks.is_held(task):
                return _GONE
            now = self.clock.now()
            await change.tabulars.delete(tabular)
            if task.purge:
                purge = NewTask.of(tabular, Queue.TABULAR_PURGE, created_at=now, scheduled_for=now)
                await change.tasks.enqueue(dataclasses.replace(purge, parent_id=task.task_id))
            when = Occasion(now, Actor(None), _TRACE)
            told = {"purge": task.purge, "expired": True}
            change.ledger.emit(
                self.announcer.tabular(TabularChange.DROPPED, tabular, when, warehouse=warehouse, data=told)
            )
        progress.done += 1
        return "Deleted tabular"


KIND: Final = QueueKind(
    queue=Queue.SOFT_DELETION,
    level=Level.WAREHOUSE,
    terms=Terms(silence=timedelta(minutes=2)),
    make=lambda tools: Expiries(tools.doors.warehouses, tools.changes, tools.announcer, tools.clock),
    on_cancel=OnCancel.RESTORE,
)
