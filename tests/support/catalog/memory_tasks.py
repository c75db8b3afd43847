"""Queued tasks in memory, over the tasks and tabulars of a `MemoryCatalog`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from lakeward_catalog.domain.tasks import NewTask, Queue, Task
from lakeward_locations import Location
from tests.support.catalog.memory import MemoryCatalog


@dataclasses.dataclass
class _Held:
    state: str = "waiting"
    due_at: datetime | None = None
    attempt: int = 0
    fence: int = 0
    message: str | None = None


class MemoryTasks:
    """`TaskStore`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog
        self._held: dict[UUID, _Held] = {}
        self.log: list[tuple[UUID, int, str]] = []

    def state_of(self, task_id: UUID) -> str | None:
        held = self._held.get(task_id, _Held())
        return held.state if task_id in self._tasks or held.state == "failed" else None

    @property
    def _tasks(self) -> Mapping[UUID, NewTask]:
        return self._catalog.rows.tasks

    async def claim(self, queue: Queue, *, now: datetime, silence: timedelta, attempts: int) -> Task | None:
        while True:
            due = [
                (self._due(task_id, new), task_id)
                for task_id, new in self._tasks.items()
                if new.queue is queue and self._due(task_id, new) <= now
            ]
            if not due:
                return None
            _, task_id = min(due)
            new, held = self._tasks[task_id], self._held.setdefault(task_id, _Held())
            if held.state == "running":
                self.log.append((task_id, held.attempt, "failed"))
            if held.attempt >= attempts or self._moved_in(new):
                self._end(task_id, "failed")
                continue
            held.state, held.due_at = "running", now + silence
            held.attempt += 1
            held.fence += 1
            return Task(
                task_id,
                queue,
                new.warehouse_id,
                new.incarnation,
                new.name,
                new.location,
                new.purge,
                held.attempt,
                held.fence,
            )

    def _due(self, task_id: UUID, new: NewTask) -> datetime:
        held = self._held.get(task_id)
        return new.scheduled_for if held is None or held.due_at is None else held.due_at

    def _moved_in(self, new: NewTask) -> bool:
        place = Location.parse(new.location)
        return new.queue is Queue.TABULAR_PURGE and any(
            each.warehouse_id == new.warehouse_id and Location.parse(each.location).overlaps(place)
            for each in self._catalog.rows.tabulars.values()
        )

    def _end(self, task_id: UUID, state: str) -> None:
        self._held[task_id].state = state
        del self._catalog.rows.tasks[task_id]

    def _mine(self, task: Task) -> _Held | None:
        held = self._held.get(task.task_id)
        mine = held is not None and held.state == "running" and held.fence == task.fence
        return held if mine and task.task_id in self._tasks else None

    async def keep(self, task: Task, *, now: datetime, silence: timedelta, progress: int) -> bool:
        del progress
        held = self._mine(task)
        if held is not None:
            held.due_at = now + silence
        return held is not None

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        del now, message, progress
        if self._mine(task) is None:
            return False
        self.log.append((task.task_id, task.attempt, "success"))
        self._end(task.task_id, "done")
        return True

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        del now, progress
        held = self._mine(task)
        if held is None:
            return False
        self.log.append((task.task_id, task.attempt, "failed"))
        held.message = message
        if retry_at is None:
            self._end(task.task_id, "failed")
        else:
            held.state, held.due_at = "waiting", retry_at
        return True
