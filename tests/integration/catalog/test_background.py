"""Sweeps, and the purge of files beside those who want their place."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import datetime, timedelta

import pytest

from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.application.sweeping import Retention, sweep_once
from lakeward_catalog.application.workers import Handler, Progress, Terms, Worker
from lakeward_catalog.domain.model import Incarnation, State, Tabular, TabularId
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.memory_events import QuietBell
from tests.support.catalog.stores import PostgresStores
from tests.support.catalog.values import NOON, a_body, a_commit, a_key_place, a_purge, a_record, uuid7

pytestmark = pytest.mark.integration

TERMS = Terms(silence=timedelta(minutes=5), first_retry=timedelta(0), last_retry=timedelta(0))


async def _queued(stores: PostgresStores) -> Tabular:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.delete(tabular)
        await change.tasks.enqueue(a_purge(tabular))
    return tabular


async def _nothing(*, before: datetime, limit: int) -> int:
    """No warehouse of these tests has a secret."""
    del before, limit
    return 0


async def test_a_sweep_takes_what_has_expired_and_nothing_else(stores: PostgresStores, pool: Pool) -> None:
    staged = await stores.with_tabular(state=State.STAGED, expires_at=NOON)
    fresh = await stores.with_tabular(state=State.STAGED, expires_at=NOON + timedelta(seconds=1))
    dropped = await stores.with_tabular()
    finished = await stores.with_tabular(state=State.STAGED, expires_at=NOON)
    key, fresh_key = a_key_place(), a_key_place()
    async with stores.changes.change() as change:
        await change.tabulars.drop(dropped, at=NOON, expires_at=NOON)
        await change.tabulars.commit([a_commit(finished)])
    for place, until in ((key, NOON), (fresh_key, NOON + timedelta(seconds=1))):
        await stores.idempotency.keep_refusal(place, a_record(), until=until)
    await sweep_once(
        leftovers=PostgresLeftovers(pool), secrets=_nothing, clock=stores.clock, retention=Retention(rows=1)
    )
    kept = [
        (await stores.tabulars.by_id(each.warehouse_id, each.tabular_id)) is not None
        for each in (staged, fresh, dropped, finished)
    ]
    assert kept == [False, True, True, True]
    assert await pool.fetchval("select count(*) from idempotency where key = any($1)", [key.key, fresh_key.key]) == 1


async def test_a_staged_row_that_is_being_committed_is_not_swept(stores: PostgresStores, pool: Pool) -> None:
    staged = await stores.with_tabular(state=State.STAGED, expires_at=NOON)
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([a_commit(staged)])).lost
        await sweep_once(leftovers=PostgresLeftovers(pool), secrets=_nothing, clock=stores.clock, retention=Retention())
    found = await stores.tabulars.by_id(staged.warehouse_id, staged.tabular_id)
    assert found is not None
    assert found.state is State.LIVE


@pytest.mark.parametrize("turn", range(6))
async def test_a_purge_and_a_register_of_its_place_never_both_go_ahead(stores: PostgresStores, turn: int) -> None:
    gone = await _queued(stores)
    location = Location.parse(gone.location)
    again = dataclasses.replace(gone, incarnation=Incarnation(uuid7()), tabular_id=TabularId(uuid7()))

    async def register() -> bool:
        async with stores.changes.change() as change:
            await change.locations.lock(gone.warehouse_id, exclusively=True)
            if await change.locations.purge_pending(gone.warehouse_id, location):
                return False
            await change.tabulars.insert(again, a_body(), owner=ANONYMOUS)
        return True

    async def claim() -> bool:
        task = await stores.tasks.claim(Queue.TABULAR_PURGE, now=NOON, silence=TERMS.silence, attempts=5)
        return task is not None and await stores.tasks.finish(task, now=NOON, message="", progress=0)

    pair = [register(), claim()]
    outcomes = await asyncio.gather(*(pair if turn % 2 else pair[::-1]))
    assert sum(outcomes) >= 1
    async with stores.changes.change() as change:
        there = await change.locations.overlapping(gone.warehouse_id, location, enclosed_too=True)
    # a register that went ahead came before the claim was made, or after the purge was over
    assert there is None or there.incarnation == again.incarnation


async def test_a_worker_that_was_killed_is_followed_by_another_that_finishes(stores: PostgresStores) -> None:
    gone = await _queued(stores)
    reached = asyncio.Event()

    async def hangs(_: Task, progress: Progress) -> str:
        progress.done = 7
        reached.set()
        await asyncio.Event().wait()
        return "never"

    async def finishes(task: Task, _: Progress) -> str:
        done.append(task)
        return "Purged tabular data"

    def start(handle: Handler, bell: QuietBell) -> asyncio.Task[None]:
        worker = Worker(Queue.TABULAR_PURGE, stores.tasks, handle, stores.clock, bell, lambda: 0.0, TERMS)
        return asyncio.create_task(worker.work())

    done: list[Task] = []
    killed = start(hangs, QuietBell(1))
    await reached.wait()
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    stores.clock.advance(TERMS.silence)
    bell = QuietBell(1)
    follower = start(finishes, bell)
    async with asyncio.timeout(20):
        await bell.over.wait()
    follower.cancel()
    [task] = [each for each in done if each.incarnation == gone.incarnation]
    assert task.attempt == 2
    assert await stores.attempts(task.task_id) == [(1, "failed"), (2, "success")]
