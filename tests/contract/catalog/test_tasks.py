from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from uuid import UUID

import pytest

from lakeward_catalog.domain.model import Incarnation, State, Tabular, TabularId
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_servicekit.authorization.principals import ANONYMOUS
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON, a_body, a_purge, uuid7

SILENCE = timedelta(minutes=5)


@pytest.fixture
async def task_id(stores: Stores) -> UUID:
    _, task_id = await _purge(stores)
    return task_id


async def _purge(stores: Stores) -> tuple[Tabular, UUID]:
    """The purge of a table that is gone; every task of earlier tests is done first."""
    while task := await _claim(stores, at=NOON + timedelta(days=365)):
        await stores.tasks.finish(task, now=NOON, message="", progress=0)
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.delete(tabular)
        return tabular, await change.tasks.enqueue(a_purge(tabular))


async def _claim(stores: Stores, *, at: object = NOON, attempts: int = 5) -> Task | None:
    return await stores.tasks.claim(Queue.TABULAR_PURGE, now=at, silence=SILENCE, attempts=attempts)  # type: ignore[arg-type]  # a time


async def test_a_task_is_claimed_once_and_not_before_its_time(stores: Stores, task_id: UUID) -> None:
    assert await _claim(stores, at=NOON - timedelta(seconds=1)) is None
    claims = [task for task in await asyncio.gather(*(_claim(stores) for _ in range(5))) if task is not None]
    assert [task.task_id for task in claims] == [task_id]
    assert claims[0].attempt == 1


async def test_a_finished_task_is_gone_and_its_attempt_recorded(stores: Stores, task_id: UUID) -> None:
    task = await _claim(stores)
    assert task is not None
    assert await stores.tasks.finish(task, now=NOON, message="done", progress=3)
    assert await stores.state_of(task_id) is None
    assert await stores.attempts(task_id) == [(1, "success")]
    assert not await stores.tasks.finish(task, now=NOON, message="again", progress=3)


async def test_a_silent_worker_is_given_up_and_its_outcome_refused(stores: Stores, task_id: UUID) -> None:
    first = await _claim(stores)
    assert first is not None
    assert await _claim(stores, at=NOON + SILENCE / 2) is None
    second = await _claim(stores, at=NOON + SILENCE)
    assert second is not None
    assert (second.task_id, second.attempt) == (task_id, 2)
    assert second.fence > first.fence
    assert not await stores.tasks.keep(first, now=NOON, silence=SILENCE, progress=1)
    assert not await stores.tasks.finish(first, now=NOON, message="", progress=1)
    assert not await stores.tasks.fail(first, now=NOON, message="", progress=1, retry_at=None)
    assert await stores.attempts(task_id) == [(1, "failed")]
    assert await stores.tasks.finish(second, now=NOON, message="", progress=1)


async def test_a_worker_that_says_so_keeps_its_task(stores: Stores, task_id: UUID) -> None:
    task = await _claim(stores)
    assert task is not None
    late = NOON + SILENCE * 0.9
    assert await stores.tasks.keep(task, now=late, silence=SILENCE, progress=1)
    assert await _claim(stores, at=NOON + SILENCE) is None
    assert await stores.state_of(task_id) == "running"


async def test_a_failed_attempt_is_made_again_at_its_time(stores: Stores, task_id: UUID) -> None:
    task = await _claim(stores)
    assert task is not None
    later = NOON + timedelta(minutes=1)
    assert await stores.tasks.fail(task, now=NOON, message="the store is away", progress=0, retry_at=later)
    assert await _claim(stores) is None
    again = await _claim(stores, at=later)
    assert again is not None
    assert (again.task_id, again.attempt) == (task_id, 2)


async def test_after_the_last_attempt_a_task_stays_as_failed(stores: Stores, task_id: UUID) -> None:
    task = await _claim(stores)
    assert task is not None
    assert await stores.tasks.fail(task, now=NOON, message="no", progress=0, retry_at=None)
    assert await _claim(stores, at=NOON + timedelta(days=1)) is None
    assert await stores.state_of(task_id) == "failed"


async def test_silent_attempts_count(stores: Stores, task_id: UUID) -> None:
    at = NOON
    for _ in range(3):
        assert await _claim(stores, at=at, attempts=3) is not None
        at += SILENCE
    assert await _claim(stores, at=at, attempts=3) is None
    assert await stores.state_of(task_id) == "failed"
    assert await stores.attempts(task_id) == [(1, "failed"), (2, "failed"), (3, "failed")]


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("where", ["{0}", "{0}/inner", "{1}"])
async def test_a_purge_never_begins_where_a_tabular_lies(stores: Stores, state: State, where: str) -> None:
    gone, task_id = await _purge(stores)
    namespace = (await stores.namespaces.find(gone.warehouse_id, gone.ident.namespace))[1]
    assert namespace is not None
    again = dataclasses.replace(
        gone,
        incarnation=Incarnation(uuid7()),
        tabular_id=TabularId(uuid7()),
        location=where.format(gone.location, gone.location.rpartition("/")[0]),
        state=state,
        expires_at=None if state is State.LIVE else NOON,
    )
    async with stores.changes.change() as change:
        await change.tabulars.insert(again, a_body(), owner=ANONYMOUS)
    assert await _claim(stores) is None
    assert await stores.state_of(task_id) == "failed"


async def test_a_task_that_is_done_or_failed_makes_room_for_the_next(stores: Stores) -> None:
    tabular, first = await _purge(stores)
    task = await _claim(stores)
    assert task is not None
    await stores.tasks.fail(task, now=NOON, message="no", progress=0, retry_at=None)
    async with stores.changes.change() as change:
        assert await change.tasks.enqueue(a_purge(tabular)) != first
