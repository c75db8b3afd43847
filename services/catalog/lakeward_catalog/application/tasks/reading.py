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
from lakeward_catalog.application.tasks.deciding import check_number, decide_on_entities, decide_on_tasks
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest

ATTEMPTS: Final = 5
MOST_ATTEMPTS: Final = 100


@dataclasses.dataclass(frozen=True, slots=True)
class ListTasks:
    """List tasks of a warehouse."""

    warehouse_id: WarehouseId
    which: TaskFilter = EVERY_TASK
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class SeeTask:
    """See a task with so many of its ended attempts."""

    warehouse_id: WarehouseId
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
            Refusal: TOO_MANY_NAMED; what `decide_on_entities` raises; INVALID_PAGE_TOKEN.
        """
        which, warehouse_id = command.which, command.warehouse_id
        check_number("queue names", len(which.queues or ()))
        check_number("entities", len(which.tabulars or ()))
        named = None if which.tabulars is None else [*which.tabulars]
        await decide_on_entities(self.doors, warehouse_id, named, nothing_too=which.about_nothing, caller=caller)
        return await read_page(
            command.page,
            listing=("tasks", str(warehouse_id), repr(which), caller.principal.key),
            rules=self.rules,
            place=lambda task: After(task.created_at, task.task_id),
            read=lambda after, limit: self.records.list(warehouse_id, which, after=after, limit=limit),
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
        found = await self.records.find(command.warehouse_id, [command.task_id])
        record = found[0] if found else None
        await decide_on_tasks(
            self.doors,
            command.warehouse_id,
            {command.task_id: record},
            all_tasks=Action.WAREHOUSE_GET_ALL_TASKS,
            one=lambda demands: demands.see_tasks,
            caller=caller,
        )
        assert record is not None, "what is absent is refused"
        limit = min(command.attempts, MOST_ATTEMPTS)
        return record, await self.records.attempts(command.warehouse_id, command.task_id, limit=limit)
