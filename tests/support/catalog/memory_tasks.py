"""Queued tasks in memory, over the rows of a `MemoryCatalog`: for workers, and for those who look at them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord
from lakeward_catalog.application.ports.upkeep import Hour
from lakeward_catalog.application.workers import Again, Ended
from lakeward_catalog.domain.model import Kind, ProjectId, State, WarehouseId
from lakeward_catalog.domain.schedules import Timetable
from lakeward_catalog.domain.tasks import Asked, NewTask, Owner, Queue, QueueConfig, Task
from lakeward_locations import Location
from tests.support.catalog.memory import MemoryCatalog
from tests.support.catalog.memory_rows import Rows
from tests.support.catalog.memory_task_rows import (
    TaskRowChanges,
    cancel,
    due_at,
    held_of,
    hold,
    matches,
    record,
    records_of,
    turn_of,
)


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
            task_id = self._next(queue, now)
            if task_id is None:
                return None
            new, held = rows.tasks[task_id], held_of(rows, task_id)
            if held.asked is Asked.CANCEL:
                cancel(rows, task_id, at=now, message="Stopped, as was asked for")
                continue
            if held.state == "running":
                record(rows, task_id, "failed", at=now, message="Attempt timed out")
            if held.attempt - held.spent >= attempts or self._moved_in(new):
                self._end(task_id, "failed")
                continue
            return self._begin(task_id, now=now, silence=silence)

    def _next(self, queue: Queue, now: datetime) -> UUID | None:
        rows = self._rows
        due = [
            (turn_of(rows, task_id) > now, turn_of(rows, task_id), task_id)
            for task_id, new in rows.tasks.items()
            if new.queue is queue and due_at(rows, task_id) <= now
        ]
        return min(due)[-1] if due else None

    def _begin(self, task_id: UUID, *, now: datetime, silence: timedelta) -> Task:
        rows = self._rows
        new, held, at = rows.tasks[task_id], held_of(rows, task_id), due_at(rows, task_id)
        silence = rows.configs.get((new.owner, new.queue), QueueConfig()).silence or silence
        held = hold(
            rows,
            task_id,
            state="running",
            due_at=now + silence,
            attempt=held.attempt + 1,
            fence=held.fence + 1,
            progress=0,
            total=None,
            message="",
            asked=None,
            scheduled_for=held.scheduled_for if held.state == "running" else at,
            started_at=now,
            heard_at=now,
        )
        return Task(
            task_id,
            new.queue,
            new.owner,
            new.subject,
            new.name,
            new.location or "",
            new.purge,
            held.attempt,
            held.fence,
            held.spent,
            silence,
            new.plan,
        )

    async def claim_several(self, queue: Queue, *, now: datetime, silence: timedelta, most: int) -> Sequence[Task]:
        begun: list[Task] = []
        while queue is not Queue.TABULAR_PURGE and len(begun) < most:
            task_id = self._next(queue, now)
            if task_id is None:
                break
            held = held_of(self._rows, task_id)
            if held.state != "waiting" or held.attempt != held.spent:
                break
            begun.append(self._begin(task_id, now=now, silence=silence))
        return begun

    async def give_back(self, tasks: Sequence[Task], *, now: datetime) -> None:
        for task in tasks:
            held = held_of(self._rows, task.task_id)
            if not self._is_mine(task) or held.asked is not None:
                await self.stopped(task, now=now, progress=0, retry_at=now)
                continue
            hold(self._rows, task.task_id, state="waiting", attempt=held.attempt - 1, due_at=held.scheduled_for)

    async def finish_all(self, ended: Sequence[Ended]) -> None:
        for each in ended:
            await self.finish(each.task, now=each.at, message=each.message, progress=each.progress)

    def _moved_in(self, new: NewTask) -> bool:
        if new.queue is not Queue.TABULAR_PURGE or new.location is None:
            return False
        place = Location.parse(new.location)
        return any(
            each.warehouse_id == new.warehouse_id and Location.parse(each.location).overlaps(place)
            for each in self._rows.tabulars.values()
        )

    def _end(self, task_id: UUID, state: str) -> None:
        hold(self._rows, task_id, state=state)
        del self._rows.tasks[task_id]

    def _is_mine(self, task: Task) -> bool:
        held = held_of(self._rows, task.task_id)
        return (held.state, held.fence) == ("running", task.fence) and task.task_id in self._rows.tasks

    async def keep(
        self, task: Task, *, now: datetime, silence: timedelta, progress: int, total: int | None = None
    ) -> bool:
        if not self._is_mine(task) or held_of(self._rows, task.task_id).asked is not None:
            return False
        hold(self._rows, task.task_id, due_at=now + silence, heard_at=now, progress=progress, total=total)
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

    async def postpone(self, task: Task, again: Again, *, progress: int) -> bool:
        if not self._is_mine(task) or held_of(self._rows, task.task_id).asked is not None:
            return False
        new = dataclasses.replace(self._rows.queued[task.task_id], plan=again.plan)
        self._rows.tasks[task.task_id] = self._rows.queued[task.task_id] = new
        hold(
            self._rows,
            task.task_id,
            state="waiting",
            due_at=again.at,
            message=again.message,
            progress=progress,
            spent=task.attempt,
        )
        return True

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        if not self._is_mine(task):
            return False
        if held_of(self._rows, task.task_id).asked is Asked.CANCEL:
            cancel(self._rows, task.task_id, at=now, message="Stopped, as was asked for")
            return True
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

    async def list(self, owner: Owner, which: TaskFilter, *, after: After | None, limit: int) -> Sequence[TaskRecord]:
        found = records_of(self._catalog.rows, owner)
        return [each for each in found if matches(each, which, after)][:limit]

    async def find(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[TaskRecord]:
        return [each for each in records_of(self._catalog.rows, owner) if each.task_id in task_ids]

    async def attempts(self, owner: Owner, task_id: UUID, *, limit: int) -> Sequence[AttemptRecord]:
        rows = self._catalog.rows
        mine = task_id in rows.queued and rows.queued[task_id].owner == owner
        found = [each.record for each in rows.attempts if mine and each.task_id == task_id]
        return found[::-1][:limit]

    async def config(self, owner: Owner, queue: Queue) -> QueueConfig:
        return self._catalog.rows.configs.get((owner, queue), QueueConfig())

    async def timetable(self, project_id: ProjectId, queue: Queue) -> Timetable:
        rows = self._catalog.rows
        every = rows.configs.get((project_id, queue), QueueConfig()).every
        return dataclasses.replace(rows.timetables.get((project_id, queue), Timetable()), every=every)


class MemoryUpkeep:
    """`Upkeep`, `ScheduleStore` and `StatisticsStore`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    def _is_in(self, owner: Owner, project_id: ProjectId) -> bool:
        warehouses = self._catalog.rows.warehouses
        return owner == project_id or (
            isinstance(owner, UUID) and warehouses[WarehouseId(owner)].project_id == project_id
        )

    async def forget_attempts(self, project_id: ProjectId, *, before: datetime, limit: int) -> int:
        rows = self._catalog.rows
        newest: dict[UUID, datetime] = {}
        for each in rows.attempts:
            newest[each.task_id] = max(each.record.ended_at, newest.get(each.task_id, each.record.ended_at))
        old = [
            each
            for each in rows.attempts
            if self._is_in(rows.queued[each.task_id].owner, project_id)
            and newest[each.task_id] < before
            and each.task_id not in rows.tasks
            and held_of(rows, each.task_id).state != "failed"
        ][:limit]
        rows.attempts[:] = [each for each in rows.attempts if each not in old]
        for task_id in {each.task_id for each in old} - {each.task_id for each in rows.attempts}:
            del rows.queued[task_id]
        return len(old)

    async def count_tabulars(self, project_id: ProjectId, *, now: datetime) -> int:
        rows = self._catalog.rows
        ended_at = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        mine = [each.warehouse_id for each in rows.warehouses.values() if each.project_id == project_id]
        for warehouse_id in mine:
            live = [
                each.kind
                for each in rows.tabulars.values()
                if each.warehouse_id == warehouse_id and each.state is State.LIVE
            ]
            hour = Hour(ended_at, live.count(Kind.TABLE), live.count(Kind.VIEW), live.count(Kind.GENERIC_TABLE), now)
            hours = rows.hours.setdefault(warehouse_id, {})
            last = hours[max(hours)] if hours else None
            if last is None or dataclasses.replace(last, ended_at=ended_at, counted_at=now) != hour:
                hours[ended_at] = hour
        return len(mine)

    async def hours(self, warehouse_id: WarehouseId, *, before: datetime, limit: int) -> Sequence[Hour]:
        found = self._catalog.rows.hours.get(warehouse_id, {})
        return [found[each] for each in sorted(found, reverse=True) if each < before][:limit]

    async def make_due(self, queue: Queue, *, now: datetime, after: Callable[[Timetable], datetime], limit: int) -> int:
        rows, due = self._catalog.rows, 0
        changes, records = TaskRowChanges(rows, self._catalog.ids), MemoryTaskRecords(self._catalog)
        for project_id in [*rows.projects]:
            timetable = await records.timetable(project_id, queue)
            if due < limit and (timetable.next_at is None or timetable.next_at <= now):
                due += 1
                await changes.enqueue(NewTask.of_project(project_id, queue, at=now))
                rows.timetables[project_id, queue] = Timetable(timetable.cron, next_at=after(timetable))
        return due
