"""Queued tasks in memory, over the rows of a `MemoryCatalog`: for workers, and for those who look at them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.tasks import Asked, NewTask, Queue, Task
from lakeward_locations import Location
from tests.support.catalog.memory import MemoryCatalog, Rows
from tests.support.catalog.memory_task_rows import cancel, due_at, held_of, hold, matches, record, records_of


class MemoryTasks:
    """`TaskStore`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    @property
    def _rows(self) -> Rows:
        return self._catalog.rows

    @property
    def log(self) -> list[tuple[UUID, int, str]]:
        return [(each.task_id, *each.outcome) for each in self._rows.attempts]

    def state_of(self, task_id: UUID) -> str | None:
        state = held_of(self._rows, task_id).state
        return state if task_id in self._rows.tasks or state == "failed" else None

    async def claim(self, queue: Queue, *, now: datetime, silence: timedelta, attempts: int) -> Task | None:
        rows = self._rows
        while True:
            due = [
                (due_at(rows, task_id), task_id)
                for task_id, new in rows.tasks.items()
                if new.queue is queue and due_at(rows, task_id) <= now
            ]
            if not due:
                return None
            at, task_id = min(due)
            new, held = rows.tasks[task_id], held_of(rows, task_id)
            if held.asked is Asked.CANCEL:
                cancel(rows, task_id, at=now, message="Stopped, as was asked for")
                continue
            if held.state == "running":
                record(rows, task_id, "failed", at=now, message="Attempt timed out")
            if held.attempt - held.spent >= attempts or self._moved_in(new):
                self._end(task_id, "failed")
                continue
            silence = rows.silences.get((new.warehouse_id, queue)) or silence
            held = hold(
                rows,
                task_id,
                state="running",
                due_at=now + silence,
                attempt=held.attempt + 1,
                fence=held.fence + 1,
                progress=0,
                message="",
                asked=None,
                scheduled_for=held.scheduled_for if held.state == "running" else at,
                started_at=now,
                heard_at=now,
            )
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
                held.spent,
                silence,
            )

    def _moved_in(self, new: NewTask) -> bool:
        place = Location.parse(new.location)
        return new.queue is Queue.TABULAR_PURGE and any(
            each.warehouse_id == new.warehouse_id and Location.parse(each.location).overlaps(place)
            for each in self._rows.tabulars.values()
        )

    def _end(self, task_id: UUID, state: str) -> None:
        hold(self._rows, task_id, state=state)
        del self._rows.tasks[task_id]

    def _is_mine(self, task: Task) -> bool:
        held = held_of(self._rows, task.task_id)
        return (held.state, held.fence) == ("running", task.fence) and task.task_id in self._rows.tasks

    async def keep(self, task: Task, *, now: datetime, silence: timedelta, progress: int) -> bool:
        if not self._is_mine(task) or held_of(self._rows, task.task_id).asked is not None:
            return False
        hold(self._rows, task.task_id, due_at=now + silence, heard_at=now, progress=progress)
        return True

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        if not self._is_mine(task):
            return False
        record(self._rows, task.task_id, "success", at=now, message=message, progress=progress)
        self._end(task.task_id, "done")
        return True

    async def stopped(self, task: Task, *, now: datetime, progress: int, retry_at: datetime | None) -> None:
        if not self._is_mine(task):
            return
        match held_of(self._rows, task.task_id).asked:
            case Asked.CANCEL:
                cancel(self._rows, task.task_id, at=now, message="Stopped, as was asked for")
            case Asked.STOP:
                await self.fail(
                    task, now=now, message="Stopped, as was asked for", progress=progress, retry_at=retry_at
                )
            case None:
                pass

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        if not self._is_mine(task):
            return False
        record(self._rows, task.task_id, "failed", at=now, message=message, progress=progress)
        hold(self._rows, task.task_id, message=message, progress=progress, asked=None)
        if retry_at is None:
            self._end(task.task_id, "failed")
        else:
            hold(self._rows, task.task_id, state="waiting", due_at=retry_at)
        return True


class MemoryTaskRecords:
    """`TaskRecords`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def list(
        self, warehouse_id: WarehouseId, which: TaskFilter, *, after: After | None, limit: int
    ) -> Sequence[TaskRecord]:
        found = records_of(self._catalog.rows, warehouse_id)
        return [each for each in found if matches(each, which, after)][:limit]

    async def find(self, warehouse_id: WarehouseId, task_ids: Collection[UUID]) -> Sequence[TaskRecord]:
        return [each for each in records_of(self._catalog.rows, warehouse_id) if each.task_id in task_ids]

    async def attempts(self, warehouse_id: WarehouseId, task_id: UUID, *, limit: int) -> Sequence[AttemptRecord]:
        rows = self._catalog.rows
        mine = task_id in rows.queued and rows.queued[task_id].warehouse_id == warehouse_id
        found = [each.record for each in rows.attempts if mine and each.task_id == task_id]
        return found[::-1][:limit]

    async def silence(self, warehouse_id: WarehouseId, queue: Queue) -> timedelta | None:
        return self._catalog.rows.silences.get((warehouse_id, queue))
