"""How queues are set, for a warehouse or a project: after which silence workers are given up, and when queues make tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, Occasion, ProjectChange, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_project
from lakeward_catalog.application.ports.tasks import TaskRecords
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.queues.task_log_cleanup import EVERY
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.schedules import Timetable, parse_cron
from lakeward_catalog.domain.tasks import NewTask, Owner, Queue, QueueConfig
from lakeward_catalog.domain.wording import no_such_project, no_such_warehouse, not_schedulable, task_active, too_far
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.system import Clock

SHORTEST_SILENCE: Final = timedelta(seconds=10)
LONGEST_SILENCE: Final = timedelta(days=1)
LONGEST_PERIOD: Final = timedelta(days=3650)
FARTHEST: Final = timedelta(days=365)


@dataclasses.dataclass(frozen=True, slots=True)
class SetQueue:
    """Set a queue of a warehouse or a project."""

    owner: Owner
    queue: Queue
    config: QueueConfig


@dataclasses.dataclass(frozen=True, slots=True)
class SetSchedule:
    """Say by a cron expression, in a time zone, when a project's queue makes its tasks; None: as the queue has it."""

    project_id: ProjectId
    queue: Queue
    cron: str | None
    time_zone: str = "UTC"


@dataclasses.dataclass(frozen=True, slots=True)
class ScheduleTask:
    """Queue a task of a project's queue; `at` None: now."""

    project_id: ProjectId
    queue: Queue
    at: datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class QueueSettings:
    """Sets queues. What is set already is no change, and no event."""

    doors: Doors
    changes: Changes
    records: TaskRecords
    announcer: Announcer
    clock: Clock

    async def read(self, owner: Owner, queue: Queue, *, caller: Caller) -> QueueConfig:
        """How one is set.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT, FORBIDDEN.
        """
        await self._open(
            owner, Action.WAREHOUSE_GET_TASK_QUEUE_CONFIG, Action.PROJECT_GET_TASK_QUEUE_CONFIG, caller=caller
        )
        return await self.records.config(owner, queue)

    async def __call__(self, command: SetQueue, *, caller: Caller) -> None:
        """Set one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT, FORBIDDEN, INVALID_FIELD.
        """
        owner, kind = command.owner, KINDS[command.queue]
        await self._open(
            owner, Action.WAREHOUSE_MODIFY_TASK_QUEUE_CONFIG, Action.PROJECT_MODIFY_TASK_QUEUE_CONFIG, caller=caller
        )
        config, when = _checked(kind, command.config), occasion(caller, self.clock.now())
        next_at = None if kind.every is None else when.at + (config.every or kind.every)
        async with self.changes.change() as change:
            announce = await _announcing(change, owner, self.announcer, when)
            if await change.tasks.configure(owner, command.queue, config, next_at=next_at):
                announce(_told(kind, config))

    async def _open(self, owner: Owner, of_warehouse: Action, of_project: Action, *, caller: Caller) -> None:
        if isinstance(owner, UUID):
            await self.doors.warehouse(WarehouseId(owner), of_warehouse, caller=caller)
        else:
            await self.doors.project(of_project, caller=caller, project_id=ProjectId(owner))


@dataclasses.dataclass(frozen=True, slots=True)
class QueueSchedules:
    """Says when queues that make their own tasks do so."""

    doors: Doors
    changes: Changes
    records: TaskRecords
    announcer: Announcer
    clock: Clock

    async def read(self, project_id: ProjectId, queue: Queue, *, caller: Caller) -> Timetable:
        """When one does.

        Raises:
            Refusal: NO_SUCH_PROJECT, FORBIDDEN, QUEUE_NOT_SCHEDULABLE.
        """
        action = Action.PROJECT_GET_TASK_QUEUE_CONFIG
        await self.doors.project(action, caller=caller, project_id=project_id)
        kind = _schedulable(queue)
        found = await self.records.timetable(project_id, queue)
        return dataclasses.replace(found, every=found.every or kind.every)

    async def __call__(self, command: SetSchedule, *, caller: Caller) -> None:
        """Say it of one.

        Raises:
            Refusal: NO_SUCH_PROJECT, FORBIDDEN, QUEUE_NOT_SCHEDULABLE, INVALID_FIELD.
        """
        project_id, queue = command.project_id, command.queue
        action = Action.PROJECT_MODIFY_TASK_QUEUE_CONFIG
        await self.doors.project(action, caller=caller, project_id=project_id)
        kind, now = _schedulable(queue), self.clock.now()
        assert kind.every is not None, "it is schedulable"
        cron = None if command.cron is None else parse_cron(command.cron, command.time_zone, now=now)
        every = (await self.records.config(project_id, queue)).every
        next_at = Timetable(cron, every).after(now, otherwise=kind.every)
        async with self.changes.change() as change:
            announce = await _announcing(change, project_id, self.announcer, occasion(caller, now))
            if await change.tasks.schedule(project_id, queue, cron, next_at=next_at):
                zone = None if cron is None else cron.zone
                announce({"queue": queue.value, "cron": None if cron is None else cron.expression, "time-zone": zone})


@dataclasses.dataclass(frozen=True, slots=True)
class TaskSchedulings:
    """Queues tasks of queues that make their own, at somebody's own time."""

    doors: Doors
    changes: Changes
    once: Once
    clock: Clock

    async def __call__(self, command: ScheduleTask, *, caller: Caller) -> UUID:
        """Queue one, and say which it is.

        Raises:
            Refusal: NO_SUCH_PROJECT, FORBIDDEN, QUEUE_NOT_SCHEDULABLE, TASK_ACTIVE, INVALID_FIELD.
        """
        at = None if command.at is None else command.at.isoformat()
        keyed = Keyed(of_project(command.project_id), "schedule-task", {"queue": command.queue.value, "at": at})
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._schedule(command, caller, keeper),
            again=lambda kept: self._again(command, kept, caller),
        )

    async def _schedule(self, command: ScheduleTask, caller: Caller, keeper: Keeper) -> UUID:
        project_id, queue, now = command.project_id, command.queue, self.clock.now()
        await self.doors.project(Action.PROJECT_CONTROL_PROJECT_TASKS, caller=caller, project_id=project_id)
        _schedulable(queue)
        at = command.at or now
        if at > now + FARTHEST:
            raise too_far(at, FARTHEST)
        task = dataclasses.replace(NewTask.of_project(project_id, queue, at=now), scheduled_for=at)
        async with self.changes.change() as change:
            if await change.projects.lock(project_id) is None:
                raise no_such_project(project_id)
            active = await change.tasks.active(project_id, queue, None)
            if active is not None:
                raise task_active(queue, active)
            task_id = await change.tasks.enqueue(task)
            await keeper.keep(change, task_id=str(task_id))
        return task_id

    async def _again(self, command: ScheduleTask, kept: Mapping[str, str], caller: Caller) -> UUID:
        action = Action.PROJECT_CONTROL_PROJECT_TASKS
        await self.doors.project(action, caller=caller, project_id=command.project_id)
        return UUID(kept["task_id"])


def _schedulable(queue: Queue) -> QueueKind:
    kind = KINDS[queue]
    if kind.every is None:
        raise not_schedulable(queue, [each.queue for each in KINDS.values() if each.every is not None])
    return kind


async def _announcing(
    change: Change, owner: Owner, announcer: Announcer, when: Occasion
) -> Callable[[Mapping[str, object]], None]:
    """Locks whose queue it is; what is answered tells of its change.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT.
    """
    if isinstance(owner, UUID):
        warehouse = await change.warehouses.lock(WarehouseId(owner))
        if warehouse is None:
            raise no_such_warehouse(owner)
        return lambda told: change.ledger.emit(
            announcer.warehouse(WarehouseChange.QUEUE_UPDATED, warehouse, when, data={"settings": told})
        )
    project = await change.projects.lock(ProjectId(owner))
    if project is None:
        raise no_such_project(owner)
    return lambda told: change.ledger.emit(
        announcer.project(ProjectChange.QUEUE_UPDATED, project, when, data={"settings": told})
    )


def _checked(kind: QueueKind, config: QueueConfig) -> QueueConfig:
    silence, every, kept_for = config.silence, config.every, config.kept_for
    if silence is not None and not SHORTEST_SILENCE <= silence <= LONGEST_SILENCE:
        right = f"{SHORTEST_SILENCE.total_seconds():.0f} to {LONGEST_SILENCE.total_seconds():.0f} seconds"
        raise invalid_field("max-seconds-since-last-heartbeat", silence.total_seconds(), right)
    for name, period in (("cleanup-period", every), ("retention-period", kept_for)):
        if period is None:
            continue
        if not kind.takes_periods:
            raise invalid_field(name, period, f"nothing: queue {kind.queue.value!r} has none")
        if not timedelta(0) <= period <= LONGEST_PERIOD:
            raise invalid_field(name, period, f"0 to {LONGEST_PERIOD.days} days")
    # as upstream has it: what is nearer counts as this
    return config if every is None else dataclasses.replace(config, every=max(every, EVERY))


def _told(kind: QueueKind, config: QueueConfig) -> Mapping[str, object]:
    said: dict[str, object] = {
        "queue": kind.queue.value,
        "max-seconds-since-last-heartbeat": _seconds(config.silence),
    }
    if kind.takes_periods:
        said["cleanup-period-seconds"] = _seconds(config.every)
        said["retention-period-seconds"] = _seconds(config.kept_for)
    return said


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else int(span.total_seconds())
