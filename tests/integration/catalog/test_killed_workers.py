"""A worker that is killed at any step of its work loses nothing, and what it did is done and told once."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.workers import Terms
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.fakes import PlainJudge
from tests.support.catalog.killed_workers import CASCADES, STEPS, FolderFiles, Step, handler, worker
from tests.support.catalog.stores import PostgresStores
from tests.support.catalog.values import NOON
from tests.support.installations import ROOT

pytestmark = pytest.mark.integration

_FILES = 5
_LATER = timedelta(days=3650)
_TOLD = "select body from outbox where stream = $1"
_PURGES = "select count(*) from task where queue = 'tabular_purge' and incarnation = $1"


@dataclasses.dataclass(frozen=True)
class Doomed:
    """A tabular whose task's first worker is killed at a step."""

    step: Step
    tabular: Tabular
    task_id: UUID


async def _queue(stores: PostgresStores, folder: Path, queue: Queue) -> list[Doomed]:
    """One for each step, in the order in which they are claimed."""
    doomed: list[Doomed] = []
    for number, step in enumerate(STEPS[queue]):
        tabular, at = await stores.with_tabular(), NOON - timedelta(hours=1) + timedelta(minutes=number)
        async with stores.changes.change() as change:
            if queue is Queue.TABULAR_PURGE:
                await change.tabulars.delete(tabular)
            else:
                await change.tabulars.drop(tabular, at=at, expires_at=at)
            task_id = await change.tasks.enqueue(NewTask.of(tabular, queue, created_at=at, scheduled_for=at))
        place = folder / tabular.location.rpartition("/")[2]
        place.mkdir()
        for name in range(_FILES):
            (place / f"{name}.parquet").touch()
        doomed.append(Doomed(step, tabular, task_id))
    return doomed


async def _kill(database: str, folder: Path, queue: Queue) -> int:
    return await _run_killed(database, folder, [f"{queue.value}:{step.value}" for step in STEPS[queue]])


async def _run_killed(database: str, folder: Path, steps: Sequence[str]) -> int:
    module = "tests.support.catalog.killed_workers"
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", module, database, str(folder), *steps, cwd=ROOT)
    return await child.wait()


async def _go_on(stores: PostgresStores, folder: Path, queue: Queue) -> None:
    """Another worker, once those that were killed have been silent for too long."""
    terms = Terms(silence=timedelta(minutes=5))
    handle = handler(queue, stores, stores.changes, FolderFiles(folder))
    while task := await stores.tasks.claim(queue, now=NOON + _LATER, silence=terms.silence, attempts=5):
        await worker(queue, stores, stores.tasks, handle, terms).attempt(task)


async def test_an_expiration_that_is_killed_at_any_step_happens_once(
    postgres_url: str, stores: PostgresStores, pool: Pool, tmp_path: Path
) -> None:
    doomed = await _queue(stores, tmp_path, Queue.SOFT_DELETION)
    assert await _kill(postgres_url, tmp_path, Queue.SOFT_DELETION) == 0, "each was killed at its step"
    gone_at_once = {each.step for each in doomed if await _is_gone(stores, each)}
    assert gone_at_once == {Step.COMMITTED, Step.RECORDED}
    await _go_on(stores, tmp_path, Queue.SOFT_DELETION)
    for each in doomed:
        assert await _is_gone(stores, each), each.step
        assert await pool.fetchval(_PURGES, each.tabular.incarnation) == 1, each.step
        told = [json.loads(row[0]) for row in await pool.fetch(_TOLD, str(each.tabular.warehouse_id))]
        assert [document["type"] for document in told] == ["dropTable"], each.step
        again = [] if each.step is Step.RECORDED else [(1, "failed")]
        assert await stores.attempts(each.task_id) == [*again, (len(again) + 1, "success")], each.step
    await pool.execute("delete from task")


async def _is_gone(stores: PostgresStores, doomed: Doomed) -> bool:
    return await stores.tabulars.by_id(doomed.tabular.warehouse_id, doomed.tabular.tabular_id) is None


async def test_a_purge_that_is_killed_at_any_step_leaves_no_file(
    postgres_url: str, stores: PostgresStores, tmp_path: Path
) -> None:
    doomed = await _queue(stores, tmp_path, Queue.TABULAR_PURGE)
    assert await _kill(postgres_url, tmp_path, Queue.TABULAR_PURGE) == 0, "each was killed at its step"
    left = {each.step: _left(tmp_path, each) for each in doomed}
    assert left == {Step.CLAIMED: _FILES, Step.A_PAGE_DELETED: _FILES - 2, Step.ALL_DELETED: 0, Step.RECORDED: 0}
    await _go_on(stores, tmp_path, Queue.TABULAR_PURGE)
    for each in doomed:
        assert _left(tmp_path, each) == 0, each.step
        assert await stores.state_of(each.task_id) is None, each.step
        again = [] if each.step is Step.RECORDED else [(1, "failed")]
        assert await stores.attempts(each.task_id) == [*again, (len(again) + 1, "success")], each.step


@dataclasses.dataclass(frozen=True)
class Tree:
    """A warehouse with two namespaces of three tables each, that one cascade drops, or drops the first one of."""

    step: Step
    transaction: int
    warehouse: Warehouse
    tables: tuple[Tabular, ...]
    task_id: UUID


async def _queue_cascades(stores: PostgresStores, queue: Queue, *, purge: bool) -> list[Tree]:
    """One for each step, in the order in which they are claimed."""
    trees: list[Tree] = []
    for number, (step, transaction) in enumerate(CASCADES[queue]):
        warehouse, at = await stores.with_warehouse(), NOON - timedelta(hours=1) + timedelta(minutes=number)
        first, second = [await stores.with_namespace(warehouse, name) for name in ("first", "second")]
        tables = [await stores.with_tabular(each, f"t{index}") for each in (first, second) for index in range(3)]
        task = NewTask(
            queue=queue,
            owner=warehouse.warehouse_id if queue is Queue.NAMESPACE_DROP else warehouse.project_id,
            subject=first.namespace_id if queue is Queue.NAMESPACE_DROP else warehouse.warehouse_id,
            name="",
            location=None,
            tabular=None,
            path=(),
            created_at=at,
            scheduled_for=at,
            plan={"force": True, "purge": purge, "user": None, "role": None, "request": str(uuid4())},
        )
        async with stores.changes.change() as change:
            task_id = await change.tasks.enqueue(task)
        dropped = tables[:3] if queue is Queue.NAMESPACE_DROP else tables
        trees.append(Tree(step, transaction, warehouse, tuple(dropped), task_id))
    return trees


async def _kill_cascades(database: str, folder: Path, queue: Queue) -> int:
    steps = [f"{queue.value}:{step.value}:{transaction}" for step, transaction in CASCADES[queue]]
    return await _run_killed(database, folder, steps)


async def _told(pool: Pool, tree: Tree, kind: str) -> int:
    rows = await pool.fetch(_TOLD, str(tree.warehouse.warehouse_id))
    return [json.loads(row[0])["type"] for row in rows].count(kind)


async def test_a_drop_of_a_namespace_that_is_killed_at_any_step_happens_once(
    postgres_url: str, stores: PostgresStores, pool: Pool, tmp_path: Path
) -> None:
    trees = await _queue_cascades(stores, Queue.NAMESPACE_DROP, purge=True)
    assert await _kill_cascades(postgres_url, tmp_path, Queue.NAMESPACE_DROP) == 0, "each was killed at its step"
    await _go_on(stores, tmp_path, Queue.NAMESPACE_DROP)
    for tree in trees:
        where = f"{tree.step} {tree.transaction}"
        for table in tree.tables:
            assert await stores.tabulars.by_id(table.warehouse_id, table.tabular_id) is None, where
            assert await pool.fetchval(_PURGES, table.incarnation) == 1, where
        assert await _told(pool, tree, "dropTable") == 3, where
        assert await _told(pool, tree, "dropNamespace") == 1, where
        again = [] if tree.step is Step.RECORDED else [(1, "failed")]
        assert await stores.attempts(tree.task_id) == [*again, (len(again) + 1, "success")], where
    await pool.execute("delete from task")


async def test_a_drop_of_a_warehouse_that_is_killed_at_any_step_happens_once_and_leaves_no_secret(
    postgres_url: str, stores: PostgresStores, pool: Pool, tmp_path: Path
) -> None:
    trees = await _queue_cascades(stores, Queue.WAREHOUSE_DROP, purge=False)
    assert await _kill_cascades(postgres_url, tmp_path, Queue.WAREHOUSE_DROP) == 0, "each was killed at its step"
    await _go_on(stores, tmp_path, Queue.WAREHOUSE_DROP)
    for tree in trees:
        where = f"{tree.step} {tree.transaction}"
        assert await stores.warehouses.find(tree.warehouse.warehouse_id) is None, where
        assert await _told(pool, tree, "dropTable") == 6, where
        assert await _told(pool, tree, "dropNamespace") == 2, where
        assert await _told(pool, tree, "deleteWarehouse") == 1, where
        again = [] if tree.step is Step.RECORDED else [(1, "failed")]
        assert await stores.attempts(tree.task_id) == [*again, (len(again) + 1, "success")], where
    vending = PlainJudge()
    later = stores.clock.now() + _LATER
    left = await Secrets(vending, stores.warehouses, stores.unnamed_secrets).forget_left(before=later, limit=100)
    forgotten = {
        (tree.step, tree.transaction) for tree in trees if tree.warehouse.storage.secret_id in vending.forgotten
    }
    assert (left, forgotten) == (1, {(Step.COMMITTED, 3)}), "whose worker went between the warehouse and its secret"


def _left(folder: Path, doomed: Doomed) -> int:
    place = folder / doomed.tabular.location.rpartition("/")[2]
    return len(list(place.iterdir())) if place.exists() else 0
