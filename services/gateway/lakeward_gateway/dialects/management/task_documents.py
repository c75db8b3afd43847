"""Bodies of the task operations, in the management API's spelling."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["RUNNING", "SCHEDULED", "STOPPING", "CANCELLED", "SUCCESS", "FAILED"]
Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class TableTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="table"):
    """Tasks about a table."""

    table_id: str


class ViewTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="view"):
    """Tasks about a view."""

    view_id: str


class WarehouseTasks(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="warehouse"):
    """Tasks that are about nothing in the warehouse, but about the warehouse itself."""


class ListTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Which tasks; what is left out narrows nothing, an empty list leaves none."""

    status: list[Status] | None = None
    queue_name: list[str] | None = None
    entities: list[TableTasks | ViewTasks | WarehouseTasks] | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    page_token: str | None = None
    page_size: int | None = None


class TaskEntityId(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What a task is about."""

    type: Literal["table", "view"]
    table_id: str = ""
    view_id: str = ""


class TaskInfo(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """A task as it is now. `progress` is 1 where it is done: nobody knows before how much there is to do."""

    task_id: str
    project_id: str
    warehouse_id: str
    queue_name: str
    status: Status
    entity: TaskEntityId | None
    entity_name: list[str] | None
    parent_task_id: str | None
    scheduled_for: str
    picked_up_at: str | None
    last_heartbeat_at: str | None
    attempt: int
    progress: float
    created_at: str
    updated_at: str | None = None


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


class Stop(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="stop"):
    """Have a running attempt stop; another follows."""


class Cancel(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="cancel"):
    """End it for good."""


class RunNow(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="run-now"):
    """Begin an attempt now."""


class RunAt(msgspec.Struct, frozen=True, rename="kebab", tag_field="action-type", tag="run-at"):
    """Begin an attempt then."""

    scheduled_for: Moment


class ControlTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What to do with which tasks, all or nothing."""

    action: Stop | Cancel | RunNow | RunAt
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
