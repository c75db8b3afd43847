"""ProjectTaskService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.tasks.controlling import TaskControls
from lakeward_catalog.application.tasks.reading import ATTEMPTS, ListTasks, SeeTask, TaskListings, TaskViews
from lakeward_catalog.application.tasks.setting import (
    QueueSchedules,
    QueueSettings,
    ScheduleTask,
    SetQueue,
    SetSchedule,
    TaskSchedulings,
)
from lakeward_catalog.domain.tasks import Level, QueueConfig
from lakeward_catalog.transport.task_messages import (
    PERIODS,
    SILENCES,
    attempt_message,
    control_of,
    filter_of,
    moment,
    plan_of,
    queue_of,
    span,
    task_id_of,
    task_message,
)
from lakeward_protocol.catalog.v1 import project_tasks_pb2 as pb
from lakeward_protocol.catalog.v1 import project_tasks_pb2_grpc
from lakeward_servicekit.rpc.pages import page_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTaskServicer(project_tasks_pb2_grpc.ProjectTaskServiceServicer):
    """Queued work of the project that the call names, else of the default project."""

    doors: Doors
    list: TaskListings
    view: TaskViews
    control: TaskControls
    queues: QueueSettings
    schedules: QueueSchedules
    schedule: TaskSchedulings

    async def ListProjectTasks(
        self, request: pb.ListProjectTasksRequest, caller: Caller
    ) -> pb.ListProjectTasksResponse:
        """See the contract."""
        project_id = self.doors.chosen_project(caller)
        page = await self.list(ListTasks(project_id, filter_of(request), page_of(request)), caller=caller)
        return pb.ListProjectTasksResponse(
            tasks=[task_message(each, project_id=project_id) for each in page.entries],
            next_page_token=page.next_token,
        )

    async def GetProjectTask(self, request: pb.GetProjectTaskRequest, caller: Caller) -> pb.GetProjectTaskResponse:
        """See the contract."""
        project_id = self.doors.chosen_project(caller)
        wanted = request.attempts if request.HasField("attempts") else ATTEMPTS
        record, attempts = await self.view(SeeTask(project_id, task_id_of(request.task_id), wanted), caller=caller)
        return pb.GetProjectTaskResponse(
            task=task_message(record, project_id=project_id),
            message=record.message,
            attempts=[attempt_message(each) for each in attempts],
            plan=plan_of(record),
        )

    async def ControlProjectTasks(
        self, request: pb.ControlProjectTasksRequest, caller: Caller
    ) -> pb.ControlProjectTasksResponse:
        """See the contract."""
        await self.control(control_of(request, self.doors.chosen_project(caller)), caller=caller)
        return pb.ControlProjectTasksResponse()

    async def GetProjectQueueConfig(
        self, request: pb.GetProjectQueueConfigRequest, caller: Caller
    ) -> pb.GetProjectQueueConfigResponse:
        """See the contract."""
        project_id, queue = self.doors.chosen_project(caller), queue_of(request.queue, Level.PROJECT)
        found = await self.queues.read(project_id, queue, caller=caller)
        config = pb.ProjectQueueConfig()
        if found.silence is not None:
            config.silence.FromTimedelta(found.silence)
        if found.every is not None:
            config.cleanup_period.FromTimedelta(found.every)
        if found.kept_for is not None:
            config.retention_period.FromTimedelta(found.kept_for)
        return pb.GetProjectQueueConfigResponse(config=config)

    async def SetProjectQueueConfig(
        self, request: pb.SetProjectQueueConfigRequest, caller: Caller
    ) -> pb.SetProjectQueueConfigResponse:
        """See the contract."""
        given, queue = request.config, queue_of(request.queue, Level.PROJECT)
        config = QueueConfig(
            silence=span(given.silence, "silence", SILENCES) if given.HasField("silence") else None,
            every=span(given.cleanup_period, "cleanup-period", PERIODS) if given.HasField("cleanup_period") else None,
            kept_for=span(given.retention_period, "retention-period", PERIODS)
            if given.HasField("retention_period")
            else None,
        )
        await self.queues(SetQueue(self.doors.chosen_project(caller), queue, config), caller=caller)
        return pb.SetProjectQueueConfigResponse()

    async def GetProjectSchedule(
        self, request: pb.GetProjectScheduleRequest, caller: Caller
    ) -> pb.GetProjectScheduleResponse:
        """See the contract."""
        project_id, queue = self.doors.chosen_project(caller), queue_of(request.queue, Level.PROJECT)
        found = await self.schedules.read(project_id, queue, caller=caller)
        response = pb.GetProjectScheduleResponse()
        if found.cron is not None:
            response.cron, response.time_zone = found.cron.expression, found.cron.zone
        elif found.every is not None:
            response.period.FromTimedelta(found.every)
        if found.next_at is not None:
            response.next_at.FromDatetime(found.next_at)
        return response

    async def SetProjectSchedule(
        self, request: pb.SetProjectScheduleRequest, caller: Caller
    ) -> pb.SetProjectScheduleResponse:
        """See the contract."""
        project_id, queue = self.doors.chosen_project(caller), queue_of(request.queue, Level.PROJECT)
        command = SetSchedule(project_id, queue, request.cron or None, request.time_zone or "UTC")
        await self.schedules(command, caller=caller)
        return pb.SetProjectScheduleResponse()

    async def ScheduleProjectTask(
        self, request: pb.ScheduleProjectTaskRequest, caller: Caller
    ) -> pb.ScheduleProjectTaskResponse:
        """See the contract."""
        project_id, queue = self.doors.chosen_project(caller), queue_of(request.queue, Level.PROJECT)
        at = moment(request.scheduled_for, "scheduled_for") if request.HasField("scheduled_for") else None
        task_id = await self.schedule(ScheduleTask(project_id, queue, at), caller=caller)
        return pb.ScheduleProjectTaskResponse(task_id=str(task_id))
