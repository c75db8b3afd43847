"""Methods on tasks, what is counted, and cascades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.scheduling import make_due
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import (
    cascades_pb2,
    project_tasks_pb2,
    statistics_pb2,
    tables_pb2,
    tasks_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from tests.support.catalog.expectations.case import (
    GENERIC_TABLE,
    GENERIC_TASK,
    NAMESPACE,
    PROJECT,
    TABLE,
    TABLE_TASK,
    VIEW,
    VIEW_TASK,
    WAREHOUSE,
    Case,
)
from tests.support.catalog.expectations.grounds import dropped_generic_table, dropped_table, with_generic_table
from tests.support.catalog.house import (
    House,
    tabular,
    tabular_ref,
)


async def _purged(house: House) -> None:
    """A table is gone, and its files wait to be."""
    await house.make_table("sales", "gone")
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "gone"))
    )


async def _cleanup_due(house: House) -> None:
    """The project's record of tasks is to be looked through."""
    await make_due(KINDS[Queue.TASK_LOG_CLEANUP], house.parts.schedules, house.clock)


def _tasks_about(house: House, kind: Kind, name: str) -> tasks_pb2.ListTasksRequest:
    about = tasks_pb2.TaskEntities(tabulars=[tabular_ref(kind, house.tabular(name).tabular_id)])
    return tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id, entities=about)


def _expiration(house: House, name: str) -> str:
    """The task that ends the retention of what was dropped."""
    tasks = house.catalog.rows.queued.items()
    return next(str(task_id) for task_id, task in tasks if task.path[-1] == name)


def _task(house: House, name: str) -> tasks_pb2.GetTaskRequest:
    return tasks_pb2.GetTaskRequest(warehouse_id=house.warehouse_id, task_id=_expiration(house, name))


def _cancel(house: House, name: str) -> tasks_pb2.ControlTasksRequest:
    return tasks_pb2.ControlTasksRequest(
        warehouse_id=house.warehouse_id,
        task_ids=[_expiration(house, name)],
        action=tasks_pb2.TASK_ACTION_CANCEL,
    )


TASK_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListTasks": (
        Case(
            lambda house: tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_GET_ALL_TASKS}),
        ),
        Case(
            lambda house: _tasks_about(house, Kind.TABLE, "orders"),
            TABLE,
            needs=frozenset({Action.TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
        ),
        Case(
            lambda house: _tasks_about(house, Kind.VIEW, "recent"),
            VIEW,
            needs=frozenset({Action.VIEW_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
        ),
        Case(
            lambda house: _tasks_about(house, Kind.GENERIC_TABLE, "vectors"),
            GENERIC_TABLE,
            needs=frozenset({Action.GENERIC_TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.GENERIC_TABLE}),
            prepare=with_generic_table,
        ),
    ),
    "GetTask": (
        Case(
            lambda house: tasks_pb2.GetTaskRequest(
                warehouse_id=house.warehouse_id, task_id=house.task_id(Queue.TABULAR_PURGE)
            ),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_GET_ALL_TASKS}),
            prepare=_purged,
        ),
        Case(
            lambda house: _task(house, "orders"),
            TABLE_TASK,
            needs=frozenset({Action.TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _task(house, "recent"),
            VIEW_TASK,
            needs=frozenset({Action.VIEW_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _task(house, "vectors"),
            GENERIC_TASK,
            needs=frozenset({Action.GENERIC_TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.GENERIC_TABLE}),
            prepare=dropped_generic_table,
        ),
    ),
    "ControlTasks": (
        Case(
            lambda house: tasks_pb2.ControlTasksRequest(
                warehouse_id=house.warehouse_id,
                task_ids=[house.task_id(Queue.TABULAR_PURGE)],
                action=tasks_pb2.TASK_ACTION_CANCEL,
            ),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_CONTROL_ALL_TASKS}),
            prepare=_purged,
        ),
        Case(
            lambda house: _cancel(house, "orders"),
            TABLE_TASK,
            needs=frozenset({Action.TABLE_CONTROL_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _cancel(house, "recent"),
            VIEW_TASK,
            needs=frozenset({Action.VIEW_CONTROL_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _cancel(house, "vectors"),
            GENERIC_TASK,
            needs=frozenset({Action.GENERIC_TABLE_CONTROL_TASKS}),
            only_hidden=frozenset({ObjectKind.GENERIC_TABLE}),
            prepare=dropped_generic_table,
        ),
    ),
    "GetQueueConfig": (
        Case(
            lambda house: tasks_pb2.GetQueueConfigRequest(warehouse_id=house.warehouse_id, queue="tabular_purge"),
            WAREHOUSE,
        ),
    ),
    "SetQueueConfig": (
        Case(
            lambda house: tasks_pb2.SetQueueConfigRequest(warehouse_id=house.warehouse_id, queue="tabular_purge"),
            WAREHOUSE,
        ),
    ),
}

PROJECT_TASK_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListProjectTasks": (Case(lambda _: project_tasks_pb2.ListProjectTasksRequest(), PROJECT),),
    "GetProjectTask": (
        Case(
            lambda house: project_tasks_pb2.GetProjectTaskRequest(task_id=house.task_id(Queue.TASK_LOG_CLEANUP)),
            PROJECT,
            prepare=_cleanup_due,
        ),
    ),
    "ControlProjectTasks": (
        Case(
            lambda house: project_tasks_pb2.ControlProjectTasksRequest(
                task_ids=[house.task_id(Queue.TASK_LOG_CLEANUP)], action=tasks_pb2.TASK_ACTION_RUN
            ),
            PROJECT,
            prepare=_cleanup_due,
        ),
    ),
    "GetProjectQueueConfig": (
        Case(lambda _: project_tasks_pb2.GetProjectQueueConfigRequest(queue="task_log_cleanup"), PROJECT),
    ),
    "SetProjectQueueConfig": (
        Case(lambda _: project_tasks_pb2.SetProjectQueueConfigRequest(queue="task_log_cleanup"), PROJECT),
    ),
    "GetProjectSchedule": (
        Case(lambda _: project_tasks_pb2.GetProjectScheduleRequest(queue="task_log_cleanup"), PROJECT),
    ),
    "SetProjectSchedule": (
        Case(lambda _: project_tasks_pb2.SetProjectScheduleRequest(queue="task_log_cleanup"), PROJECT),
    ),
    "ScheduleProjectTask": (Case(lambda _: project_tasks_pb2.ScheduleProjectTaskRequest(queue="statistics"), PROJECT),),
}

STATISTICS_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "RecordCalls": (Case(lambda _: statistics_pb2.RecordCallsRequest(), {}),),
    "GetCallStatistics": (
        Case(
            lambda _: statistics_pb2.GetCallStatisticsRequest(),
            PROJECT,
            needs=frozenset({Action.PROJECT_GET_ENDPOINT_STATISTICS}),
        ),
        Case(
            lambda house: statistics_pb2.GetCallStatisticsRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_GET_ENDPOINT_STATISTICS}),
        ),
    ),
}

CASCADE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "DropTree": (
        Case(
            lambda house: cascades_pb2.DropTreeRequest(
                warehouse_id=house.warehouse_id, namespace_id=str(house.namespace("sales").namespace_id)
            ),
            NAMESPACE,
            needs=frozenset({Action.NAMESPACE_DELETE}),
        ),
        Case(
            lambda house: cascades_pb2.DropTreeRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_DELETE}),
        ),
    ),
}
