"""TaskService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord, TaskStatus
from lakeward_catalog.application.tasks.controlling import (
    ControlTasks,
    QueueSettings,
    SetQueue,
    TaskAction,
    TaskControls,
)
from lakeward_catalog.application.tasks.reading import ATTEMPTS, ListTasks, SeeTask, TaskListings, TaskViews
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.transport import decode, encode
from lakeward_protocol.catalog.v1 import tasks_pb2, tasks_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.rpc.pages import page_of

_STATUSES: Final = {
    TaskStatus.SCHEDULED: tasks_pb2.TASK_STATUS_SCHEDULED,
    TaskStatus.RUNNING: tasks_pb2.TASK_STATUS_RUNNING,
    TaskStatus.STOPPING: tasks_pb2.TASK_STATUS_STOPPING,
    TaskStatus.SUCCESS: tasks_pb2.TASK_STATUS_SUCCESS,
    TaskStatus.FAILED: tasks_pb2.TASK_STATUS_FAILED,
    TaskStatus.CANCELLED: tasks_pb2.TASK_STATUS_CANCELLED,
}
_WANTED: Final = {value: status for status, value in _STATUSES.items()}
_ACTIONS: Final = {
    tasks_pb2.TASK_ACTION_STOP: TaskAction.STOP,
    tasks_pb2.TASK_ACTION_CANCEL: TaskAction.CANCEL,
    tasks_pb2.TASK_ACTION_RUN: TaskAction.RUN,
}
# The older name of a queue, which upstream still takes.
_QUEUES: Final = {**{queue.value: queue for queue in Queue}, "tabular_expiration": Queue.SOFT_DELETION}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskServicer(tasks_pb2_grpc.TaskServiceServicer):
    """Queued work of warehouses."""

    list: TaskListings
    view: TaskViews
    control: TaskControls
    queues: QueueSettings

    async def ListTasks(self, request: tasks_pb2.ListTasksRequest, caller: Caller) -> tasks_pb2.ListTasksResponse:
        """See the contract."""
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        page = await self.list(ListTasks(warehouse_id, _filter(request), page_of(request)), caller=caller)
        project_id = (await self.list.doors.found_warehouse(warehouse_id)).project_id
        return tasks_pb2.ListTasksResponse(
            tasks=[_task(each, project_id, request.warehouse_id) for each in page.entries],
            next_page_token=page.next_token,
        )

    async def GetTask(self, request: tasks_pb2.GetTaskRequest, caller: Caller) -> tasks_pb2.GetTaskResponse:
        """See the contract."""
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        wanted = request.attempts if request.HasField("attempts") else ATTEMPTS
        command = SeeTask(warehouse_id, _task_id(request.task_id), wanted)
        record, attempts = await self.view(command, caller=caller)
        project_id = (await self.view.doors.found_warehouse(warehouse_id)).project_id
        return tasks_pb2.GetTaskResponse(
            task=_task(record, project_id, request.warehouse_id),
            message=record.message,
            location=record.location,
            purge=record.purge,
            attempts=[_attempt(each) for each in attempts],
        )

    async def ControlTasks(
        self, request: tasks_pb2.ControlTasksRequest, caller: Caller
    ) -> tasks_pb2.ControlTasksResponse:
        """See the contract."""
        action = _ACTIONS.get(request.action)
        if action is None:
            raise invalid_field("action", request.action, "stop, cancel or run")
        command = ControlTasks(
            decode.warehouse_id(request.warehouse_id),
            tuple(_task_id(each) for each in request.task_ids),
            action,
            _moment(request.at, "at") if request.HasField("at") else None,
        )
        await self.control(command, caller=caller)
        return tasks_pb2.ControlTasksResponse()

    async def GetQueueConfig(
        self, request: tasks_pb2.GetQueueConfigRequest, caller: Caller
    ) -> tasks_pb2.GetQueueConfigResponse:
        """See the contract."""
        warehouse_id, queue = decode.warehouse_id(request.warehouse_id), _queue(request.queue)
        silence = await self.queues.read(warehouse_id, queue, caller=caller)
        response = tasks_pb2.GetQueueConfigResponse()
        if silence is not None:
            response.silence.FromTimedelta(silence)
        return response

    async def SetQueueConfig(
        self, request: tasks_pb2.SetQueueConfigRequest, caller: Caller
    ) -> tasks_pb2.SetQueueConfigResponse:
        """See the contract."""
        silence = _span(request.silence) if request.HasField("silence") else None
        command = SetQueue(decode.warehouse_id(request.warehouse_id), _queue(request.queue), silence)
        await self.queues(command, caller=caller)
        return tasks_pb2.SetQueueConfigResponse()


def _filter(request: tasks_pb2.ListTasksRequest) -> TaskFilter:
    entities = request.entities
    return TaskFilter(
        statuses=_statuses(request.statuses.statuses) if request.HasField("statuses") else None,
        queues=[_named(name) for name in request.queues.names] if request.HasField("queues") else None,
        tabulars=tuple(dict.fromkeys(decode.tabular_key(each) for each in entities.tabulars))
        if request.HasField("entities")
        else None,
        about_nothing=entities.warehouse,
        created_after=_moment(request.created_after, "created_after") if request.HasField("created_after") else None,
        created_before=_moment(request.created_before, "created_before")
        if request.HasField("created_before")
        else None,
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


def _queue(name: str) -> Queue:
    queue = _QUEUES.get(name)
    if queue is None:
        shown = name[:100]
        raise Refusal(
            Reason.REASON_NO_SUCH_QUEUE,
            f"a warehouse has no queue {shown!r}; it has {' and '.join(queue.value for queue in Queue)}",
            queue=shown,
        )
    return queue


def _task_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise invalid_field("task_id", text, "a task's id, which is a UUID") from None


def _moment(value: Timestamp, field: str) -> datetime:
    try:
        return value.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise invalid_field(field, f"{value.seconds} s", "a time of the years 1 to 9999") from None


def _span(value: Duration) -> timedelta:
    try:
        return value.ToTimedelta()
    except (ValueError, OverflowError):
        raise invalid_field("silence", f"{value.seconds} s", "10 seconds to a day") from None


def _task(record: TaskRecord, project_id: str, warehouse_id: str) -> tasks_pb2.Task:
    message = tasks_pb2.Task(
        task_id=str(record.task_id),
        project_id=project_id,
        warehouse_id=warehouse_id,
        queue=record.queue,
        status=_STATUSES[record.status],
        tabular=None if record.tabular is None else encode.tabular_ref(*record.tabular),
        path=record.path,
        parent_id="" if record.parent_id is None else str(record.parent_id),
        attempt=record.attempt,
        done=record.done,
    )
    message.scheduled_for.FromDatetime(record.scheduled_for)
    message.created_at.FromDatetime(record.created_at)
    if record.picked_up_at is not None:
        message.picked_up_at.FromDatetime(record.picked_up_at)
    if record.heard_at is not None:
        message.heard_at.FromDatetime(record.heard_at)
    return message


def _attempt(record: AttemptRecord) -> tasks_pb2.TaskAttempt:
    message = tasks_pb2.TaskAttempt(
        attempt=record.attempt, status=_STATUSES[record.status], message=record.message, done=record.done
    )
    message.scheduled_for.FromDatetime(record.scheduled_for)
    message.ended_at.FromDatetime(record.ended_at)
    if record.started_at is not None:
        message.started_at.FromDatetime(record.started_at)
    return message
