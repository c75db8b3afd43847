"""Bodies of the task operations, in the management API's spelling."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from lakeward_gateway.dialects.management.documents import TabularType

Status: TypeAlias = Literal["RUNNING", "SCHEDULED", "STOPPING", "CANCELLED", "SUCCESS", "FAILED"]
Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class TableTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="table"):
    """Tasks about a table."""

    table_id: str


class ViewTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="view"):
    """Tasks about a view."""

    view_id: str


class GenericTableTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="generic-table"):
    """Tasks about a generic table."""

    generic_table_id: str


class WarehouseTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="warehouse"):
    """Tasks that are about nothing in the warehouse, but about the warehouse itself."""


class ListTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Which tasks; what is left out narrows nothing, an empty list leaves none."""

    status: list[Status] | None = None
    queue_name: list[str] | None = None
    entities: list[TableTasks | ViewTasks | GenericTableTasks | WarehouseTasks] | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    page_token: str | None = None
    page_size: int | None = None


class TaskEntityId(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What a task is about."""

    type: TabularType
    table_id: str = ""
    view_id: str = ""
    generic_table_id: str = ""


class ProjectTaskInfo(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """A task as it is now. `progress` is 1 where it is done, and before that 0 where nobody knows how much there is to do."""

    task_id: str
    project_id: str
    queue_name: str
    status: Status
    parent_task_id: str | None
    scheduled_for: str
    picked_up_at: str | None
    last_heartbeat_at: str | None
    attempt: int
    progress: float
    created_at: str
    updated_at: str | None = None


class TaskInfo(ProjectTaskInfo, frozen=True, rename="kebab", kw_only=True):
    """A task of a warehouse, about one of its tables and views or about none."""

    warehouse_id: str
    entity: TaskEntityId | None
    entity_name: list[str] | None


class ListTasksResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A page of tasks, newest first."""

    tasks: list[TaskInfo]
    next_page_token: str | None


class TaskAttempt(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """An ended attempt; its duration is ISO 8601."""

    attempt: int
    status: Status
    scheduled_for: str
    started_at: str | None
    duration: str | None
    message: str | None
    progress: float
    execution_details: dict[str, Any] | None
    created_at: str


class GetTaskDetailsResponse(TaskInfo, frozen=True, rename="kebab", kw_only=True):
    """A task, what it is to do, and its newest ended attempts."""

    task_data: dict[str, Any]
    message: str | None
    execution_details: dict[str, Any] | None
    attempts: list[TaskAttempt]


class ListProjectTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Which tasks; what is left out narrows nothing, an empty list leaves none."""

    status: list[Status] | None = None
    queue_name: list[str] | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    page_token: str | None = None
    page_size: int | None = None


class ListProjectTasksResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A page of tasks, newest first."""

    tasks: list[ProjectTaskInfo]
    next_page_token: str | None


class GetProjectTaskDetailsResponse(ProjectTaskInfo, frozen=True, rename="kebab", kw_only=True):
    """A task, what it is to do, and its newest ended attempts."""

    task_data: dict[str, Any]
    message: str | None
    execution_details: dict[str, Any] | None
    attempts: list[TaskAttempt]


class Stop(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="stop"):
    """Have a running attempt stop; another follows."""


class Cancel(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="cancel"):
    """End it for good."""


class RunNow(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="run-now"):
    """Begin an attempt now."""


class RunAt(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="run-at"):
    """Begin an attempt then."""

    scheduled_for: Moment


Action: TypeAlias = Stop | Cancel | RunNow | RunAt


class ControlTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What to do with which tasks, all or nothing."""

    action: Action
    task_ids: list[str]


class QueueConfig(msgspec.Struct, frozen=True):
    """What the queue has of its own: nothing."""


class SetQueueConfigRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """How a queue is to be set; null, or nothing, for a limit: as the server has it."""

    queue_config: QueueConfig
    max_seconds_since_last_heartbeat: Annotated[int, msgspec.Meta(ge=0, le=2**31)] | None = None


class GetQueueConfigResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """How a queue is set."""

    queue_config: QueueConfig
    max_seconds_since_last_heartbeat: int | None


Period: TypeAlias = Annotated[timedelta, msgspec.Meta(description="ISO 8601, without years and months: P1D, PT12H.")]


class TaskLogCleanupConfig(msgspec.Struct, frozen=True, rename="kebab"):
    """How often the record of ended tasks is looked through, and for how long it is kept."""

    cleanup_period: Period | None = None
    retention_period: Period | None = None


class SetTaskLogCleanupConfig(msgspec.Struct, frozen=True, rename="kebab"):
    """How the queue is to be set; null, or nothing: as the server has it."""

    queue_config: TaskLogCleanupConfig
    max_seconds_since_last_heartbeat: Annotated[int, msgspec.Meta(ge=0, le=2**31)] | None = None


class GetTaskLogCleanupConfig(msgspec.Struct, frozen=True, rename="kebab"):
    """How the queue is set."""

    queue_config: TaskLogCleanupConfig
    max_seconds_since_last_heartbeat: int | None


class ScheduleTaskRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """When a task is to run; null, or nothing: now."""

    scheduled_for: Moment | None = None


class ScheduleTaskResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """What was queued."""

    task_id: str


class QueueSchedule(msgspec.Struct, frozen=True, rename="kebab"):
    """When a queue makes its tasks: by a cron expression in a time zone, or else every so often.

    A time that nobody served is made up for once. What a change of the clocks leaves out runs when they have changed.
    """

    cron: str | None
    time_zone: str | None
    period: Period | None
    next_run_at: str | None


class SetQueueSchedule(msgspec.Struct, frozen=True, rename="kebab"):
    """When a queue is to make its tasks: minute, hour, day of month, month, day of week, in a time zone of IANA."""

    cron: str
    time_zone: str = "UTC"
