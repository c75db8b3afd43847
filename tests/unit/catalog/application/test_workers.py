from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.tasks.queues.purging import Purges
from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Ended, Handler, Progress, Terms, Worker
from lakeward_catalog.domain.model import Incarnation, Warehouse
from lakeward_catalog.domain.tasks import Asked, Queue, Task
from lakeward_locations import Location
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.memory_events import QuietBell
from tests.support.catalog.stores import MemoryStores
from tests.support.catalog.values import NOON, FreshIds, a_purge

TERMS = Terms(silence=timedelta(milliseconds=40), attempts=3)


@pytest.fixture
def stores() -> MemoryStores:
    return MemoryStores()


async def _queued(stores: MemoryStores, queue: Queue = Queue.TABULAR_PURGE) -> UUID:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        if queue is Queue.TABULAR_PURGE:
            await change.tabulars.delete(tabular)
        else:
            await change.tabulars.drop(tabular, at=NOON, expires_at=NOON)
        return await change.tasks.enqueue(a_purge(tabular, queue=queue))


async def _claimed(stores: MemoryStores, queue: Queue = Queue.TABULAR_PURGE) -> Task:
    await _queued(stores, queue)
    task = await stores.tasks.claim(queue, now=NOON, silence=TERMS.silence, attempts=3)
    assert task is not None
    return task


def _worker(stores: MemoryStores, handle: Handler, *, terms: Terms = TERMS, jitter: float = 1.0) -> Worker:
    return Worker(Queue.TABULAR_PURGE, stores.tasks, handle, stores.clock, QuietBell(1), lambda: jitter, terms)


async def _attempt(stores: MemoryStores, task: Task, handle: Handler, *, terms: Terms = TERMS) -> None:
    await _worker(stores, handle, terms=terms).attempt(task)


async def test_work_that_succeeds_is_recorded_and_gone(stores: MemoryStores) -> None:
    async def handle(_: Task, __: Progress) -> str:
        return "did it"

    task = await _claimed(stores)
    await _attempt(stores, task, handle)
    assert await stores.attempts(task.task_id) == [(1, "success")]
    assert await stores.state_of(task.task_id) is None


@pytest.mark.parametrize("failure", [Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s"), ZeroDivisionError()])
async def test_work_that_fails_is_made_again_after_a_pause(stores: MemoryStores, failure: Exception) -> None:
    async def handle(_: Task, __: Progress) -> str:
        raise failure

    task = await _claimed(stores)
    await _attempt(stores, task, handle)
    assert await stores.attempts(task.task_id) == [(1, "failed")]
    claim = (Queue.TABULAR_PURGE,)
    soon, later = NOON + timedelta(seconds=9), NOON + timedelta(seconds=10)
    assert await stores.tasks.claim(*claim, now=soon, silence=TERMS.silence, attempts=3) is None
    assert await stores.tasks.claim(*claim, now=later, silence=TERMS.silence, attempts=3) is not None


async def test_the_last_attempt_leaves_the_task_as_failed(stores: MemoryStores) -> None:
    async def handle(_: Task, __: Progress) -> str:
        raise Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s")

    task = await _claimed(stores)
    await _attempt(stores, task, handle, terms=dataclasses.replace(TERMS, attempts=1))
    assert await stores.state_of(task.task_id) == "failed"


async def test_work_is_kept_alive_while_it_waits(stores: MemoryStores) -> None:
    kept = asyncio.Event()
    keep = stores.tasks.keep

    async def watched(task: Task, **said: object) -> bool:
        kept.set()
        return await keep(task, **said)  # type: ignore[arg-type]  # what the port takes

    async def handle(_: Task, __: Progress) -> str:
        await kept.wait()
        return "kept"

    stores.tasks.keep = watched  # type: ignore[method-assign]  # to see it called
    task = await _claimed(stores)
    async with asyncio.timeout(10):
        await _attempt(stores, task, handle)
    assert await stores.attempts(task.task_id) == [(1, "success")]


@pytest.mark.parametrize(
    ("asked", "left", "outcome"), [(Asked.STOP, "waiting", "failed"), (Asked.CANCEL, None, "cancelled")]
)
async def test_work_that_is_to_stop_stops_before_that_is_recorded(
    stores: MemoryStores, asked: Asked, left: str | None, outcome: str
) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def handle(_: Task, progress: Progress) -> str:
        progress.done = 3
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            over.set()
        return "never"

    stopped = stores.tasks.stopped

    async def after_the_work(task: Task, **said: object) -> None:
        assert over.is_set()
        await stopped(task, **said)  # type: ignore[arg-type]  # what the port takes

    stores.tasks.stopped = after_the_work  # type: ignore[method-assign]  # to see when it is called
    task = await _claimed(stores)
    async with asyncio.timeout(10):
        attempt = asyncio.create_task(_attempt(stores, task, handle))
        await begun.wait()
        async with stores.changes.change() as change:
            await change.tasks.ask(task.warehouse_id, [task.task_id], asked)
        await attempt
    assert await stores.attempts(task.task_id) == [(1, outcome)]
    assert await stores.state_of(task.task_id) == left


async def test_work_stops_when_its_task_is_anothers(stores: MemoryStores) -> None:
    stopped = asyncio.Event()

    async def handle(_: Task, __: Progress) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    task = await _claimed(stores)
    other = await stores.tasks.claim(task.queue, now=NOON + TERMS.silence, silence=TERMS.silence, attempts=3)
    assert other is not None
    async with asyncio.timeout(10):
        await _attempt(stores, task, handle)
    assert stopped.is_set()
    assert await stores.attempts(task.task_id) == [(1, "failed")]


async def test_a_worker_works_until_nothing_is_due(stores: MemoryStores) -> None:
    ids = [await _queued(stores) for _ in range(3)]
    done: list[UUID] = []

    async def handle(task: Task, _: Progress) -> str:
        done.append(task.task_id)
        return ""

    bell = QuietBell(1)
    worker = dataclasses.replace(_worker(stores, handle, jitter=0.0), bell=bell)
    loop = asyncio.create_task(worker.work())
    async with asyncio.timeout(10):
        await bell.over.wait()
    loop.cancel()
    assert sorted(done) == sorted(ids)


class _Seen:
    """What a worker of expirations asks of its queue, and how its tasks end."""

    def __init__(self, stores: MemoryStores) -> None:
        self.claimed: list[int] = []
        self.finished: list[int] = []
        self.given_back = asyncio.Event()
        self._stores, self._tasks = stores, stores.tasks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)

    async def claim_several(self, queue: Queue, **terms: Any) -> Sequence[Task]:
        tasks = await self._tasks.claim_several(queue, **terms)
        self.claimed.append(len(tasks))
        return tasks

    async def finish_all(self, ended: Sequence[Ended]) -> None:
        await self._tasks.finish_all(ended)
        self.finished.append(len(ended))

    async def give_back(self, tasks: Sequence[Task], **said: Any) -> None:
        await self._tasks.give_back(tasks, **said)
        self.given_back.set()

    def worker(self, handle: Handler, bell: QuietBell) -> Worker:
        terms = Terms(silence=timedelta(minutes=5))
        return Worker(Queue.SOFT_DELETION, self, handle, self._stores.clock, bell, lambda: 0.0, terms)


async def test_a_worker_whose_tasks_take_no_time_claims_and_records_many_at_once(stores: MemoryStores) -> None:
    ids = [await _queued(stores, Queue.SOFT_DELETION) for _ in range(100)]

    async def handle(_: Task, __: Progress) -> str:
        return ""

    seen, bell = _Seen(stores), QuietBell(1)
    loop = asyncio.create_task(seen.worker(handle, bell).work())
    async with asyncio.timeout(10):
        await bell.over.wait()
    loop.cancel()
    assert max(seen.claimed) > 8
    assert sum(seen.finished) > 90
    assert {tuple(await stores.attempts(task_id)) for task_id in ids} == {((1, "success"),)}


async def test_nothing_waits_for_a_task_that_takes_long(stores: MemoryStores) -> None:
    ids = sorted([await _queued(stores, Queue.SOFT_DELETION) for _ in range(6)])
    seen = _Seen(stores)

    async def handle(task: Task, _: Progress) -> str:
        if task.task_id == ids[4]:
            await seen.given_back.wait()
            assert await stores.state_of(ids[3]) is None, "what was done is recorded by then"
            assert await stores.state_of(ids[5]) == "waiting"
        return ""

    bell = QuietBell(1)
    loop = asyncio.create_task(seen.worker(handle, bell).work())
    async with asyncio.timeout(10):
        await bell.over.wait()
    loop.cancel()
    assert {tuple(await stores.attempts(task_id)) for task_id in ids} == {((1, "success"),)}


async def test_a_worker_that_ends_records_what_it_has_done_and_gives_back_the_rest(stores: MemoryStores) -> None:
    ids = sorted([await _queued(stores, Queue.SOFT_DELETION) for _ in range(6)])
    begun = asyncio.Event()

    async def handle(task: Task, _: Progress) -> str:
        if task.task_id == ids[4]:
            begun.set()
            await asyncio.Event().wait()
        return ""

    loop = asyncio.create_task(_Seen(stores).worker(handle, QuietBell(1)).work())
    async with asyncio.timeout(10):
        await begun.wait()
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert [await stores.state_of(each) for each in ids] == [None, None, None, None, "running", "waiting"]
    assert await stores.attempts(ids[5]) == []


@dataclasses.dataclass
class _Pages:
    """A place of files, deleted in pages of two."""

    left: int

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        del warehouse, incarnation, location
        page = min(2, self.left)
        self.left -= page
        return page, self.left == 0


async def test_a_purge_goes_on_until_nothing_is_left_and_counts(stores: MemoryStores) -> None:
    task, files, progress = await _claimed(stores), _Pages(5), Progress()
    await Purges(stores.warehouses, files)(task, progress)  # type: ignore[arg-type]  # only pages are asked for
    assert (files.left, progress.done) == (0, 5)


async def _expire(stores: MemoryStores, task: Task) -> None:
    announcer = Announcer(source="lakeward://test", ids=FreshIds())
    await Expiries(stores.warehouses, stores.changes, announcer, stores.clock)(task, Progress())


async def test_an_expired_tabular_is_deleted_and_its_files_queued(stores: MemoryStores) -> None:
    task = await _claimed(stores, Queue.SOFT_DELETION)
    await _expire(stores, task)
    assert await stores.changes.current_metadata(task.warehouse_id, task.incarnation) is None
    queued = await stores.tasks.claim(Queue.TABULAR_PURGE, now=NOON, silence=TERMS.silence, attempts=3)
    assert queued is not None
    assert (queued.incarnation, queued.location) == (task.incarnation, task.location)
    [told] = [json.loads(event.body) for event in stores._catalog.rows.events]
    assert (told["type"], told["data"]["expired"]) == ("dropTable", True)


async def test_a_tabular_that_was_restored_does_not_expire(stores: MemoryStores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tasks.enqueue(a_purge(tabular, queue=Queue.SOFT_DELETION))
    task = await stores.tasks.claim(Queue.SOFT_DELETION, now=NOON, silence=TERMS.silence, attempts=3)
    assert task is not None
    await _expire(stores, task)
    assert await stores.told() == []
    assert await stores.changes.current_metadata(tabular.warehouse_id, tabular.incarnation) == tabular.metadata_id
