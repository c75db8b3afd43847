"""What is counted, forgotten and scheduled in the background, and whose turn it is."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from lakeward_catalog.application.ports.tasks import EVERY_TASK
from lakeward_catalog.domain.model import ProjectId, State, Warehouse
from lakeward_catalog.domain.schedules import Cron, Timetable
from lakeward_catalog.domain.tasks import NewTask, Queue, QueueConfig
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON

SILENCE, HOUR, DAY = timedelta(minutes=5), timedelta(hours=1), timedelta(days=1)
CLEANUP, PURGE, EXPIRY = Queue.TASK_LOG_CLEANUP, Queue.TABULAR_PURGE, Queue.SOFT_DELETION


def daily(timetable: Timetable, *, now: datetime = NOON) -> datetime:
    return timetable.after(now, otherwise=DAY)


async def _make_due(stores: Stores, *, now: datetime = NOON, limit: int = 10_000) -> int:
    return await stores.upkeep.make_due(
        CLEANUP, now=now, after=lambda timetable: daily(timetable, now=now), limit=limit
    )


async def _tasks(stores: Stores, project_id: ProjectId) -> list[UUID]:
    found = await stores.task_records.list(project_id, EVERY_TASK, after=None, limit=100)
    return [each.task_id for each in found]


@pytest.fixture
async def warehouse(stores: Stores) -> Warehouse:
    return await stores.with_warehouse()


async def test_two_who_make_tasks_at_once_make_one(stores: Stores, warehouse: Warehouse) -> None:
    await asyncio.gather(*(_make_due(stores) for _ in range(4)))
    assert len(await _tasks(stores, warehouse.project_id)) == 1


async def test_times_that_were_missed_make_one_task_and_the_next_is_ahead(stores: Stores, warehouse: Warehouse) -> None:
    await _make_due(stores)
    await _make_due(stores, now=NOON + 10 * DAY)
    assert len(await _tasks(stores, warehouse.project_id)) == 1
    timetable = await stores.task_records.timetable(warehouse.project_id, CLEANUP)
    assert timetable.next_at == NOON + 11 * DAY


async def test_at_most_so_many_are_made_at_once(stores: Stores) -> None:
    await _make_due(stores)
    for _ in range(3):
        await stores.with_warehouse()
    assert [await _make_due(stores, limit=2) for _ in range(3)] == [2, 1, 0]


async def test_a_cron_expression_and_a_period_are_the_project_s_own(stores: Stores, warehouse: Warehouse) -> None:
    project_id, cron = warehouse.project_id, Cron("0 3 * * *", "UTC")
    async with stores.changes.change() as change:
        assert await change.tasks.schedule(project_id, CLEANUP, cron, next_at=NOON + HOUR)
    async with stores.changes.change() as change:
        assert not await change.tasks.schedule(project_id, CLEANUP, cron, next_at=NOON + 2 * HOUR)
        assert await change.tasks.configure(project_id, CLEANUP, QueueConfig(every=2 * DAY), next_at=NOON)
    found = await stores.task_records.timetable(project_id, CLEANUP)
    assert found == Timetable(cron, 2 * DAY, NOON + HOUR)
    await _make_due(stores)
    assert await _tasks(stores, project_id) == []
    await _make_due(stores, now=NOON + HOUR)
    assert len(await _tasks(stores, project_id)) == 1
    async with stores.changes.change() as change:
        assert await change.tasks.schedule(project_id, CLEANUP, None, next_at=NOON + 3 * HOUR)
        assert not await change.tasks.schedule(project_id, CLEANUP, None, next_at=NOON)
    found = await stores.task_records.timetable(project_id, CLEANUP)
    assert found == Timetable(None, 2 * DAY, NOON + 3 * HOUR)


async def test_a_shorter_period_brings_the_next_task_nearer_and_a_longer_one_does_not(
    stores: Stores, warehouse: Warehouse
) -> None:
    project_id = warehouse.project_id
    await _make_due(stores)
    for every, expected in ((HOUR, HOUR), (3 * DAY, HOUR)):
        async with stores.changes.change() as change:
            await change.tasks.configure(project_id, CLEANUP, QueueConfig(every=every), next_at=NOON + every)
        timetable = await stores.task_records.timetable(project_id, CLEANUP)
        assert timetable.next_at == NOON + expected


async def test_a_project_s_task_is_worked_on_and_leaves_its_record(stores: Stores, warehouse: Warehouse) -> None:
    project_id = warehouse.project_id
    await _make_due(stores)
    (task_id,) = await _tasks(stores, project_id)
    task = await stores.tasks.claim(CLEANUP, now=NOON, silence=SILENCE, attempts=5)
    while task is not None and task.task_id != task_id:  # those of earlier tests
        await stores.tasks.finish(task, now=NOON, message="", progress=0)
        task = await stores.tasks.claim(CLEANUP, now=NOON, silence=SILENCE, attempts=5)
    assert task is not None
    assert (task.owner, task.subject, task.location) == (project_id, None, "")
    await stores.tasks.keep(task, now=NOON, silence=SILENCE, progress=1, total=4)
    (running,) = await stores.task_records.find(project_id, [task_id])
    assert (running.done, running.total) == (1, 4)
    async with stores.changes.change() as change:
        assert await change.tasks.active(project_id, CLEANUP, None) == task_id
    assert await stores.tasks.finish(task, now=NOON, message="done", progress=4)
    (done,) = await stores.task_records.find(project_id, [task_id])
    assert (done.status, done.message, done.tabular, done.path) == ("success", "done", None, ())
    assert await stores.task_records.find(warehouse.warehouse_id, [task_id]) == []
    (attempt,) = await stores.task_records.attempts(project_id, task_id, limit=5)
    assert (attempt.done, attempt.total) == (4, 4)


async def _drain(stores: Stores, queue: Queue) -> None:
    far = NOON + 1000 * DAY
    while task := await stores.tasks.claim(queue, now=far, silence=SILENCE, attempts=1000):
        await stores.tasks.finish(task, now=NOON - 1000 * DAY, message="", progress=0)


async def test_the_record_of_what_ended_long_ago_is_forgotten_and_of_what_may_go_on_is_not(
    stores: Stores, warehouse: Warehouse
) -> None:
    await _drain(stores, PURGE)
    namespace = await stores.with_namespace(warehouse)
    ids: list[UUID] = []
    for _ in range(4):
        tabular = await stores.with_tabular(namespace)
        async with stores.changes.change() as change:
            await change.tabulars.delete(tabular)
            ids.append(await change.tasks.enqueue(NewTask.of(tabular, PURGE, created_at=NOON, scheduled_for=NOON)))
    ended, retried, failed, late = [await stores.tasks.claim(PURGE, now=NOON, silence=SILENCE, attempts=5) for _ in ids]
    assert ended is not None
    assert retried is not None
    assert failed is not None
    assert late is not None
    await stores.tasks.finish(ended, now=NOON, message="", progress=0)
    await stores.tasks.fail(retried, now=NOON, message="", progress=0, retry_at=NOON + DAY)
    await stores.tasks.fail(failed, now=NOON, message="", progress=0, retry_at=None)
    await stores.tasks.fail(late, now=NOON, message="", progress=0, retry_at=NOON)
    again = await stores.tasks.claim(PURGE, now=NOON, silence=SILENCE, attempts=5)
    assert again is not None
    await stores.tasks.finish(again, now=NOON + HOUR, message="", progress=0)
    other = await stores.with_warehouse()
    assert await stores.upkeep.forget_attempts(other.project_id, before=NOON + DAY, limit=10) == 0
    assert await stores.upkeep.forget_attempts(warehouse.project_id, before=NOON + HOUR, limit=10) == 1
    left = [[number for number, _ in await stores.attempts(each.task_id)] for each in (ended, retried, failed, late)]
    assert left == [[], [1], [1], [1, 2]]
    assert [await stores.upkeep.forget_attempts(warehouse.project_id, before=NOON + DAY, limit=1) for _ in "123"] == [
        1,
        1,
        0,
    ]


async def test_what_lives_is_counted_for_the_hour_and_recorded_where_it_changed(
    stores: Stores, warehouse: Warehouse
) -> None:
    namespace = await stores.with_namespace(warehouse)
    await stores.with_tabular(namespace, state=State.STAGED)
    await stores.with_tabular(namespace)

    async def count(at: datetime) -> None:
        assert await stores.upkeep.count_tabulars(warehouse.project_id, now=at) == 1

    async def hours(limit: int = 10) -> list[tuple[timedelta, int, int]]:
        found = await stores.upkeep.hours(warehouse.warehouse_id, before=NOON + DAY, limit=limit)
        return [(each.ended_at - NOON, each.tables, each.views) for each in found]

    await count(NOON + HOUR / 2)
    assert await hours() == [(HOUR, 1, 0)]
    await stores.with_tabular(namespace)
    await count(NOON + HOUR * 0.9)
    assert await hours() == [(HOUR, 2, 0)]
    await count(NOON + HOUR * 1.5)
    assert await hours() == [(HOUR, 2, 0)]
    await stores.with_tabular(namespace)
    await count(NOON + HOUR * 2)
    assert await hours() == [(3 * HOUR, 3, 0), (HOUR, 2, 0)]
    assert await hours(limit=1) == [(3 * HOUR, 3, 0)]
    assert await stores.upkeep.hours(warehouse.warehouse_id, before=NOON + HOUR, limit=10) == []


async def test_who_queues_much_does_not_keep_others_waiting(stores: Stores) -> None:
    await _drain(stores, EXPIRY)
    greedy, modest = await stores.with_namespace(), await stores.with_namespace()
    many = [await stores.with_tabular(greedy) for _ in range(20)]
    few = [await stores.with_tabular(modest) for _ in range(2)]
    async with stores.changes.change() as change:
        await change.tasks.enqueue_all([NewTask.of(each, EXPIRY, created_at=NOON, scheduled_for=NOON) for each in many])
        await change.tasks.enqueue_all(
            [NewTask.of(each, EXPIRY, created_at=NOON, scheduled_for=NOON + SILENCE / 300) for each in few]
        )
    claimed = []
    for _ in range(22):
        task = await stores.tasks.claim(EXPIRY, now=NOON + timedelta(seconds=3), silence=SILENCE, attempts=5)
        assert task is not None
        claimed.append(task.warehouse_id)
    assert await stores.tasks.claim(EXPIRY, now=NOON + timedelta(seconds=3), silence=SILENCE, attempts=5) is None
    assert claimed.index(modest.warehouse_id) < 5
    assert modest.warehouse_id not in claimed[8:]


async def test_queued_together_or_one_by_one_a_task_is_queued_once(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    task = NewTask.of(tabular, EXPIRY, created_at=NOON, scheduled_for=NOON)
    other = dataclasses.replace(task, subject=(await stores.with_tabular()).incarnation, plan={"force": True})
    async with stores.changes.change() as change:
        first = await change.tasks.enqueue(task)
        await change.tasks.enqueue_all([task, other])
        assert await change.tasks.enqueue(task) == first
    found = await stores.task_records.list(tabular.warehouse_id, EVERY_TASK, after=None, limit=10)
    assert {each.task_id == first for each in found} == {True, False}
    assert len(found) == 2
    assert [each.plan for each in found if each.task_id != first] == [{"force": True}]
