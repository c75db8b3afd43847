"""Queued tasks in memory, over the tasks and tabulars of a `MemoryCatalog`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from lakeward_catalog.domain.tasks import NewTask, Queue, Task
from lakeward_locations import Location
from tests.support.catalog.memory import Attempt, Held, MemoryCatalog


class MemoryTasks:
    """`TaskStore`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    @property
    def log(self) -> list[tuple[UUID, int, str]]:
        return [(each.task_id, each.attempt, each.outcome) for each in self._catalog.rows.attempts]

    def state_of(self, task_id: UUID) -> str | None:
        held = self._held.get(task_id, Held())
        return held.state if task_id in self._tasks or held.state == "failed" else None

    @property
    def _held(self) -> dict[UUID, Held]:
        return self._catalog.rows.held

    def _set(self, task_id: UUID, **changes: object) -> Held:
        held = dataclasses.replace(self._held.get(task_id, Held()), **changes)  # type: ignore[arg-type]  # its fields
        self._held[task_id] = held
        return held

    def _ended(self, task_id: UUID, attempt: int, outcome: str) -> None:
        self._catalog.rows.attempts.append(Attempt(task_id, attempt, outcome))

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
            new, held = self._tasks[task_id], self._held.get(task_id, Held())
            if held.state == "running":
                self._ended(task_id, held.attempt, "failed")
            if held.attempt >= attempts or self._moved_in(new):
                self._end(task_id, "failed")
                continue
            begun = {"attempt": held.attempt + 1, "fence": held.fence + 1}
            held = self._set(task_id, state="running", due_at=now + silence, **begun)
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
        self._set(task_id, state=state)
        del self._catalog.rows.tasks[task_id]

    def _mine(self, task: Task) -> Held | None:
        held = self._held.get(task.task_id)
        mine = held is not None and held.state == "running" and held.fence == task.fence
        return held if mine and task.task_id in self._tasks else None

    async def keep(self, task: Task, *, now: datetime, silence: timedelta, progress: int) -> bool:
        del progress
        held = self._mine(task)
        if held is not None:
            self._set(task.task_id, due_at=now + silence)
        return held is not None

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        del now, message, progress
        if self._mine(task) is None:
            return False
        self._ended(task.task_id, task.attempt, "success")
        self._end(task.task_id, "done")
        return True

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        del now, progress
        held = self._mine(task)
        if held is None:
            return False
        self._ended(task.task_id, task.attempt, "failed")
        self._set(task.task_id, message=message)
        if retry_at is None:
            self._end(task.task_id, "failed")
        else:
            self._set(task.task_id, state="waiting", due_at=retry_at)
        return True
