"""What becomes of queued tasks in memory: the rows of those that wait, run or failed, and the record of ended attempts."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakeward_catalog.application.changes import QueuedTask
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord, TaskStatus
from lakeward_catalog.domain.model import Incarnation, ProjectId, WarehouseId
from lakeward_catalog.domain.schedules import Cron, Timetable
from lakeward_catalog.domain.tasks import Asked, NewTask, Owner, Queue, QueueConfig, Task
from lakeward_catalog.domain.wording import already_queued
from lakeward_servicekit.system import Ids

if TYPE_CHECKING:
    from tests.support.catalog.memory_rows import Rows

ENDED = {"success": TaskStatus.SUCCESS, "failed": TaskStatus.FAILED, "cancelled": TaskStatus.CANCELLED}


@dataclasses.dataclass(frozen=True)
class Held:
    """What became of a queued task; one that nobody began has none."""

    state: str = "waiting"
    due_at: datetime | None = None
    attempt: int = 0
    spent: int = 0
    fence: int = 0
    progress: int = 0
    message: str = ""
    asked: Asked | None = None
    scheduled_for: datetime | None = None
    started_at: datetime | None = None
    heard_at: datetime | None = None
    total: int | None = None
    turn: datetime | None = None


@dataclasses.dataclass(frozen=True)
class Attempt:
    """An ended attempt."""

    task_id: UUID
    record: AttemptRecord

    @property
    def outcome(self) -> tuple[int, str]:
        return self.record.attempt, self.record.status.value


def held_of(rows: Rows, task_id: UUID) -> Held:
    return rows.held.get(task_id, Held())


def due_at(rows: Rows, task_id: UUID) -> datetime:
    return held_of(rows, task_id).due_at or rows.queued[task_id].scheduled_for


def turn_of(rows: Rows, task_id: UUID) -> datetime:
    return held_of(rows, task_id).turn or due_at(rows, task_id)


def hold(rows: Rows, task_id: UUID, **changes: Any) -> Held:
    if "due_at" in changes:
        changes["turn"] = changes["due_at"]
    held = dataclasses.replace(held_of(rows, task_id), **changes)
    rows.held[task_id] = held
    return held


def record(rows: Rows, task_id: UUID, outcome: str, *, at: datetime, message: str, progress: int | None = None) -> None:
    """The end of an attempt; of one that waits, of the one that would have come."""
    held = held_of(rows, task_id)
    begun = held.state == "running"
    rows.attempts.append(
        Attempt(
            task_id,
            AttemptRecord(
                attempt=held.attempt if begun else held.attempt + 1,
                status=ENDED[outcome],
                scheduled_for=(held.scheduled_for if begun else None) or due_at(rows, task_id),
                started_at=held.started_at if begun else None,
                ended_at=at,
                message=message,
                done=held.progress if progress is None else progress,
                total=held.total,
            ),
        )
    )


def cancel(rows: Rows, task_id: UUID, *, at: datetime, message: str) -> None:
    record(rows, task_id, "cancelled", at=at, message=message)
    rows.tasks.pop(task_id, None)
    hold(rows, task_id, state="ended", message=message)


class TaskRowChanges:
    """`TaskChanges`."""

    def __init__(self, rows: Rows, ids: Ids) -> None:
        self.rows = rows
        self._ids = ids

    async def enqueue(self, task: NewTask) -> UUID:
        for task_id, queued in self.rows.tasks.items():
            if (queued.queue, queued.owner, queued.subject) == (task.queue, task.owner, task.subject):
                return task_id
        task_id = self._ids.uuid7()
        line = [
            turn_of(self.rows, each) + timedelta(seconds=1)
            for each, queued in self.rows.tasks.items()
            if (queued.queue, queued.owner, held_of(self.rows, each).state) == (task.queue, task.owner, "waiting")
            and isinstance(task.owner, UUID)
            and due_at(self.rows, each) <= task.scheduled_for
        ]
        self.rows.held[task_id] = Held(turn=max([task.scheduled_for, *line]))
        self.rows.tasks[task_id] = self.rows.queued[task_id] = task
        return task_id

    async def enqueue_all(self, tasks: Sequence[NewTask]) -> None:
        for task in tasks:
            await self.enqueue(task)

    async def active(self, owner: Owner, queue: Queue, subject: UUID | None) -> UUID | None:
        for task_id, task in self.rows.tasks.items():
            if (task.owner, task.queue, task.subject) == (owner, queue, subject):
                return task_id
        return None

    async def cancel(
        self,
        queue: Queue,
        warehouse_id: WarehouseId,
        incarnations: Collection[Incarnation],
        *,
        at: datetime,
        message: str,
    ) -> None:
        for task_id, task in self._of(warehouse_id):
            if task.queue is queue and task.subject in incarnations:
                cancel(self.rows, task_id, at=at, message=message)

    def _of(self, owner: Owner) -> Iterator[tuple[UUID, NewTask]]:
        """Those that wait, run or failed, in the order of their ids."""
        for task_id, task in sorted(self.rows.queued.items()):
            there = task_id in self.rows.tasks or held_of(self.rows, task_id).state == "failed"
            if task.owner == owner and there:
                yield task_id, task

    async def lock(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[QueuedTask]:
        return [
            QueuedTask(
                task_id,
                task.queue,
                task.subject,
                active=task_id in self.rows.tasks,
                running=held_of(self.rows, task_id).state == "running",
            )
            for task_id, task in self._of(owner)
            if task_id in task_ids
        ]

    async def end(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, message: str) -> None:
        for each in await self.lock(owner, task_ids):
            cancel(self.rows, each.task_id, at=at, message=message)

    async def ask(self, owner: Owner, task_ids: Collection[UUID], asked: Asked) -> None:
        for each in await self.lock(owner, task_ids):
            if each.running and held_of(self.rows, each.task_id).asked is not Asked.CANCEL:
                hold(self.rows, each.task_id, asked=asked)

    async def run(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, now: datetime) -> None:
        for each in await self.lock(owner, task_ids):
            held = held_of(self.rows, each.task_id)
            if each.running and held.asked is None:
                continue
            if each.running:
                record(self.rows, each.task_id, "failed", at=now, message="It did not stop in time")
            mine = (each.queue, owner, each.subject)
            if not each.active and any(
                (equal.queue, equal.owner, equal.subject) == mine for equal in self.rows.tasks.values()
            ):
                raise already_queued(task_ids)
            spent = held.spent if each.active else held.attempt
            self.rows.tasks[each.task_id] = self.rows.queued[each.task_id]
            hold(self.rows, each.task_id, state="waiting", due_at=at, asked=None, message="", spent=spent)

    async def configure(self, owner: Owner, queue: Queue, config: QueueConfig, *, next_at: datetime | None) -> bool:
        if self.rows.configs.get((owner, queue), QueueConfig()) == config:
            return False
        self.rows.configs[owner, queue] = config
        timetable = self.rows.timetables.get((owner, queue), Timetable())
        if timetable.cron is None and timetable.next_at is not None and next_at is not None:
            timetable = dataclasses.replace(timetable, next_at=min(timetable.next_at, next_at))
            self.rows.timetables[owner, queue] = timetable
        return True

    async def schedule(self, project_id: ProjectId, queue: Queue, cron: Cron | None, *, next_at: datetime) -> bool:
        if self.rows.timetables.get((project_id, queue), Timetable()).cron == cron:
            return False
        self.rows.timetables[project_id, queue] = Timetable(cron, next_at=next_at)
        return True

    async def is_held(self, task: Task) -> bool:
        held = held_of(self.rows, task.task_id)
        mine = (held.state, held.fence, held.asked) == ("running", task.fence, None)
        return mine and task.task_id in self.rows.tasks


def records_of(rows: Rows, owner: Owner) -> list[TaskRecord]:
    """Each task once, newest first."""
    found = [_shown(rows, task_id, task) for task_id, task in rows.queued.items() if task.owner == owner]
    return sorted(found, key=lambda each: (each.created_at, each.task_id), reverse=True)


def _shown(rows: Rows, task_id: UUID, task: NewTask) -> TaskRecord:
    held = held_of(rows, task_id)
    ended = [each.record for each in rows.attempts if each.task_id == task_id]
    last = ended[-1] if ended else None
    over = last is not None and last.status is not TaskStatus.FAILED
    if over and last is not None:
        status, scheduled_for = last.status, last.scheduled_for
    elif held.state == "failed":
        status, scheduled_for = TaskStatus.FAILED, held.scheduled_for or task.created_at
    elif held.state == "running":
        status = TaskStatus.STOPPING if held.asked else TaskStatus.RUNNING
        scheduled_for = held.scheduled_for or task.created_at
    else:
        status, scheduled_for = TaskStatus.SCHEDULED, due_at(rows, task_id)
    return TaskRecord(
        task_id=task_id,
        queue=task.queue.value,
        status=status,
        incarnation=None if task.subject is None else Incarnation(task.subject),
        tabular=task.tabular,
        path=task.path,
        parent_id=task.parent_id,
        created_at=task.created_at,
        scheduled_for=scheduled_for,
        picked_up_at=last.started_at if over and last is not None else held.started_at,
        heard_at=held.heard_at if held.state == "running" else None,
        attempt=last.attempt if over and last is not None else held.attempt,
        done=last.done if over and last is not None else held.progress,
        message=last.message if over and last is not None else held.message,
        location=task.location or "",
        purge=task.purge,
        total=held.total,
        plan=task.plan,
    )


def matches(task: TaskRecord, which: TaskFilter, after: After | None) -> bool:
    about = task.tabular
    return (
        (which.statuses is None or task.status in which.statuses)
        and (which.queues is None or task.queue in which.queues)
        and (which.tabulars is None or about in which.tabulars or (about is None and which.about_nothing))
        and (which.created_after is None or task.created_at > which.created_after)
        and (which.created_before is None or task.created_at < which.created_before)
        and (after is None or (task.created_at, task.task_id) < (after.created_at, after.id))
    )
