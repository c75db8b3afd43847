"""Queued work of projects, and queues that make their own tasks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.scheduling import make_due
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.model import NIL_PROJECT
from lakeward_catalog.domain.tasks import Level, Queue
from lakeward_protocol.catalog.v1 import project_tasks_pb2, tables_pb2, tasks_pb2, warehouses_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, context, refusal_of, tabular
from tests.support.catalog.memory_tasks import MemoryTasks

SILENCE = timedelta(minutes=5)
DAY = timedelta(days=1)
CLEANUP, STATISTICS = Queue.TASK_LOG_CLEANUP, Queue.STATISTICS


async def due(house: House, queue: Queue = CLEANUP) -> None:
    await make_due(KINDS[queue], house.parts.schedules, house.clock)


async def done(house: House, queue: Queue = CLEANUP) -> str:
    """Have a worker do the task of a queue that is due."""
    tasks = MemoryTasks(house.catalog)
    task = await tasks.claim(queue, now=house.clock.now(), silence=SILENCE, attempts=5)
    assert task is not None
    progress = Progress()
    message = await KINDS[queue].make(house.parts)(task, progress)
    await tasks.finish(task, now=house.clock.now(), message=message, progress=progress.done)
    return message


async def listed(house: House, **which: Any) -> list[tasks_pb2.Task]:
    found = await house.project_tasks.ListProjectTasks(project_tasks_pb2.ListProjectTasksRequest(**which))
    return list(found.tasks)


async def config(house: House, queue: str = "task_log_cleanup", **members: timedelta) -> None:
    message = project_tasks_pb2.ProjectQueueConfig()
    for name, value in members.items():
        getattr(message, name).FromTimedelta(value)
    await house.project_tasks.SetProjectQueueConfig(
        project_tasks_pb2.SetProjectQueueConfigRequest(queue=queue, config=message)
    )


async def schedule(house: House, cron: str, zone: str = "UTC", queue: str = "task_log_cleanup") -> None:
    await house.project_tasks.SetProjectSchedule(
        project_tasks_pb2.SetProjectScheduleRequest(queue=queue, cron=cron, time_zone=zone)
    )


async def next_at(house: House, queue: str = "task_log_cleanup") -> datetime:
    found = await house.project_tasks.GetProjectSchedule(project_tasks_pb2.GetProjectScheduleRequest(queue=queue))
    at: datetime = found.next_at.ToDatetime(UTC)
    return at


@pytest.mark.parametrize("queue", list(Queue))
def test_every_queue_has_a_kind_of_its_own(queue: Queue) -> None:
    assert KINDS[queue].queue is queue
    assert KINDS[queue].every is None or KINDS[queue].level is Level.PROJECT


async def test_a_new_project_has_its_tasks_made_and_sees_them_apart_from_its_warehouses() -> None:
    house = await a_house()
    await due(house)
    (task,) = await listed(house)
    assert (task.queue, task.project_id, task.warehouse_id) == ("task_log_cleanup", NIL_PROJECT, "")
    of_warehouse = await house.tasks.ListTasks(tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id))
    assert list(of_warehouse.tasks) == []
    request = tasks_pb2.GetTaskRequest(warehouse_id=house.warehouse_id, task_id=task.task_id)
    assert (await refusal_of(house.tasks.GetTask(request))).reason == Reason.REASON_NO_SUCH_TASK


async def test_another_project_does_not_see_them() -> None:
    house = await a_house()
    house.make_project("other")
    await due(house)
    tasks = {task.project_id: task.task_id for task in await listed(house)}
    request = project_tasks_pb2.GetProjectTaskRequest(context=context(project_id="other"), task_id=tasks[NIL_PROJECT])
    assert (await refusal_of(house.project_tasks.GetProjectTask(request))).reason == Reason.REASON_NO_SUCH_TASK


async def test_missed_times_make_one_task_and_one_that_waits_is_enough() -> None:
    house = await a_house()
    await due(house)
    house.clock.advance(10 * DAY)
    await due(house)
    await due(house)
    assert len(await listed(house)) == 1
    assert await next_at(house) == house.clock.now() + DAY
    await done(house)
    house.clock.advance(DAY)
    await due(house)
    assert [task.status for task in await listed(house)] == [
        tasks_pb2.TASK_STATUS_SCHEDULED,
        tasks_pb2.TASK_STATUS_SUCCESS,
    ]


async def test_a_cancelled_cleanup_does_not_end_the_cycle() -> None:
    house = await a_house()
    await due(house)
    task_id = house.task_id(CLEANUP)
    await house.project_tasks.ControlProjectTasks(
        project_tasks_pb2.ControlProjectTasksRequest(task_ids=[task_id], action=tasks_pb2.TASK_ACTION_CANCEL)
    )
    (task,) = await listed(house)
    assert task.status == tasks_pb2.TASK_STATUS_CANCELLED
    house.clock.advance(DAY)
    await due(house)
    assert len(await listed(house)) == 2


async def test_a_cleanup_forgets_what_ended_long_ago_and_nothing_that_may_go_on() -> None:
    house = await a_house()
    tasks = MemoryTasks(house.catalog)
    await house.make_table("sales", "later")
    for name in ("orders", "later"):
        await house.tables.DropTable(
            tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name))
        )
    house.clock.advance(timedelta(hours=1))
    ended, failed = [
        await tasks.claim(Queue.TABULAR_PURGE, now=house.clock.now(), silence=SILENCE, attempts=5) for _ in "12"
    ]
    assert ended is not None
    assert failed is not None
    await tasks.finish(ended, now=house.clock.now(), message="", progress=0)
    await tasks.fail(failed, now=house.clock.now(), message="", progress=0, retry_at=None)
    house.clock.advance(timedelta(days=90))
    await due(house)
    assert await done(house) == "Forgot 0 attempts"
    house.clock.advance(DAY)
    await due(house)
    assert await done(house) == "Forgot 1 attempts"
    left = await house.tasks.ListTasks(tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id))
    assert [task.task_id for task in left.tasks] == [str(failed.task_id)]


async def test_a_project_says_how_long_its_records_are_kept() -> None:
    house = await a_house()
    await due(house)
    await done(house)
    await config(house, retention_period=timedelta(hours=1), cleanup_period=2 * DAY)
    house.clock.advance(DAY)
    await due(house)
    await done(house)
    assert len(await listed(house)) == 1
    assert await next_at(house) == house.clock.now() + 2 * DAY


async def test_a_period_below_a_day_is_a_day_and_a_shorter_one_counts_from_now() -> None:
    house = await a_house()
    await config(house, cleanup_period=5 * DAY)
    await due(house)
    assert await next_at(house) == house.clock.now() + 5 * DAY
    await config(house, cleanup_period=timedelta(minutes=1))
    assert await next_at(house) == house.clock.now() + DAY


async def test_how_a_queue_is_set_is_told_once() -> None:
    house = await a_house()
    before = len(house.events())
    for _ in range(2):
        await config(house, retention_period=DAY)
    assert house.events()[before:] == ["updateProjectTaskQueueConfig"]
    assert house.event()["data"]["settings"]["retention-period-seconds"] == 86400


@pytest.mark.parametrize(
    ("queue", "members"),
    [
        ("task_log_cleanup", {"retention_period": timedelta(days=4000)}),
        ("task_log_cleanup", {"cleanup_period": timedelta(seconds=-1)}),
        ("statistics", {"retention_period": DAY}),
        ("statistics", {"silence": timedelta(seconds=1)}),
    ],
)
async def test_what_a_queue_cannot_be_set_to_is_refused_by_name(queue: str, members: dict[str, timedelta]) -> None:
    house = await a_house()
    assert (await refusal_of(config(house, queue, **members))).reason == Reason.REASON_INVALID_FIELD


@pytest.mark.parametrize("queue", ["tabular_purge", "soft_deletion", "nothing"])
async def test_a_project_has_no_queue_of_warehouses_and_a_warehouse_none_of_projects(queue: str) -> None:
    house = await a_house()
    assert (await refusal_of(config(house, queue))).reason == Reason.REASON_NO_SUCH_QUEUE
    request = tasks_pb2.GetQueueConfigRequest(warehouse_id=house.warehouse_id, queue="statistics")
    assert (await refusal_of(house.tasks.GetQueueConfig(request))).reason == Reason.REASON_NO_SUCH_QUEUE


async def test_a_cron_expression_counts_where_people_live() -> None:
    house = await a_house()
    await schedule(house, "30 2 * * *", "Europe/Berlin")
    assert await next_at(house) == datetime(2026, 8, 2, 0, 30, tzinfo=UTC)
    house.clock.at = datetime(2026, 8, 2, 0, 29, tzinfo=UTC)
    await due(house)
    assert await listed(house) == []
    house.clock.at = datetime(2026, 8, 2, 0, 30, tzinfo=UTC)
    await due(house)
    assert len(await listed(house)) == 1
    assert await next_at(house) == datetime(2026, 8, 3, 0, 30, tzinfo=UTC)


async def test_without_its_cron_expression_a_queue_makes_tasks_as_before() -> None:
    house = await a_house()
    await schedule(house, "30 2 * * *")
    await schedule(house, "")
    found = await house.project_tasks.GetProjectSchedule(
        project_tasks_pb2.GetProjectScheduleRequest(queue="task_log_cleanup")
    )
    assert (found.cron, found.period.ToTimedelta()) == ("", DAY)
    assert await next_at(house) == house.clock.now() + DAY


@pytest.mark.parametrize(
    ("cron", "zone"),
    [
        ("61 * * * *", "UTC"),
        ("* * * *", "UTC"),
        ("* * * * * *", "UTC"),
        ("nonsense", "UTC"),
        (" ", "UTC"),
        ("0 0 30 2 *", "UTC"),
    ]
    + [("0 0 * * *", zone) for zone in ("Mars/Olympus", "../etc/passwd", " ", "Europe")],
)
async def test_a_schedule_that_can_not_be_is_refused_by_name(cron: str, zone: str) -> None:
    house = await a_house()
    refusal = await refusal_of(schedule(house, cron, zone))
    assert refusal.reason == Reason.REASON_INVALID_FIELD
    assert refusal.metadata["field"] == ("time-zone" if zone != "UTC" else "cron")


async def test_a_task_is_queued_for_a_time_of_ones_own_once() -> None:
    house = await a_house()
    at = house.clock.now() + DAY
    request = project_tasks_pb2.ScheduleProjectTaskRequest(
        context=context(idempotency_key=str(uuid4())), queue="statistics"
    )
    request.scheduled_for.FromDatetime(at)
    first = await house.project_tasks.ScheduleProjectTask(request)
    assert (await house.project_tasks.ScheduleProjectTask(request)).task_id == first.task_id
    (task,) = await listed(house)
    assert (task.task_id, task.scheduled_for.ToDatetime(UTC)) == (first.task_id, at)
    again = project_tasks_pb2.ScheduleProjectTaskRequest(queue="statistics")
    refusal = await refusal_of(house.project_tasks.ScheduleProjectTask(again))
    assert (refusal.reason, refusal.metadata["task"]) == (Reason.REASON_TASK_ACTIVE, first.task_id)


async def test_a_task_more_than_a_year_ahead_is_refused() -> None:
    house = await a_house()
    request = project_tasks_pb2.ScheduleProjectTaskRequest(queue="statistics")
    request.scheduled_for.FromDatetime(house.clock.now() + timedelta(days=366))
    refusal = await refusal_of(house.project_tasks.ScheduleProjectTask(request))
    assert refusal.reason == Reason.REASON_SCHEDULED_TOO_FAR


async def counted(house: House, **page: Any) -> warehouses_pb2.GetWarehouseStatisticsResponse:
    found: warehouses_pb2.GetWarehouseStatisticsResponse = await house.warehouses.GetWarehouseStatistics(
        warehouses_pb2.GetWarehouseStatisticsRequest(warehouse_id=house.warehouse_id, page=context_pb2.Page(**page))
    )
    return found


async def test_statistics_are_what_is_there_now_and_behind_it_what_was_counted_in_hours_that_changed_something() -> (
    None
):
    house = await a_house()
    for made in ("a", None, "b"):
        if made is not None:
            await house.make_table("sales", made)
        await due(house, STATISTICS)
        await done(house, STATISTICS)
        house.clock.advance(timedelta(hours=1))
    await house.make_table("sales", "c")
    hours = [(hour.ended_at.ToDatetime(UTC).hour, hour.tables, hour.views) for hour in (await counted(house)).hours]
    assert hours == [(16, 4, 1), (15, 3, 1), (13, 2, 1)]


async def test_statistics_go_on_where_a_page_ended() -> None:
    house = await a_house()
    for name in "abc":
        await house.make_table("sales", name)
        await due(house, STATISTICS)
        await done(house, STATISTICS)
        house.clock.advance(timedelta(hours=1))
    seen: list[int] = []
    token = ""
    while True:
        page = await counted(house, size=1, token=token)
        assert len(page.hours) == 1
        seen.append(page.hours[0].tables)
        token = page.next_page_token
        if not token:
            break
    assert seen == [4, 4, 3, 2]
