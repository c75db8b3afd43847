"""What the messages about tasks of warehouses and of projects have in common."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

import msgspec
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord, TaskStatus
from lakeward_catalog.application.tasks.controlling import ControlTasks, TaskAction
from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.domain.tasks import Level, Owner, Queue
from lakeward_catalog.transport import encode
from lakeward_protocol.catalog.v1 import tasks_pb2
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

STATUSES: Final = {
    TaskStatus.SCHEDULED: tasks_pb2.TASK_STATUS_SCHEDULED,
    TaskStatus.RUNNING: tasks_pb2.TASK_STATUS_RUNNING,
    TaskStatus.STOPPING: tasks_pb2.TASK_STATUS_STOPPING,
    TaskStatus.SUCCESS: tasks_pb2.TASK_STATUS_SUCCESS,
    TaskStatus.FAILED: tasks_pb2.TASK_STATUS_FAILED,
    TaskStatus.CANCELLED: tasks_pb2.TASK_STATUS_CANCELLED,
}
_WANTED: Final = {value: status for status, value in STATUSES.items()}
_ACTIONS: Final = {
    tasks_pb2.TASK_ACTION_STOP: TaskAction.STOP,
    tasks_pb2.TASK_ACTION_CANCEL: TaskAction.CANCEL,
    tasks_pb2.TASK_ACTION_RUN: TaskAction.RUN,
}
SILENCES: Final = "10 seconds to a day"
PERIODS: Final = "0 to 3650 days"
# The older name of a queue, which upstream still takes.
_QUEUES: Final = {**{queue.value: queue for queue in Queue}, "tabular_expiration": Queue.SOFT_DELETION}


class Listing(Protocol):
    """Which tasks, whosever they are."""

    @property
    def statuses(self) -> tasks_pb2.TaskStatuses:
        """Unset: all."""
        ...

    @property
    def queues(self) -> tasks_pb2.QueueNames:
        """Unset: all."""
        ...

    @property
    def created_after(self) -> Timestamp:
        """Unset: from the first."""
        ...

    @property
    def created_before(self) -> Timestamp:
        """Unset: to the last."""
        ...

    def HasField(self, field_name: Any, /) -> bool:
        """Whether a field is set."""
        ...


def filter_of(request: Listing) -> TaskFilter:
    """Which tasks.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return TaskFilter(
        statuses=_statuses(request.statuses.statuses) if request.HasField("statuses") else None,
        queues=[_named(name) for name in request.queues.names] if request.HasField("queues") else None,
        created_after=moment(request.created_after, "created_after") if request.HasField("created_after") else None,
        created_before=moment(request.created_before, "created_before") if request.HasField("created_before") else None,
    )


def _statuses(values: Iterable[tasks_pb2.TaskStatus.ValueType]) -> list[TaskStatus]:
    try:
        return [_WANTED[value] for value in values]
    except KeyError as error:
        raise invalid_field("statuses", error.args[0], "a status of a task") from None


def _named(name: str) -> str:
    """A queue to look for; one that nobody knows has no tasks."""
    queue = _QUEUES.get(name)
    return name if queue is None else queue.value


def _action_of(value: tasks_pb2.TaskAction.ValueType) -> TaskAction:
    action = _ACTIONS.get(value)
    if action is None:
        raise invalid_field("action", value, "stop, cancel or run")
    return action


class Controlling(Protocol):
    """What is to be done with tasks, whosever they are."""

    @property
    def task_ids(self) -> Iterable[str]:
        """Which."""
        ...

    @property
    def action(self) -> tasks_pb2.TaskAction.ValueType:
        """What."""
        ...

    @property
    def at(self) -> Timestamp:
        """Unset: now."""
        ...

    def HasField(self, field_name: Any, /) -> bool:
        """Whether a field is set."""
        ...


def control_of(request: Controlling, owner: Owner) -> ControlTasks:
    """What to do with an owner's tasks.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return ControlTasks(
        owner,
        tuple(task_id_of(each) for each in request.task_ids),
        _action_of(request.action),
        moment(request.at, "at") if request.HasField("at") else None,
    )


def queue_of(name: str, level: Level) -> Queue:
    """A queue whose tasks are a warehouse's, or a project's.

    Raises:
        Refusal: NO_SUCH_QUEUE.
    """
    queue = _QUEUES.get(name)
    if queue is None or KINDS[queue].level is not level:
        shown, there = name[:100], [each.queue.value for each in KINDS.values() if each.level is level]
        raise Refusal(
            Reason.REASON_NO_SUCH_QUEUE,
            f"a {level.value} has no queue {shown!r}; it has {', '.join(sorted(there))}",
            queue=shown,
        )
    return queue


def task_id_of(text: str) -> UUID:
    """The id of a task.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return UUID(text)
    except ValueError:
        raise invalid_field("task_id", text, "a task's id, which is a UUID") from None


def plan_of(record: TaskRecord) -> bytes:
    """JSON of what a task's queue has to know; empty for nothing."""
    return msgspec.json.encode(record.plan) if record.plan else b""


def moment(value: Timestamp, field: str) -> datetime:
    """A time.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return value.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise invalid_field(field, f"{value.seconds} s", "a time of the years 1 to 9999") from None


def span(value: Duration, field: str, right: str) -> timedelta:
    """A span of time.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return value.ToTimedelta()
    except (ValueError, OverflowError):
        raise invalid_field(field, f"{value.seconds} s", right) from None


def task_message(record: TaskRecord, *, project_id: str, warehouse_id: str = "") -> tasks_pb2.Task:
    """A task, as it is shown."""
    message = tasks_pb2.Task(
        task_id=str(record.task_id),
        project_id=project_id,
        warehouse_id=warehouse_id,
        queue=record.queue,
        status=STATUSES[record.status],
        tabular=None if record.tabular is None else encode.tabular_ref(*record.tabular),
        path=record.path,
        parent_id="" if record.parent_id is None else str(record.parent_id),
        attempt=record.attempt,
        done=record.done,
        total=record.total or 0,
    )
    message.scheduled_for.FromDatetime(record.scheduled_for)
    message.created_at.FromDatetime(record.created_at)
    if record.picked_up_at is not None:
        message.picked_up_at.FromDatetime(record.picked_up_at)
    if record.heard_at is not None:
        message.heard_at.FromDatetime(record.heard_at)
    return message


def attempt_message(record: AttemptRecord) -> tasks_pb2.TaskAttempt:
    """An ended attempt, as it is shown."""
    message = tasks_pb2.TaskAttempt(
        attempt=record.attempt,
        status=STATUSES[record.status],
        message=record.message,
        done=record.done,
        total=record.total or 0,
    )
    message.scheduled_for.FromDatetime(record.scheduled_for)
    message.ended_at.FromDatetime(record.ended_at)
    if record.started_at is not None:
        message.started_at.FromDatetime(record.started_at)
    return message
