"""Queued work as people see it: what waits, runs and has ended, and how queues are set."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.domain.model import Incarnation, ProjectId, TabularKey
from lakeward_catalog.domain.schedules import Timetable
from lakeward_catalog.domain.tasks import Owner, Queue, QueueConfig


class TaskStatus(enum.StrEnum):
    """Where a task is in its life."""

    SCHEDULED = "scheduled"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCESS = "success"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclasses.dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task.

    Attributes:
        incarnation: what it is about, which may be gone.
        tabular: what people know that by; None where nobody kept it.
        path: the parts of its namespace and its name, as they were.
        parent_id: the task that queued it.
        scheduled_for: when its attempt was, or is, to begin.
        picked_up_at: when the latest attempt was begun.
        heard_at: when its worker last said that it works on it; None while nobody does.
        attempt: how many were begun.
        done: what the latest one did, in the queue's units.
        message: what came of it, for people.
        location: of the files that it is about.
        purge: whether files go too.
        total: of which `done` is a part; None where nobody knows.
        plan: what its queue has to know beside.
    """

    task_id: UUID
    queue: str
    status: TaskStatus
    incarnation: Incarnation | None
    tabular: TabularKey | None
    path: tuple[str, ...]
    parent_id: UUID | None
    created_at: datetime
    scheduled_for: datetime
    picked_up_at: datetime | None
    heard_at: datetime | None
    attempt: int
    done: int
    message: str
    location: str
    purge: bool
    total: int | None = None
    plan: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An ended attempt; one that was cancelled before its time never began."""

    attempt: int
    status: TaskStatus
    scheduled_for: datetime
    started_at: datetime | None
    ended_at: datetime
    message: str
    done: int
    total: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks; None: all.

    Attributes:
        tabulars: about these, or about none where `about_nothing` says so.
        created_after: later than this.
        created_before: earlier than this.
    """

    statuses: Collection[TaskStatus] | None = None
    queues: Collection[str] | None = None
    tabulars: Collection[TabularKey] | None = None
    about_nothing: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None


EVERY_TASK: Final = TaskFilter()


class TaskRecords(Protocol):
    """Tasks of warehouses and projects, and the record of what has ended, while it is kept."""

    async def list(self, owner: Owner, which: TaskFilter, *, after: After | None, limit: int) -> Sequence[TaskRecord]:
        """Each task once, in the order (created_at, task_id), the newest first; at most `limit`."""
        ...

    async def find(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[TaskRecord]:
        """Those that are there or on record, in no order."""
        ...

    async def attempts(self, owner: Owner, task_id: UUID, *, limit: int) -> Sequence[AttemptRecord]:
        """Ended ones of a task, the newest first; at most `limit`."""
        ...

    async def config(self, owner: Owner, queue: Queue) -> QueueConfig:
        """How a queue is set for an owner."""
        ...

    async def timetable(self, project_id: ProjectId, queue: Queue) -> Timetable:
        """When a queue of a project makes its tasks, as far as that was said."""
        ...
