"""Stopping, cancelling and running tasks.

What cancelling means is each queue's own. What a soft deletion was to delete is restored, in the same transaction, since nothing
would ever end its retention else. Anything else that waits is simply not made; what runs ends when its worker has stopped: until
then a purge has its place, because files are deleted there.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, Occasion, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes, QueuedTask
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_project, of_warehouse
from lakeward_catalog.application.ports.gates import ChangeGate
from lakeward_catalog.application.ports.tasks import TaskRecord, TaskRecords
from lakeward_catalog.application.tabulars.restoring import ask_to_restore, bring_back
from lakeward_catalog.application.tasks.deciding import CONTROL, check_number, decide_on_tasks
from lakeward_catalog.application.tasks.kinds import OnCancel
from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.domain.model import ProjectId, State, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import Asked, Owner
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.system import Clock

FARTHEST: Final = timedelta(days=365)


class TaskAction(enum.Enum):
    """What is done to tasks."""

    STOP = "stop"
    CANCEL = "cancel"
    RUN = "run"


@dataclasses.dataclass(frozen=True, slots=True)
class ControlTasks:
    """Do something to tasks of a warehouse or a project, all or nothing; `at`: when they run, None for now."""

    owner: Owner
    task_ids: tuple[UUID, ...]
    action: TaskAction
    at: datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class TaskControls:
    """Stops, cancels and runs tasks. What has ended, or is so already, stays as it is."""

    doors: Doors
    changes: Changes
    records: TaskRecords
    once: Once
    announcer: Announcer
    clock: Clock
    gate: ChangeGate

    async def __call__(self, command: ControlTasks, *, caller: Caller) -> None:
        """Do it.

        Raises:
            Refusal: TOO_MANY_NAMED, DUPLICATE_TASK, INVALID_FIELD; what `decide_on_tasks` raises; TABULAR_EXISTS, where the name
                of what was to be restored is another's; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
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
            Keyed(_place_of(command.owner), "control-tasks", asked),
            caller=caller,
            do=lambda keeper: self._control(command, caller, keeper),
            again=lambda _: still_used(self.doors, command.owner, caller=caller),
        )

    async def _control(self, command: ControlTasks, caller: Caller, keeper: Keeper) -> None:
        owner = command.owner
        found = {each.task_id: each for each in await self.records.find(owner, command.task_ids)}
        wanted: Mapping[UUID, TaskRecord | None] = {task_id: found.get(task_id) for task_id in command.task_ids}
        await decide_on_tasks(self.doors, owner, wanted, CONTROL, caller=caller)
        now = self.clock.now()
        warehouse = await self.doors.warehouses.find(WarehouseId(owner)) if isinstance(owner, UUID) else None
        restoring = [each.incarnation for each in found.values() if _restores(each) and each.incarnation is not None]
        if command.action is TaskAction.CANCEL and restoring and warehouse is not None and warehouse.contracts:
            async with self.changes.change() as change:
                there = await change.tabulars.lock_incarnations(warehouse.warehouse_id, restoring)
            await ask_to_restore(self.gate, warehouse, there, caller=caller)
        async with self.changes.change() as change:
            # tabulars before tasks: in this order everybody locks them
            dropped: Sequence[Tabular] = ()
            if command.action is TaskAction.CANCEL and isinstance(owner, UUID):
                dropped = await change.tabulars.lock_incarnations(WarehouseId(owner), restoring)
            queued = await change.tasks.lock(owner, command.task_ids)
            match command.action:
                case TaskAction.STOP:
                    await change.tasks.ask(owner, [each.task_id for each in queued], Asked.STOP)
                case TaskAction.RUN:
                    which = [each.task_id for each in queued]
                    await change.tasks.run(owner, which, at=command.at or now, now=now)
                case TaskAction.CANCEL:
                    await self._cancel(change, owner, queued, dropped, warehouse, when=occasion(caller, now))
            await keeper.keep(change)

    async def _cancel(
        self,
        change: Change,
        owner: Owner,
        queued: Sequence[QueuedTask],
        dropped: Sequence[Tabular],
        warehouse: Warehouse | None,
        *,
        when: Occasion,
    ) -> None:
        active = [each for each in queued if each.active]
        restoring = {each.subject for each in active if KINDS[each.queue].on_cancel is OnCancel.RESTORE}
        restored = [each for each in dropped if each.incarnation in restoring and each.state is State.DROPPED]
        if warehouse is not None:
            await bring_back(change, restored, warehouse=warehouse, announcer=self.announcer, when=when)
        ending = [each for each in active if KINDS[each.queue].on_cancel is OnCancel.END]
        for queue in {each.queue for each in ending}:
            waiting = [each.task_id for each in ending if each.queue is queue and not each.running]
            await change.tasks.end(owner, waiting, at=when.at, message=KINDS[queue].cancelled)
        await change.tasks.ask(owner, [each.task_id for each in ending if each.running], Asked.CANCEL)


def _restores(record: TaskRecord) -> bool:
    return any(record.queue == queue and kind.on_cancel is OnCancel.RESTORE for queue, kind in KINDS.items())


def _place_of(owner: Owner) -> str:
    return of_warehouse(WarehouseId(owner)) if isinstance(owner, UUID) else of_project(ProjectId(owner))


async def still_used(doors: Doors, owner: Owner, *, caller: Caller) -> None:
    """Whether the caller may still use what it did something with.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT.
    """
    if isinstance(owner, UUID):
        await doors.still_used(WarehouseId(owner), caller=caller)
    else:
        await doors.project(Action.PROJECT_GET_METADATA, caller=caller, project_id=ProjectId(owner))


def _check_distinct(task_ids: Sequence[UUID]) -> None:
    seen: set[UUID] = set()
    for task_id in task_ids:
        if task_id in seen:
            raise Refusal(
                Reason.REASON_DUPLICATE_TASK, f"task {task_id} is named twice; name it once", task=str(task_id)
            )
        seen.add(task_id)
