"""Seeing tasks: a listing, and one with its attempts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import EVERY_TASK, AttemptRecord, TaskFilter, TaskRecord, TaskRecords
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tasks.deciding import SEE, check_number, decide_on_listing, decide_on_tasks
from lakeward_catalog.domain.tasks import Owner
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest

ATTEMPTS: Final = 5
MOST_ATTEMPTS: Final = 100


@dataclasses.dataclass(frozen=True, slots=True)
class ListTasks:
    """List tasks of a warehouse or a project."""

    owner: Owner
    which: TaskFilter = EVERY_TASK
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class SeeTask:
    """See a task with so many of its ended attempts."""

    owner: Owner
    task_id: UUID
    attempts: int = ATTEMPTS


@dataclasses.dataclass(frozen=True, slots=True)
class TaskListings:
    """Lists tasks, the newest first; those that have ended among them while their record is kept."""

    doors: Doors
    records: TaskRecords
    rules: Rules

    async def __call__(self, command: ListTasks, *, caller: Caller) -> Page[TaskRecord]:
        """A page of them.

        Raises:
            Refusal: TOO_MANY_NAMED; what `decide_on_listing` raises; INVALID_PAGE_TOKEN.
        """
        which, owner = command.which, command.owner
        check_number("queue names", len(which.queues or ()))
        check_number("entities", len(which.tabulars or ()))
        await decide_on_listing(self.doors, owner, which, caller=caller)
        return await read_page(
            command.page,
            listing=("tasks", str(owner), repr(which), caller.principal.key),
            rules=self.rules,
            place=lambda task: After(task.created_at, task.task_id),
            read=lambda after, limit: self.records.list(owner, which, after=after, limit=limit),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class TaskViews:
    """Shows one task."""

    doors: Doors
    records: TaskRecords

    async def __call__(self, command: SeeTask, *, caller: Caller) -> tuple[TaskRecord, Sequence[AttemptRecord]]:
        """A task, and its newest ended attempts.

        Raises:
            Refusal: what `decide_on_tasks` raises.
        """
        owner, task_id = command.owner, command.task_id
        found = await self.records.find(owner, [task_id])
        record = found[0] if found else None
        await decide_on_tasks(self.doors, owner, {task_id: record}, SEE, caller=caller)
        assert record is not None, "what is absent is refused"
        limit = min(command.attempts, MOST_ATTEMPTS)
        return record, await self.records.attempts(owner, task_id, limit=limit)
