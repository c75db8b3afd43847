"""Queued work of a project: listing it, one task, controlling tasks, how queues are set, and when they make their tasks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import msgspec
from google.protobuf.duration_pb2 import Duration

from lakeward_gateway.dialects.management import task_documents as documents
from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.errors import SCHEDULED
from lakeward_gateway.dialects.management.task_operations import (
    ATTEMPTS,
    PROJECT,
    QUEUE_SHOWN,
    QUEUE_WANTED,
    TAG,
    on_queue,
    on_tasks,
)
from lakeward_gateway.dialects.management.tasks import act, attempt_shown, details, members, narrow, timestamp
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import project_tasks_pb2 as pb
from lakeward_protocol.catalog.v1 import project_tasks_pb2_grpc

_CLEANUP: Final = "task_log_cleanup"
_SCHEDULED: Final = (_CLEANUP, "statistics", "generic_statistics")
_SERVED: Final = (*_SCHEDULED, "warehouse_drop")
_CLEANUP_SHOWN: Final = Answer("How it is set.", "GetTaskLogCleanupConfig", documents.GetTaskLogCleanupConfig)
_CLEANUP_WANTED: Final = Body("SetTaskLogCleanupConfig", documents.SetTaskLogCleanupConfig)
_list_decoder: Final = msgspec.json.Decoder(documents.ListProjectTasksRequest)
_control_decoder: Final = msgspec.json.Decoder(documents.ControlTasksRequest)
_cleanup_decoder: Final = msgspec.json.Decoder(documents.SetTaskLogCleanupConfig)
_queue_decoder: Final = msgspec.json.Decoder(documents.SetQueueConfigRequest)
_run_decoder: Final = msgspec.json.Decoder(documents.ScheduleTaskRequest)
_schedule_decoder: Final = msgspec.json.Decoder(documents.SetQueueSchedule)


async def list_tasks(request: Request, *, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub) -> Response:
    """A page of tasks."""
    document = await parsed(_list_decoder, request.body or b"{}")
    message = pb.ListProjectTasksRequest(context=request.context)
    narrow(message, document)
    response = await tasks.ListProjectTasks(message)
    shown = [documents.ProjectTaskInfo(**members(task)) for task in response.tasks]
    return json_response(documents.ListProjectTasksResponse(shown, response.next_page_token or None))


async def get_task(request: Request, *, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub) -> Response:
    """One task."""
    wanted = ATTEMPTS.read(request.query)
    found = await tasks.GetProjectTask(
        pb.GetProjectTaskRequest(context=request.context, task_id=request.arguments[0], attempts=wanted)
    )
    return json_response(
        documents.GetProjectTaskDetailsResponse(
            **members(found.task),
            task_data=msgspec.json.decode(found.plan) if found.plan else {},
            message=found.message or None,
            execution_details=details(found.task.done),
            attempts=[attempt_shown(each) for each in found.attempts],
        )
    )


async def control_tasks(request: Request, *, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub) -> Response:
    """Stop, cancel or run tasks."""
    document = await parsed(_control_decoder, request.body)
    message = pb.ControlProjectTasksRequest(context=request.context, task_ids=document.task_ids)
    act(message, document.action)
    await tasks.ControlProjectTasks(message)
    return NO_CONTENT


async def get_queue(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """How a queue is set."""
    found = await tasks.GetProjectQueueConfig(pb.GetProjectQueueConfigRequest(context=request.context, queue=queue))
    config = found.config
    seconds = config.silence.seconds if config.HasField("silence") else None
    if queue != _CLEANUP:
        return json_response(documents.GetQueueConfigResponse(documents.QueueConfig(), seconds))
    periods = documents.TaskLogCleanupConfig(
        config.cleanup_period.ToTimedelta() if config.HasField("cleanup_period") else None,
        config.retention_period.ToTimedelta() if config.HasField("retention_period") else None,
    )
    return json_response(documents.GetTaskLogCleanupConfig(periods, seconds))


async def set_queue(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """Set a queue."""
    config = pb.ProjectQueueConfig()
    if queue == _CLEANUP:
        document = await parsed(_cleanup_decoder, request.body)
        seconds, periods = document.max_seconds_since_last_heartbeat, document.queue_config
        if periods.cleanup_period is not None:
            config.cleanup_period.CopyFrom(_duration(periods.cleanup_period))
        if periods.retention_period is not None:
            config.retention_period.CopyFrom(_duration(periods.retention_period))
    else:
        seconds = (await parsed(_queue_decoder, request.body)).max_seconds_since_last_heartbeat
    if seconds is not None:
        config.silence.CopyFrom(Duration(seconds=seconds))
    await tasks.SetProjectQueueConfig(
        pb.SetProjectQueueConfigRequest(context=request.context, queue=queue, config=config)
    )
    return NO_CONTENT


def _duration(span: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(span)
    return message


async def get_schedule(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """When a queue makes its tasks."""
    found = await tasks.GetProjectSchedule(pb.GetProjectScheduleRequest(context=request.context, queue=queue))
    return json_response(
        documents.QueueSchedule(
            cron=found.cron or None,
            time_zone=found.time_zone or None,
            period=found.period.ToTimedelta() if found.HasField("period") else None,
            next_run_at=time_text(found.next_at) if found.HasField("next_at") else None,
        )
    )


async def set_schedule(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """Say when a queue makes its tasks."""
    document = await parsed(_schedule_decoder, request.body)
    # an empty text would mean what `DELETE` means
    message = pb.SetProjectScheduleRequest(
        context=request.context, queue=queue, cron=document.cron or " ", time_zone=document.time_zone or " "
    )
    await tasks.SetProjectSchedule(message)
    return NO_CONTENT


async def drop_schedule(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """Have a queue make its tasks as it does by itself."""
    await tasks.SetProjectSchedule(pb.SetProjectScheduleRequest(context=request.context, queue=queue))
    return NO_CONTENT


async def schedule_task(
    request: Request, *, queue: str, tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub
) -> Response:
    """Queue a task."""
    document = await parsed(_run_decoder, request.body or b"{}")
    at = None if document.scheduled_for is None else timestamp(document.scheduled_for)
    made = await tasks.ScheduleProjectTask(
        pb.ScheduleProjectTaskRequest(context=request.context, queue=queue, scheduled_for=at)
    )
    return json_response(documents.ScheduleTaskResponse(made.task_id), status=201)


def operations(tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on the tasks of a project."""
    return (
        *on_tasks(
            PROJECT,
            lister=partial(list_tasks, tasks=tasks),
            page=Body("ListProjectTasksRequest", documents.ListProjectTasksRequest, required=False),
            shown=Answer("A page.", "ListProjectTasksResponse", documents.ListProjectTasksResponse),
            viewer=partial(get_task, tasks=tasks),
            task=Answer("The task.", "GetProjectTaskDetailsResponse", documents.GetProjectTaskDetailsResponse),
            controller=partial(control_tasks, tasks=tasks),
        ),
        *(each for queue in _SERVED for each in _on_queue(tasks, queue)),
        *(each for queue in _SCHEDULED for each in _on_schedule(tasks, queue)),
    )


def _on_queue(tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub, queue: str) -> Sequence[Operation]:
    cleanup = queue == _CLEANUP
    return on_queue(
        PROJECT,
        queue,
        reader=partial(get_queue, queue=queue, tasks=tasks),
        shown=_CLEANUP_SHOWN if cleanup else QUEUE_SHOWN,
        setter=partial(set_queue, queue=queue, tasks=tasks),
        wanted=_CLEANUP_WANTED if cleanup else QUEUE_WANTED,
    )


def _on_schedule(tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub, queue: str) -> Sequence[Operation]:
    path = f"{PROJECT.queue_path(queue)}/schedule"
    return (
        Operation(
            id=f"get_project_task_queue_schedule_{queue}",
            method="GET",
            path=path,
            summary=f"When a project's queue {queue} makes its tasks.",
            handler=partial(get_schedule, queue=queue, tasks=tasks),
            answers={200: Answer("When it does.", "QueueSchedule", documents.QueueSchedule)},
            renderings=SCHEDULED,
            tag=TAG,
        ),
        Operation(
            id=f"set_project_task_queue_schedule_{queue}",
            method="PUT",
            path=path,
            summary=f"Say by a cron expression when a project's queue {queue} makes its tasks.",
            handler=partial(set_schedule, queue=queue, tasks=tasks),
            body=Body("SetQueueSchedule", documents.SetQueueSchedule),
            answers={204: Answer("It is set.")},
            renderings=SCHEDULED,
            tag=TAG,
        ),
        Operation(
            id=f"drop_project_task_queue_schedule_{queue}",
            method="DELETE",
            path=path,
            summary=f"Have a project's queue {queue} make its tasks as it does by itself.",
            handler=partial(drop_schedule, queue=queue, tasks=tasks),
            answers={204: Answer("It does, or did so already.")},
            renderings=SCHEDULED,
            tag=TAG,
        ),
        Operation(
            id=f"schedule_project_task_{queue}",
            method="POST",
            path=path,
            summary=f"Queue a task of a project's queue {queue}, now or for a time within a year.",
            handler=partial(schedule_task, queue=queue, tasks=tasks),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("ScheduleTaskRequest", documents.ScheduleTaskRequest, required=False),
            answers={201: Answer("What was queued.", "ScheduleTaskResponse", documents.ScheduleTaskResponse)},
            renderings=SCHEDULED,
            tag=TAG,
        ),
    )
