"""Dropping a warehouse with everything inside. The task is its project's: the warehouse goes before it does."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from typing import Final

from lakeward_catalog.application.announcements import Announcer, WarehouseChange
from lakeward_catalog.application.cascading.contents import Cascade
from lakeward_catalog.application.cascading.queueing import top_namespaces
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.tasks import TaskFilter, TaskRecords, TaskStatus
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.tasks.queues.namespace_drop import WAITING, occasion_of, step, wish_of
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.workers import Again, GivenUp, Progress, Terms
from lakeward_catalog.domain.model import Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_catalog.domain.wording import warehouse_protected
from lakeward_servicekit.system import Clock

_PAUSE: Final = timedelta(seconds=30)
"""Between looks whether the warehouse's own tasks have ended."""
_ACTIVE: Final = TaskFilter(statuses=frozenset({TaskStatus.SCHEDULED, TaskStatus.RUNNING, TaskStatus.STOPPING}))


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseDrops:
    """Drops a warehouse: its namespaces one after another, then, when its own tasks have ended, itself and its secret."""

    doors: Doors
    cascade: Cascade
    changes: Changes
    records: TaskRecords
    places: Places
    secrets: Secrets
    announcer: Announcer
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str | Again:
        """Drop it."""
        warehouse_id, wish = WarehouseId(task.incarnation), wish_of(task, self.clock)
        warehouse = await self.doors.warehouses.find(warehouse_id)
        if warehouse is None:
            return "The warehouse is gone already"
        _check(warehouse, force=wish.force)
        namespaces = await top_namespaces(self.doors, warehouse_id)
        progress.total = len(namespaces) + 1
        waits: list[datetime] = []
        for namespace in namespaces:
            until = await step(self.cascade, warehouse, namespace, wish)
            progress.done += until is None
            if until is not None:
                waits.append(until)
        if waits:
            return Again(max(waits), "Waits until nothing inside can be restored", {**task.plan, WAITING: True})
        if await self.records.list(warehouse_id, _ACTIVE, after=None, limit=1):
            at = self.clock.now() + _PAUSE
            return Again(at, "Waits for the warehouse's own tasks to end", {**task.plan, WAITING: True})
        if not await self._delete(warehouse_id, task):
            return Again(self.clock.now(), "Was to stop", task.plan)
        progress.done += 1
        return "Dropped the warehouse with everything inside"

    async def _delete(self, warehouse_id: WarehouseId, task: Task) -> bool:
        """False where the task is another worker's, or was to stop; then nothing is done."""
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(warehouse_id)
            if warehouse is None:
                return True
            _check(warehouse, force=task.plan["force"])
            if not await change.tasks.is_held(task):
                return False
            await change.warehouses.delete(warehouse_id)
            when = occasion_of(task.plan, self.clock)
            change.ledger.emit(self.announcer.warehouse(WarehouseChange.DELETED, warehouse, when))
        await self.places.release(warehouse_id, warehouse.storage)
        if warehouse.storage.secret_id is not None:
            await self.secrets.forget(warehouse_id, warehouse.storage.secret_id)
        return True


def _check(warehouse: Warehouse, *, force: bool) -> None:
    if warehouse.protected and not force:
        raise GivenUp(str(warehouse_protected(warehouse.name)))


KIND: Final = QueueKind(
    queue=Queue.WAREHOUSE_DROP,
    level=Level.PROJECT,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: WarehouseDrops(
        tools.doors,
        Cascade(tools.documents, tools.changes, tools.announcer, tools.rules),
        tools.changes,
        tools.task_records,
        Places(tools.doors, tools.storage, tools.clock),
        Secrets(tools.storage, tools.doors.warehouses, tools.unnamed_secrets),
        tools.announcer,
        tools.clock,
    ),
    cancelled="Cancelled; what was dropped stays so",
)
