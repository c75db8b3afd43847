from __future__ import annotations

import asyncio
import dataclasses
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from lakeward_catalog.application.workers import Ended
from lakeward_catalog.domain.model import Incarnation, State, Tabular, TabularId
from lakeward_catalog.domain.tasks import Asked, Queue, Task
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


async def _expirations(stores: Stores, count: int) -> list[UUID]:
    """Of one warehouse, in the order of their turns; every task of earlier tests is done first."""
    while task := await stores.tasks.claim(
        Queue.SOFT_DELETION, now=NOON + timedelta(days=365), silence=SILENCE, attempts=5
    ):
        await stores.tasks.finish(task, now=NOON, message="", progress=0)
    namespace = await stores.with_namespace()
    queued: list[UUID] = []
    for number in range(count):
        tabular = await stores.with_tabular(namespace, f"t{number}")
        async with stores.changes.change() as change:
            queued.append(await change.tasks.enqueue(a_purge(tabular, queue=Queue.SOFT_DELETION)))
    return queued


async def _several(stores: Stores, most: int, *, at: datetime = NOON) -> list[Task]:
    return [*await stores.tasks.claim_several(Queue.SOFT_DELETION, now=at, silence=SILENCE, most=most)]


async def _all_claimed(stores: Stores) -> list[UUID]:
    claimed: list[UUID] = []
    while tasks := await _several(stores, 3):
        claimed += [task.task_id for task in tasks]
    return claimed


async def test_several_are_claimed_in_turn_each_once_and_finished_together(stores: Stores) -> None:
    queued = await _expirations(stores, 10)
    claims = await asyncio.gather(*(_all_claimed(stores) for _ in range(3)))
    assert sorted(each for claim in claims for each in claim) == sorted(queued)


async def test_what_was_claimed_together_is_recorded_one_by_one(stores: Stores) -> None:
    queued = await _expirations(stores, 3)
    first, *rest = await _several(stores, 10)  # the first one's turn has come, and the others are behind it in line
    rest += await _several(stores, 10)
    assert [first.task_id, *(task.task_id for task in rest)] == queued
    second, third = rest
    other = await stores.tasks.claim(Queue.SOFT_DELETION, now=NOON + SILENCE, silence=SILENCE, attempts=5)
    assert other is not None
    ended = [Ended(task, NOON, f"did {number}", number) for number, task in enumerate((first, second, third))]
    await stores.tasks.finish_all(ended)
    taken_over = {other.task_id}
    for number, task_id in enumerate(queued):
        assert await stores.state_of(task_id) == ("running" if task_id in taken_over else None), number
        assert await stores.attempts(task_id) == [(1, "failed" if task_id in taken_over else "success")], number


async def test_what_is_given_back_was_not_attempted(stores: Stores) -> None:
    [task_id] = await _expirations(stores, 1)
    [task] = await _several(stores, 10)
    await stores.tasks.give_back([task], now=NOON)
    assert await stores.state_of(task_id) == "waiting"
    assert await stores.attempts(task_id) == []
    [again] = await _several(stores, 10)
    assert (again.task_id, again.attempt) == (task_id, 1)
    assert again.fence > task.fence
    await stores.tasks.give_back([task], now=NOON)  # it is another's by now
    assert await stores.state_of(task_id) == "running"


async def test_what_is_to_be_cancelled_is_not_given_back(stores: Stores) -> None:
    [task_id] = await _expirations(stores, 1)
    [task] = await _several(stores, 10)
    async with stores.changes.change() as change:
        await change.tasks.ask(task.warehouse_id, [task_id], Asked.CANCEL)
    await stores.tasks.give_back([task], now=NOON)
    assert await stores.state_of(task_id) is None
    assert await stores.attempts(task_id) == [(1, "cancelled")]


async def test_what_has_been_begun_before_is_claimed_alone(stores: Stores) -> None:
    queued = await _expirations(stores, 2)
    [first] = await _several(stores, 1)
    await stores.tasks.fail(first, now=NOON, message="no", progress=0, retry_at=NOON)
    assert await _several(stores, 10) == []
    alone = await stores.tasks.claim(Queue.SOFT_DELETION, now=NOON, silence=SILENCE, attempts=5)
    assert alone is not None
    assert (alone.task_id, alone.attempt) == (first.task_id, 2)
    assert [task.task_id for task in await _several(stores, 10)] == queued[1:]


async def test_purges_are_looked_at_one_by_one(stores: Stores, task_id: UUID) -> None:
    assert await stores.state_of(task_id) == "waiting"
    claim = stores.tasks.claim_several(Queue.TABULAR_PURGE, now=NOON, silence=SILENCE, most=5)
    assert list(await claim) == []


@pytest.mark.parametrize("retry_at", [NOON, None])
async def test_work_that_fails_while_it_is_to_be_cancelled_is_cancelled(
    stores: Stores, task_id: UUID, retry_at: datetime | None
) -> None:
    task = await _claim(stores)
    assert task is not None
    async with stores.changes.change() as change:
        await change.tasks.ask(task.warehouse_id, [task_id], Asked.CANCEL)
    assert await stores.tasks.fail(task, now=NOON, message="the store is away", progress=1, retry_at=retry_at)
    assert await stores.state_of(task_id) is None
    assert await stores.attempts(task_id) == [(1, "cancelled")]
