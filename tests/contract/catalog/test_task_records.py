from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import TaskFilter, TaskRecord, TaskStatus
from lakeward_catalog.application.workers import Again
from lakeward_catalog.domain.model import Kind, Tabular, TabularKey
from lakeward_catalog.domain.tasks import Asked, NewTask, Queue, QueueConfig, Task
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON

SILENCE = timedelta(minutes=5)
HOUR = timedelta(hours=1)


async def _queued(stores: Stores, tabular: Tabular, queue: Queue = Queue.TABULAR_PURGE, *, at: datetime = NOON) -> UUID:
    async with stores.changes.change() as change:
        if queue is Queue.TABULAR_PURGE:
            await change.tabulars.delete(tabular)
        return await change.tasks.enqueue(NewTask.of(tabular, queue, created_at=at, scheduled_for=at + HOUR))


async def _claim(stores: Stores, task_id: UUID, queue: Queue = Queue.TABULAR_PURGE, *, attempts: int = 5) -> Task:
    """Begin this task, two hours on; those of earlier tests are done."""
    while True:
        task = await stores.tasks.claim(queue, now=NOON + 2 * HOUR, silence=SILENCE, attempts=attempts)
        assert task is not None
        if task.task_id == task_id:
            return task
        await stores.tasks.finish(task, now=NOON, message="", progress=0)


async def _drain(stores: Stores, queue: Queue = Queue.TABULAR_PURGE) -> None:
    """Every task of earlier tests is done."""
    far = NOON + timedelta(days=365)
    while task := await stores.tasks.claim(queue, now=far, silence=SILENCE, attempts=5):
        await stores.tasks.finish(task, now=NOON, message="", progress=0)


async def _found(stores: Stores, tabular: Tabular, task_id: UUID) -> TaskRecord:
    (record,) = await stores.task_records.find(tabular.warehouse_id, [task_id])
    return record


async def _listed(
    stores: Stores, tabular: Tabular, which: TaskFilter | None = None, *, after: After | None = None, limit: int = 100
) -> list[UUID]:
    found = await stores.task_records.list(tabular.warehouse_id, which or TaskFilter(), after=after, limit=limit)
    return [each.task_id for each in found]


async def test_a_task_that_waits_is_found_as_it_was_queued(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    task_id = await _queued(stores, tabular)
    assert await _found(stores, tabular, task_id) == TaskRecord(
        task_id=task_id,
        queue="tabular_purge",
        status=TaskStatus.SCHEDULED,
        incarnation=tabular.incarnation,
        tabular=TabularKey(Kind.TABLE, tabular.tabular_id),
        path=(*tabular.ident.namespace.parts, tabular.ident.name),
        parent_id=None,
        created_at=NOON,
        scheduled_for=NOON + HOUR,
        picked_up_at=None,
        heard_at=None,
        attempt=0,
        done=0,
        message="",
        location=tabular.location,
        purge=True,
    )


async def test_a_task_is_one_record_through_all_its_life(stores: Stores) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id)
    await stores.tasks.keep(task, now=later + SILENCE / 2, silence=SILENCE, progress=7)
    running = await _found(stores, tabular, task_id)
    assert (running.status, running.attempt, running.done) == (TaskStatus.RUNNING, 1, 7)
    assert (running.scheduled_for, running.picked_up_at, running.heard_at) == (
        NOON + HOUR,
        later,
        later + SILENCE / 2,
    )
    await stores.tasks.fail(task, now=later, message="away", progress=8, retry_at=later)
    waiting = await _found(stores, tabular, task_id)
    assert (waiting.status, waiting.scheduled_for, waiting.message) == (TaskStatus.SCHEDULED, later, "away")
    assert (waiting.heard_at, await _listed(stores, tabular)) == (None, [task_id])
    again = await _claim(stores, task_id)
    await stores.tasks.finish(again, now=later, message="done", progress=9)
    done = await _found(stores, tabular, task_id)
    assert (done.status, done.attempt, done.done, done.message) == (TaskStatus.SUCCESS, 2, 9, "done")
    assert (done.tabular, done.path, done.location, done.created_at) == (
        waiting.tabular,
        waiting.path,
        waiting.location,
        NOON,
    )
    assert await _listed(stores, tabular) == [task_id]
    attempts = await stores.task_records.attempts(tabular.warehouse_id, task_id, limit=10)
    assert [(each.attempt, each.status, each.message, each.done) for each in attempts] == [
        (2, TaskStatus.SUCCESS, "done", 9),
        (1, TaskStatus.FAILED, "away", 8),
    ]
    assert [each.scheduled_for for each in attempts] == [later, NOON + HOUR]
    assert [each.attempt for each in await stores.task_records.attempts(tabular.warehouse_id, task_id, limit=1)] == [2]


async def test_what_failed_for_good_is_found_and_begins_again_with_all_its_attempts(stores: Stores) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id, attempts=1)
    await stores.tasks.fail(task, now=later, message="no", progress=0, retry_at=None)
    failed = await _found(stores, tabular, task_id)
    assert (failed.status, failed.message, failed.attempt) == (TaskStatus.FAILED, "no", 1)
    assert await _listed(stores, tabular) == [task_id]
    async with stores.changes.change() as change:
        (queued,) = await change.tasks.lock(tabular.warehouse_id, [task_id])
        assert (queued.active, queued.running) == (False, False)
        await change.tasks.run(tabular.warehouse_id, [task_id], at=later, now=later)
    again = await _claim(stores, task_id, attempts=1)
    assert (again.attempt, again.spent) == (2, 1)
    await stores.tasks.finish(again, now=later, message="", progress=0)


async def test_what_is_queued_again_already_is_not_run_beside_it(stores: Stores) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular, Queue.SOFT_DELETION)
    task = await _claim(stores, task_id, Queue.SOFT_DELETION)
    await stores.tasks.fail(task, now=later, message="no", progress=0, retry_at=None)
    other = await _queued(stores, tabular, Queue.SOFT_DELETION, at=NOON + timedelta(seconds=1))
    assert other != task_id
    with pytest.raises(Refusal) as refused:
        async with stores.changes.change() as change:
            await change.tasks.run(tabular.warehouse_id, [task_id], at=later, now=later)
    assert refused.value.reason == Reason.REASON_CONCURRENT_CHANGE


@pytest.mark.parametrize("asked", list(Asked))
async def test_a_worker_that_is_asked_to_stop_hears_so_and_the_end_is_what_was_asked(
    stores: Stores, asked: Asked
) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id)
    await stores.tasks.stopped(task, now=later, progress=1, retry_at=later)
    assert (await _found(stores, tabular, task_id)).status is TaskStatus.RUNNING, "nobody asked"
    async with stores.changes.change() as change:
        await change.tasks.ask(tabular.warehouse_id, [task_id], asked)
        await change.tasks.ask(tabular.warehouse_id, [task_id], Asked.STOP)
        assert not await change.tasks.is_held(task)
    assert (await _found(stores, tabular, task_id)).status is TaskStatus.STOPPING
    assert not await stores.tasks.keep(task, now=later, silence=SILENCE, progress=2)
    await stores.tasks.stopped(task, now=later, progress=2, retry_at=later + HOUR)
    record = await _found(stores, tabular, task_id)
    if asked is Asked.CANCEL:
        assert (record.status, await stores.state_of(task_id)) == (TaskStatus.CANCELLED, None)
    else:
        assert (record.status, record.scheduled_for) == (TaskStatus.SCHEDULED, later + HOUR)
    assert await stores.attempts(task_id) == [(1, "cancelled" if asked is Asked.CANCEL else "failed")]


@pytest.mark.parametrize("asked", list(Asked))
async def test_what_was_to_stop_and_whose_worker_went_silent_ends_as_asked_or_begins_again(
    stores: Stores, asked: Asked
) -> None:
    await _drain(stores)
    tabular = await stores.with_tabular()
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id)
    async with stores.changes.change() as change:
        await change.tasks.ask(tabular.warehouse_id, [task_id], asked)
    silent = NOON + 2 * HOUR + SILENCE
    again = await stores.tasks.claim(task.queue, now=silent, silence=SILENCE, attempts=5)
    record = await _found(stores, tabular, task_id)
    if asked is Asked.CANCEL:
        assert again is None
        assert record.status is TaskStatus.CANCELLED
    else:
        assert again is not None
        assert (again.task_id, record.status) == (task_id, TaskStatus.RUNNING)
        await stores.tasks.finish(again, now=silent, message="", progress=0)


async def test_what_did_not_stop_is_run_again_and_its_attempt_recorded(stores: Stores) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id)
    async with stores.changes.change() as change:
        await change.tasks.run(tabular.warehouse_id, [task_id], at=NOON, now=later)
    assert (await _found(stores, tabular, task_id)).status is TaskStatus.RUNNING, "nobody asked it to stop"
    async with stores.changes.change() as change:
        await change.tasks.ask(tabular.warehouse_id, [task_id], Asked.STOP)
        await change.tasks.run(tabular.warehouse_id, [task_id], at=later, now=later)
    assert await stores.attempts(task_id) == [(1, "failed")]
    again = await _claim(stores, task_id)
    assert again.attempt == 2
    assert not await stores.tasks.finish(task, now=later, message="", progress=0)
    await stores.tasks.finish(again, now=later, message="", progress=0)


async def test_tasks_that_wait_are_ended_by_their_ids_in_their_warehouse_alone(stores: Stores) -> None:
    tabular, other = await stores.with_tabular(), await stores.with_tabular()
    task_id, elsewhere = await _queued(stores, tabular), await _queued(stores, other)
    async with stores.changes.change() as change:
        locked = await change.tasks.lock(tabular.warehouse_id, [task_id, elsewhere])
        assert [(each.task_id, each.active, each.running) for each in locked] == [(task_id, True, False)]
        await change.tasks.end(tabular.warehouse_id, [task_id, elsewhere], at=NOON, message="enough")
    record = await _found(stores, tabular, task_id)
    assert (record.status, record.message, record.picked_up_at) == (TaskStatus.CANCELLED, "enough", None)
    assert (await _found(stores, other, elsewhere)).status is TaskStatus.SCHEDULED
    assert list(await stores.task_records.find(tabular.warehouse_id, [elsewhere])) == []
    assert list(await stores.task_records.attempts(tabular.warehouse_id, elsewhere, limit=5)) == []


async def test_a_listing_is_newest_first_in_pages_over_what_waits_and_what_has_ended(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabulars = [await stores.with_tabular(namespace) for _ in range(4)]
    ids = [
        await _queued(stores, tabular, at=NOON + timedelta(seconds=place % 3)) for place, tabular in enumerate(tabulars)
    ]
    async with stores.changes.change() as change:
        await change.tasks.end(namespace.warehouse_id, ids[1:2], at=NOON, message="")
    first = tabulars[0]
    newest = [ids[2], ids[1], *sorted([ids[0], ids[3]], reverse=True)]
    assert await _listed(stores, first) == newest
    assert await _listed(stores, first, limit=3) == newest[:3]
    assert await _listed(stores, first, after=After(NOON, newest[2])) == newest[3:]


async def test_filters_narrow_a_listing(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    purged, dropped = [await stores.with_tabular(namespace) for _ in range(2)]
    view = await stores.with_tabular(namespace, kind=Kind.VIEW)
    purge = await _queued(stores, purged)
    expiry = await _queued(stores, dropped, Queue.SOFT_DELETION, at=NOON + HOUR)
    of_view = await _queued(stores, view, Queue.SOFT_DELETION, at=NOON + 2 * HOUR)
    async with stores.changes.change() as change:
        await change.tasks.end(namespace.warehouse_id, [of_view], at=NOON, message="")

    async def listed(**which: object) -> list[UUID]:
        return await _listed(stores, purged, TaskFilter(**which))  # type: ignore[arg-type]  # what it takes

    keys = [TabularKey(each.kind, each.tabular_id) for each in (purged, dropped, view)]
    assert await listed() == [of_view, expiry, purge]
    assert await listed(statuses=[TaskStatus.SCHEDULED]) == [expiry, purge]
    assert await listed(statuses=[TaskStatus.CANCELLED, TaskStatus.SUCCESS]) == [of_view]
    assert await listed(statuses=[]) == []
    assert await listed(queues=["soft_deletion"]) == [of_view, expiry]
    assert await listed(queues=["soft_deletion", "no\0queue"]) == [of_view, expiry]
    assert await listed(queues=[]) == []
    assert await listed(tabulars=keys[:1]) == [purge]
    assert await listed(tabulars=keys[1:]) == [of_view, expiry]
    assert await listed(tabulars=[TabularKey(Kind.VIEW, purged.tabular_id)]) == []
    assert await listed(tabulars=[], about_nothing=True) == []
    assert await listed(created_after=NOON) == [of_view, expiry]
    assert await listed(created_after=NOON, created_before=NOON + 2 * HOUR) == [expiry]


async def test_a_queue_s_silence_is_its_warehouse_s_own_and_counts_from_the_next_claim(stores: Stores) -> None:
    tabular, other = await stores.with_tabular(), await stores.with_tabular()
    minute = timedelta(minutes=1)
    for silence, changed in ((None, False), (minute, True), (minute, False), (None, True), (minute, True)):
        async with stores.changes.change() as change:
            config = QueueConfig(silence=silence)
            made = change.tasks.configure(tabular.warehouse_id, Queue.TABULAR_PURGE, config, next_at=None)
            assert await made is changed
        assert (await stores.task_records.config(tabular.warehouse_id, Queue.TABULAR_PURGE)).silence == silence
    assert await stores.task_records.config(tabular.warehouse_id, Queue.SOFT_DELETION) == QueueConfig()
    assert (await stores.task_records.config(other.warehouse_id, Queue.TABULAR_PURGE)).silence is None
    await _drain(stores)
    ours = await _queued(stores, tabular)
    task = await _claim(stores, ours)
    assert task.silence == minute
    soon = NOON + 2 * HOUR + minute
    again = await stores.tasks.claim(task.queue, now=soon, silence=SILENCE, attempts=5)
    assert again is not None, "it was silent for a minute"
    assert (again.task_id, again.attempt) == (ours, 2)
    await stores.tasks.finish(again, now=NOON, message="", progress=0)
    assert (await _claim(stores, await _queued(stores, other))).silence == SILENCE


async def test_a_task_that_waits_for_something_goes_on_with_all_its_attempts_and_leaves_no_record_of_waiting(
    stores: Stores,
) -> None:
    tabular, later = await stores.with_tabular(), NOON + 2 * HOUR
    task_id = await _queued(stores, tabular)
    task = await _claim(stores, task_id)
    again = Again(later + HOUR, "waits", {"phase": 2})
    assert await stores.tasks.postpone(task, again, progress=3)
    waiting = await _found(stores, tabular, task_id)
    assert (waiting.status, waiting.scheduled_for, waiting.message, waiting.done) == (
        TaskStatus.SCHEDULED,
        later + HOUR,
        "waits",
        3,
    )
    assert await stores.attempts(task_id) == []
    assert not await stores.tasks.postpone(task, again, progress=3)
    second = await stores.tasks.claim(Queue.TABULAR_PURGE, now=later + HOUR, silence=SILENCE, attempts=1)
    assert second is not None, "what it waited counts as no attempt"
    assert (second.task_id, second.attempt, second.plan) == (task_id, 2, {"phase": 2})
    async with stores.changes.change() as change:
        await change.tasks.ask(tabular.warehouse_id, [task_id], Asked.STOP)
    assert not await stores.tasks.postpone(second, again, progress=3)
    await stores.tasks.stopped(second, now=later + HOUR, progress=3, retry_at=None)
