"""Stopping, cancelling and running tasks, and setting their queues.

What cancelling means is each queue's own. What a soft deletion was to delete is restored, in the same transaction, since nothing
would ever end its retention else. A purge that waits is simply not made; one that runs ends when its worker has stopped: until
then its place is taken, because files are deleted there.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, WarehouseChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes, QueuedTask
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.application.ports.tasks import TaskRecord, TaskRecords
from lakeward_catalog.application.tabulars.restoring import bring_back
from lakeward_catalog.application.tasks.deciding import check_number, decide_on_tasks
from lakeward_catalog.domain.model import State, Tabular, WarehouseId
from lakeward_catalog.domain.tasks import Asked, Queue
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

FARTHEST: Final = timedelta(days=365)
SHORTEST_SILENCE: Final = timedelta(seconds=10)
LONGEST_SILENCE: Final = timedelta(days=1)


class TaskAction(enum.Enum):
    """What is done to tasks."""

    STOP = "stop"
    CANCEL = "cancel"
    RUN = "run"


@dataclasses.dataclass(frozen=True, slots=True)
class ControlTasks:
    """Do something to tasks of a warehouse, all or nothing; `at`: when they run, None for now."""

    warehouse_id: WarehouseId
    task_ids: tuple[UUID, ...]
    action: TaskAction
    at: datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class SetQueue:
    """Say after which silence the workers of a queue are given up in a warehouse; None: as the queue has it."""

    warehouse_id: WarehouseId
    queue: Queue
    silence: timedelta | None


@dataclasses.dataclass(frozen=True, slots=True)
class TaskControls:
    """Stops, cancels and runs tasks. What has ended, or is so already, stays as it is."""

    doors: Doors
    changes: Changes
    records: TaskRecords
    once: Once
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ControlTasks, *, caller: Caller) -> None:
        """Do it.

        Raises:
            Refusal: TOO_MANY_NAMED, DUPLICATE_TASK, INVALID_FIELD; what `decide_on_tasks` raises; TABULAR_EXISTS, where the name
                of what was to be restored is another's; CONCURRENT_CHANGE.
        """
        check_number("tasks", len(command.task_ids))
        _check_distinct(command.task_ids)
        if command.at is not None and command.at > self.clock.now() + FARTHEST:
            raise invalid_field("at", command.at.isoformat(), f"at most {FARTHEST.days} days ahead")
        asked = {
            "tasks": [str(each) for each in command.task_ids],
            "action": command.action.value,
            "at": None if command.at is None else command.at.isoformat(),
        }
        await self.once(
            Keyed(of_warehouse(command.warehouse_id), "control-tasks", asked),
            caller=caller,
            do=lambda keeper: self._control(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _control(self, command: ControlTasks, caller: Caller, keeper: Keeper) -> None:
        warehouse_id = command.warehouse_id
        found = {each.task_id: each for each in await self.records.find(warehouse_id, command.task_ids)}
        wanted: Mapping[UUID, TaskRecord | None] = {task_id: found.get(task_id) for task_id in command.task_ids}
        await decide_on_tasks(
            self.doors,
            warehouse_id,
            wanted,
            all_tasks=Action.WAREHOUSE_CONTROL_ALL_TASKS,
            one=lambda demands: demands.control_tasks,
            caller=caller,
        )
        now = self.clock.now()
        async with self.changes.change() as change:
            # tabulars before tasks: in this order everybody locks them
            dropped: Sequence[Tabular] = ()
            if command.action is TaskAction.CANCEL:
                ending = [each.incarnation for each in found.values() if each.queue == Queue.SOFT_DELETION]
                dropped = await change.tabulars.lock_incarnations(
                    warehouse_id, [each for each in ending if each is not None]
                )
            queued = await change.tasks.lock(warehouse_id, command.task_ids)
            match command.action:
                case TaskAction.STOP:
                    await change.tasks.ask(warehouse_id, [each.task_id for each in queued], Asked.STOP)
                case TaskAction.RUN:
                    which = [each.task_id for each in queued]
                    await change.tasks.run(warehouse_id, which, at=command.at or now, now=now)
                case TaskAction.CANCEL:
                    await self._cancel(change, warehouse_id, queued, dropped, now=now, caller=caller)
            await keeper.keep(change)

    async def _cancel(
        self,
        change: Change,
        warehouse_id: WarehouseId,
        queued: Sequence[QueuedTask],
        dropped: Sequence[Tabular],
        *,
        now: datetime,
        caller: Caller,
    ) -> None:
        active = [each for each in queued if each.active]
        expiring = {each.incarnation for each in active if each.queue is Queue.SOFT_DELETION}
        restored = [each for each in dropped if each.incarnation in expiring and each.state is State.DROPPED]
        await bring_back(change, restored, announcer=self.announcer, when=occasion(caller, now))
        purges = [each for each in active if each.queue is Queue.TABULAR_PURGE]
        waiting = [each.task_id for each in purges if not each.running]
        await change.tasks.end(warehouse_id, waiting, at=now, message="Cancelled; the files stay")
        await change.tasks.ask(warehouse_id, [each.task_id for each in purges if each.running], Asked.CANCEL)


@dataclasses.dataclass(frozen=True, slots=True)
class QueueSettings:
    """Sets the queues of warehouses. What is set already is no change, and no event."""

    doors: Doors
    changes: Changes
    records: TaskRecords
    announcer: Announcer
    clock: Clock

    async def read(self, warehouse_id: WarehouseId, queue: Queue, *, caller: Caller) -> timedelta | None:
        """After which silence its workers are given up; None: as the queue has it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        await self.doors.warehouse(warehouse_id, Action.WAREHOUSE_GET_TASK_QUEUE_CONFIG, caller=caller)
        return await self.records.silence(warehouse_id, queue)

    async def __call__(self, command: SetQueue, *, caller: Caller) -> None:
        """Set one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, INVALID_FIELD.
        """
        action = Action.WAREHOUSE_MODIFY_TASK_QUEUE_CONFIG
        await self.doors.warehouse(command.warehouse_id, action, caller=caller)
        silence = command.silence
        if silence is not None and not SHORTEST_SILENCE <= silence <= LONGEST_SILENCE:
            right = f"{SHORTEST_SILENCE.total_seconds():.0f} to {LONGEST_SILENCE.total_seconds():.0f} seconds"
            raise invalid_field("max-seconds-since-last-heartbeat", silence.total_seconds(), right)
        async with self.changes.change() as change:
            warehouse = await change.warehouses.lock(command.warehouse_id)
            if warehouse is None:
                raise no_such_warehouse(command.warehouse_id)
            if not await change.tasks.set_silence(command.warehouse_id, command.queue, silence):
                return
            seconds = None if silence is None else int(silence.total_seconds())
            told = {"queue": command.queue.value, "max-seconds-since-last-heartbeat": seconds}
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.warehouse(WarehouseChange.QUEUE_UPDATED, warehouse, when, data=told))


def _check_distinct(task_ids: Sequence[UUID]) -> None:
    seen: set[UUID] = set()
    for task_id in task_ids:
        if task_id in seen:
            raise Refusal(
                Reason.REASON_DUPLICATE_TASK, f"task {task_id} is named twice; name it once", task=str(task_id)
            )
        seen.add(task_id)
