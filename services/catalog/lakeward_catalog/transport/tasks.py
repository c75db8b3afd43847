"""TaskService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.tasks import TaskFilter
from lakeward_catalog.application.tasks.controlling import TaskControls
from lakeward_catalog.application.tasks.reading import ATTEMPTS, ListTasks, SeeTask, TaskListings, TaskViews
from lakeward_catalog.application.tasks.setting import QueueSettings, SetQueue
from lakeward_catalog.domain.tasks import Level, QueueConfig
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.task_messages import (
    SILENCES,
    attempt_message,
    control_of,
    filter_of,
    plan_of,
    queue_of,
    span,
    task_id_of,
    task_message,
)
from lakeward_protocol.catalog.v1 import tasks_pb2, tasks_pb2_grpc
from lakeward_servicekit.rpc.pages import page_of


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
        project_id = (await self.list.doors.found_warehouse(warehouse_id, caller=caller)).project_id
        return tasks_pb2.ListTasksResponse(
            tasks=[
                task_message(each, project_id=project_id, warehouse_id=request.warehouse_id) for each in page.entries
            ],
            next_page_token=page.next_token,
        )

    async def GetTask(self, request: tasks_pb2.GetTaskRequest, caller: Caller) -> tasks_pb2.GetTaskResponse:
        """See the contract."""
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        wanted = request.attempts if request.HasField("attempts") else ATTEMPTS
        command = SeeTask(warehouse_id, task_id_of(request.task_id), wanted)
        record, attempts = await self.view(command, caller=caller)
        project_id = (await self.view.doors.found_warehouse(warehouse_id, caller=caller)).project_id
        return tasks_pb2.GetTaskResponse(
            task=task_message(record, project_id=project_id, warehouse_id=request.warehouse_id),
            message=record.message,
            location=record.location,
            purge=record.purge,
            plan=plan_of(record),
            attempts=[attempt_message(each) for each in attempts],
        )

    async def ControlTasks(
        self, request: tasks_pb2.ControlTasksRequest, caller: Caller
    ) -> tasks_pb2.ControlTasksResponse:
        """See the contract."""
        await self.control(control_of(request, decode.warehouse_id(request.warehouse_id)), caller=caller)
        return tasks_pb2.ControlTasksResponse()

    async def GetQueueConfig(
        self, request: tasks_pb2.GetQueueConfigRequest, caller: Caller
    ) -> tasks_pb2.GetQueueConfigResponse:
        """See the contract."""
        warehouse_id, queue = decode.warehouse_id(request.warehouse_id), queue_of(request.queue, Level.WAREHOUSE)
        config = await self.queues.read(warehouse_id, queue, caller=caller)
        response = tasks_pb2.GetQueueConfigResponse()
        if config.silence is not None:
            response.silence.FromTimedelta(config.silence)
        return response

    async def SetQueueConfig(
        self, request: tasks_pb2.SetQueueConfigRequest, caller: Caller
    ) -> tasks_pb2.SetQueueConfigResponse:
        """See the contract."""
        silence = span(request.silence, "silence", SILENCES) if request.HasField("silence") else None
        queue = queue_of(request.queue, Level.WAREHOUSE)
        command = SetQueue(decode.warehouse_id(request.warehouse_id), queue, QueueConfig(silence=silence))
        await self.queues(command, caller=caller)
        return tasks_pb2.SetQueueConfigResponse()


def _filter(request: tasks_pb2.ListTasksRequest) -> TaskFilter:
    if not request.HasField("entities"):
        return filter_of(request)
    entities = request.entities
    return dataclasses.replace(
        filter_of(request),
        tabulars=tuple(dict.fromkeys(decode.tabular_key(each) for each in entities.tabulars)),
        about_nothing=entities.warehouse,
    )
