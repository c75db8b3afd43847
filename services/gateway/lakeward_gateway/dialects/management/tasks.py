"""Queued work of a warehouse: listing it, one task, controlling tasks, and how queues are set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_gateway.dialects.management import task_documents as documents
from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.tabulars import TYPES
from lakeward_gateway.dialects.management.task_operations import ATTEMPTS, WAREHOUSE, on_queue, on_tasks
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.catalog.v1 import project_tasks_pb2, tabulars_pb2, tasks_pb2, tasks_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2

_SERVED: Final = ("soft_deletion", "tabular_purge", "namespace_drop")
_MOST: Final = 2**31 - 1
_STATUSES: Final[dict[documents.Status, tasks_pb2.TaskStatus.ValueType]] = {
    "SCHEDULED": tasks_pb2.TASK_STATUS_SCHEDULED,
    "RUNNING": tasks_pb2.TASK_STATUS_RUNNING,
    "STOPPING": tasks_pb2.TASK_STATUS_STOPPING,
    "SUCCESS": tasks_pb2.TASK_STATUS_SUCCESS,
    "FAILED": tasks_pb2.TASK_STATUS_FAILED,
    "CANCELLED": tasks_pb2.TASK_STATUS_CANCELLED,
}
_WORDS: Final[dict[tasks_pb2.TaskStatus.ValueType, documents.Status]] = {
    status: word for word, status in _STATUSES.items()
}
_list_decoder: Final = msgspec.json.Decoder(documents.ListTasksRequest)
_control_decoder: Final = msgspec.json.Decoder(documents.ControlTasksRequest)
_queue_decoder: Final = msgspec.json.Decoder(documents.SetQueueConfigRequest)


async def list_tasks(request: Request, *, tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Response:
    """A page of tasks."""
    document = await parsed(_list_decoder, request.body or b"{}")
    message = tasks_pb2.ListTasksRequest(context=request.context, warehouse_id=request.arguments[0])
    narrow(message, document)
    if document.entities is not None:
        message.entities.CopyFrom(_entities(document.entities))
    response = await tasks.ListTasks(message)
    shown = [documents.TaskInfo(**members(task), **_about(task)) for task in response.tasks]
    return json_response(documents.ListTasksResponse(shown, response.next_page_token or None))


def narrow(
    message: tasks_pb2.ListTasksRequest | project_tasks_pb2.ListProjectTasksRequest,
    document: documents.ListTasksRequest | documents.ListProjectTasksRequest,
) -> None:
    """Say which tasks are meant, whosever they are."""
    message.page.CopyFrom(context_pb2.Page(size=_size(document.page_size), token=document.page_token or ""))
    if document.status is not None:
        message.statuses.SetInParent()
        message.statuses.statuses.extend(_STATUSES[word] for word in document.status)
    if document.queue_name is not None:
        message.queues.SetInParent()
        message.queues.names.extend(document.queue_name)
    if document.created_after is not None:
        message.created_after.CopyFrom(timestamp(document.created_after))
    if document.created_before is not None:
        message.created_before.CopyFrom(timestamp(document.created_before))


def _size(wanted: int | None) -> int | None:
    return None if wanted is None else min(max(wanted, 1), _MOST)


def timestamp(moment: datetime) -> Timestamp:
    """A time, as services take it."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def _entities(
    entities: Sequence[
        documents.TableTasks | documents.ViewTasks | documents.GenericTableTasks | documents.WarehouseTasks
    ],
) -> tasks_pb2.TaskEntities:
    message = tasks_pb2.TaskEntities()
    for each in entities:
        match each:
            case documents.TableTasks(table_id=tabular_id):
                message.tabulars.add(kind=tabulars_pb2.TABULAR_KIND_TABLE, tabular_id=tabular_id)
            case documents.ViewTasks(view_id=tabular_id):
                message.tabulars.add(kind=tabulars_pb2.TABULAR_KIND_VIEW, tabular_id=tabular_id)
            case documents.GenericTableTasks(generic_table_id=tabular_id):
                message.tabulars.add(kind=tabulars_pb2.TABULAR_KIND_GENERIC_TABLE, tabular_id=tabular_id)
            case documents.WarehouseTasks():
                message.warehouse = True
    return message


def _about(task: tasks_pb2.Task) -> dict[str, Any]:
    """What is told of a warehouse's task alone."""
    return {
        "warehouse_id": task.warehouse_id,
        "entity": _entity(task.tabular) if task.HasField("tabular") else None,
        "entity_name": list(task.path) or None,
    }


def members(task: tasks_pb2.Task) -> dict[str, Any]:
    """What is told of a task wherever it is shown."""
    return {
        "task_id": task.task_id,
        "project_id": task.project_id,
        "queue_name": task.queue,
        "status": _WORDS[task.status],
        "parent_task_id": task.parent_id or None,
        "scheduled_for": time_text(task.scheduled_for),
        "picked_up_at": time_text(task.picked_up_at) if task.HasField("picked_up_at") else None,
        "last_heartbeat_at": time_text(task.heard_at) if task.HasField("heard_at") else None,
        "attempt": task.attempt,
        "progress": _progress(task),
        "created_at": time_text(task.created_at),
    }


def _progress(task: tasks_pb2.Task | tasks_pb2.TaskAttempt) -> float:
    if task.status == tasks_pb2.TASK_STATUS_SUCCESS:
        return 1.0
    return min(task.done / task.total, 1.0) if task.total else 0.0


def _entity(tabular: tabulars_pb2.TabularRef) -> documents.TaskEntityId:
    kind = TYPES[tabular.kind]
    return documents.TaskEntityId(kind, **{f"{kind.replace('-', '_')}_id": tabular.tabular_id})


async def get_task(request: Request, *, tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Response:
    """One task."""
    warehouse_id, task_id = request.arguments
    wanted = ATTEMPTS.read(request.query)
    found = await tasks.GetTask(
        tasks_pb2.GetTaskRequest(context=request.context, warehouse_id=warehouse_id, task_id=task_id, attempts=wanted)
    )
    task = found.task
    return json_response(
        documents.GetTaskDetailsResponse(
            **members(task),
            **_about(task),
            task_data=_data(found),
            message=found.message or None,
            execution_details=details(task.done),
            attempts=[attempt_shown(each) for each in found.attempts],
        )
    )


def _data(found: tasks_pb2.GetTaskResponse) -> dict[str, Any]:
    """What a task is to do, in upstream's words."""
    if found.plan:
        plan: dict[str, Any] = msgspec.json.decode(found.plan)
        return plan
    if found.task.queue == "soft_deletion":
        return {"deletion_kind": "purge" if found.purge else "default"}
    return {"tabular_location": found.location}


def details(done: int) -> dict[str, Any] | None:
    """What an attempt has done, in its queue's units."""
    return {"done": done} if done else None


def attempt_shown(attempt: tasks_pb2.TaskAttempt) -> documents.TaskAttempt:
    """An ended attempt."""
    started = attempt.started_at if attempt.HasField("started_at") else None
    took = None if started is None else attempt.ended_at.ToMilliseconds() - started.ToMilliseconds()
    return documents.TaskAttempt(
        attempt=attempt.attempt,
        status=_WORDS[attempt.status],
        scheduled_for=time_text(attempt.scheduled_for),
        started_at=None if started is None else time_text(started),
        duration=None if took is None else f"PT{max(took, 0) / 1000:.3f}S",
        message=attempt.message or None,
        progress=_progress(attempt),
        execution_details=details(attempt.done),
        created_at=time_text(started or attempt.scheduled_for),
    )


async def control_tasks(request: Request, *, tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Response:
    """Stop, cancel or run tasks."""
    document = await parsed(_control_decoder, request.body)
    message = tasks_pb2.ControlTasksRequest(
        context=request.context, warehouse_id=request.arguments[0], task_ids=document.task_ids
    )
    act(message, document.action)
    await tasks.ControlTasks(message)
    return NO_CONTENT


def act(
    message: tasks_pb2.ControlTasksRequest | project_tasks_pb2.ControlProjectTasksRequest, action: documents.Action
) -> None:
    """Say what is to be done."""
    match action:
        case documents.Stop():
            message.action = tasks_pb2.TASK_ACTION_STOP
        case documents.Cancel():
            message.action = tasks_pb2.TASK_ACTION_CANCEL
        case documents.RunNow():
            message.action = tasks_pb2.TASK_ACTION_RUN
        case documents.RunAt(scheduled_for=moment):
            message.action = tasks_pb2.TASK_ACTION_RUN
            message.at.CopyFrom(timestamp(moment))


async def get_queue(request: Request, *, queue: str, tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Response:
    """How a queue is set."""
    found = await tasks.GetQueueConfig(
        tasks_pb2.GetQueueConfigRequest(context=request.context, warehouse_id=request.arguments[0], queue=queue)
    )
    seconds = found.silence.seconds if found.HasField("silence") else None
    return json_response(documents.GetQueueConfigResponse(documents.QueueConfig(), seconds))


async def set_queue(request: Request, *, queue: str, tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Response:
    """Set a queue."""
    document = await parsed(_queue_decoder, request.body)
    seconds = document.max_seconds_since_last_heartbeat
    await tasks.SetQueueConfig(
        tasks_pb2.SetQueueConfigRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            queue=queue,
            silence=None if seconds is None else Duration(seconds=seconds),
        )
    )
    return NO_CONTENT


def operations(tasks: tasks_pb2_grpc.TaskServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on the tasks of a warehouse."""
    return (
        *on_tasks(
            WAREHOUSE,
            lister=partial(list_tasks, tasks=tasks),
            page=Body("ListTasksRequest", documents.ListTasksRequest, required=False),
            shown=Answer("A page.", "ListTasksResponse", documents.ListTasksResponse),
            viewer=partial(get_task, tasks=tasks),
            task=Answer("The task.", "GetTaskDetailsResponse", documents.GetTaskDetailsResponse),
            controller=partial(control_tasks, tasks=tasks),
        ),
        *(
            each
            for queue in _SERVED
            for each in on_queue(
                WAREHOUSE,
                queue,
                reader=partial(get_queue, queue=queue, tasks=tasks),
                setter=partial(set_queue, queue=queue, tasks=tasks),
            )
        ),
    )
