"""What operators wait for: warehouses in pages, the configuration among many, search, tasks, and a large namespace's drop.

Rows are copied in the database: ten thousand warehouses, a hundred thousand tables to search and ten thousand to drop would take
the better part of an hour over HTTP, and what is measured does not look at how they came to be.
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import logging
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast
from uuid import UUID, uuid4

from bench.client import Connection
from bench.figures import Better, Figure, percentile
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import NO_CONTENT, OK, Warehouse, make_namespace, make_table, make_warehouse
from lakeward_catalog.adapters.postgres.changes import PostgresChange, PostgresChanges
from lakeward_catalog.adapters.postgres.tasks import PostgresTasks
from lakeward_catalog.application.workers import Progress, Terms, Worker
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.tasks import NewTask, Queue, Task
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.system import SystemClock, SystemIds

BENCH: Final = "management"
SCHEMA: Final = "lakeward_catalog"
FEW: Final = 10
_PAGE: Final = 100
_SEARCHED_TO_LISTED: Final = 10  # a hundred thousand tables are searched where ten thousand are dropped
_WORKERS: Final = 2
_COPY_WAREHOUSES: Final = """
insert into warehouse
select (json_populate_record(w, json_build_object('warehouse_id', gen_random_uuid(), 'name', 'copy-' || g,
        'name_key', 'copy-' || g, 'base_location', w.base_location || '/copy-' || g))).*
  from warehouse w, generate_series($2::integer, $3::integer) g where w.warehouse_id = $1
"""
_COPY_TABLES: Final = """
with made as (
    select t.*, gen_random_uuid() as fresh, gen_random_uuid() as body, g
      from tabular t, generate_series(1, $3::integer) g where t.warehouse_id = $1 and t.name = $2),
rows as (
    insert into tabular (warehouse_id, incarnation, tabular_id, kind, state, namespace_id, name, name_key, location,
           location_key, location_digest, metadata_id, metadata_location, created_at)
    select warehouse_id, fresh, fresh, kind, state, namespace_id, $4 || '_' || md5(g::text) || g, $4 || '_' || md5(g::text) || g,
           location || fresh, location || fresh || '/', uuid_send(fresh), body, metadata_location || fresh,
           created_at + g * interval '1 millisecond'
      from made returning warehouse_id, incarnation, metadata_id)
insert into tabular_body (warehouse_id, metadata_id, incarnation, everything_ids, everything_crcs, everything_sizes,
       everything_lengths, everything_own, refs_ids, refs_crcs, refs_sizes, refs_lengths, refs_own)
select r.warehouse_id, r.metadata_id, r.incarnation, b.everything_ids, b.everything_crcs, b.everything_sizes,
       b.everything_lengths, b.everything_own, b.refs_ids, b.refs_crcs, b.refs_sizes, b.refs_lengths, b.refs_own
  from rows r, tabular t join tabular_body b on b.warehouse_id = t.warehouse_id and b.metadata_id = t.metadata_id
 where t.warehouse_id = $1 and t.name = $2
"""
_OWN_QUEUE: Final = "update task set queue = 'bench' where queue = 'namespace_drop' and warehouse_id = $1"
_NAMES: Final = "select name from tabular where warehouse_id = $1 order by incarnation limit 1000"
_DROPPED: Final = "select count(*) from {} where kind = 'table' and verb = 'dropped' and stream = $1"


async def run(served: Lakeward, plan: Plan) -> Sequence[Figure]:
    """Each in turn.

    Raises:
        RuntimeError: a drop that left something, or told of too little.
    """
    warehouses = [await make_warehouse(served) for _ in range(FEW)]
    async with (
        open_pool(SecretStr(served.stack.database), size=4, name="bench", schema=SCHEMA) as pool,
        Connection(served.url) as connection,
    ):
        few = await _configs(connection, [each.name for each in warehouses], plan)
        await pool.execute(_COPY_WAREHOUSES, UUID(warehouses[0].id), FEW + 1, plan.tables)
        await pool.execute("analyze warehouse")
        names = [f"copy-{number}" for number in range(FEW + 1, plan.tables + 1)]
        many = await _configs(connection, random.sample(names, min(len(names), plan.many)), plan)
        return [
            await _page(connection, plan),
            _config_figure(few, many, plan),
            await _search(connection, pool, warehouses[1], plan),
            await _tasks(pool, warehouses[2], plan),
            await _drop(connection, pool, warehouses[3], plan),
        ]


async def _configs(connection: Connection, names: Sequence[str], plan: Plan) -> list[float]:
    """Milliseconds of each, names by turns; the first of each is not counted."""
    for name in names:
        (await connection.get(f"/catalog/v1/config?warehouse={name}")).expect(OK)
    return [
        await _timed(connection, f"/catalog/v1/config?warehouse={names[turn % len(names)]}")
        for turn in range(plan.pages * 4)
    ]


async def _timed(connection: Connection, path: str) -> float:
    began = time.perf_counter()
    (await connection.get(path)).expect(OK)
    return (time.perf_counter() - began) * 1000


def _config_figure(few: Sequence[float], many: Sequence[float], plan: Plan) -> Figure:
    return Figure(
        BENCH,
        f"/catalog/v1/config at {plan.tables} warehouses over at {FEW}, p50",
        percentile(many, 0.5) / percentile(few, 0.5),
        "x",
        Better.LOWER,
        goal=1.2,
        floor=2.0,
        detail=f"p50 {percentile(many, 0.5):.2f} ms over {percentile(few, 0.5):.2f} ms, one client",
    )


async def _page(connection: Connection, plan: Plan) -> Figure:
    path = f"/management/v1/warehouse?pageSize={_PAGE}"
    shown = (await connection.get(path)).expect(OK).json()
    if len(shown["warehouses"]) != _PAGE or not shown["next-page-token"]:
        raise RuntimeError(f"the first page has {len(shown['warehouses'])} warehouses")
    times = [await _timed(connection, path) for _ in range(plan.pages)]
    return Figure(
        BENCH,
        f"first page of {_PAGE} out of {plan.tables} warehouses, p50",
        percentile(times, 0.5),
        "ms",
        Better.LOWER,
        detail=f"p99 {percentile(times, 0.99):.2f} ms, one client",
    )


async def _search(connection: Connection, pool: Pool, warehouse: Warehouse, plan: Plan) -> Figure:
    tables = plan.tables * _SEARCHED_TO_LISTED
    await _tables(connection, pool, warehouse, "searched", tables)
    names = [row[0] for row in await pool.fetch(_NAMES, UUID(warehouse.id))]
    path = f"/management/v1/warehouse/{warehouse.id}/search-tabular"
    times: list[float] = []
    for turn in range(plan.pages):
        name = names[turn % len(names)]
        sought = name[:12] + name[13:24]  # as somebody types it: not all of it, and a letter missing
        began = time.perf_counter()
        found = (await connection.post(path, {"search": sought})).expect(OK).json()
        times.append((time.perf_counter() - began) * 1000)
        if not found["tabulars"]:
            raise RuntimeError(f"a search for {sought} found nothing")
    return Figure(
        BENCH,
        f"search over {tables} tables, p99",
        percentile(times, 0.99),
        "ms",
        Better.LOWER,
        goal=50,
        floor=200,
        detail=f"p50 {percentile(times, 0.5):.2f} ms, one client; half a name with a letter missing",
    )


async def _tables(connection: Connection, pool: Pool, warehouse: Warehouse, namespace: str, count: int) -> None:
    """A namespace with so many copies of one table that was made over HTTP."""
    await make_namespace(connection, warehouse, namespace)
    await make_table(connection, warehouse, namespace, "first")
    async with pool.changing() as changing:
        await changing.execute(_COPY_TABLES, UUID(warehouse.id), "first", count, "orders", timeout=600)
        await changing.execute("analyze tabular", timeout=600)


class _Own(enum.StrEnum):
    """A queue that nobody but this bench knows: the product's workers leave its tasks alone."""

    BENCH = "bench"


@dataclasses.dataclass
class _Empty:
    """Work of no time; says when so much is done."""

    left: int
    over: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    async def __call__(self, _: Task, __: Progress) -> str:
        self.left -= 1
        if not self.left:
            self.over.set()
        return ""


async def _tasks(pool: Pool, warehouse: Warehouse, plan: Plan) -> Figure:
    """In one process with two workers, over the same database; the tasks of one warehouse, which all stand in one line."""
    now = datetime.now(UTC)
    task = NewTask(
        queue=Queue.NAMESPACE_DROP,
        owner=WarehouseId(UUID(warehouse.id)),
        subject=None,
        name="",
        location=None,
        tabular=None,
        path=(),
        created_at=now,
        scheduled_for=now,
    )
    changes = PostgresChanges(pool, clock=SystemClock(), ids=SystemIds())
    async with changes.change() as change:
        await change.tasks.enqueue_all([dataclasses.replace(task, subject=uuid4()) for _ in range(plan.tables)])
        await cast("PostgresChange", change).connection.execute(_OWN_QUEUE, UUID(warehouse.id))
    empty, tasks = _Empty(plan.tables), PostgresTasks(pool)
    terms = Terms(silence=timedelta(minutes=5))
    worker = Worker(cast("Queue", _Own.BENCH), tasks, empty, SystemClock(), LocalBell(), random.random, terms)
    logging.getLogger("lakeward_catalog.workers").setLevel(logging.WARNING)  # ten thousand lines are no figure
    began = time.perf_counter()
    workers = [asyncio.create_task(worker.work()) for _ in range(_WORKERS)]
    await empty.over.wait()
    seconds = time.perf_counter() - began
    for each in workers:
        each.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return Figure(
        BENCH,
        f"tasks/s through empty workers, {_WORKERS} side by side",
        plan.tables / seconds,
        "/s",
        goal=1000,
        floor=300,
        detail=f"{plan.tables} tasks of one warehouse in {seconds:.1f} s, each claimed, worked on and recorded",
    )


async def _drop(connection: Connection, pool: Pool, warehouse: Warehouse, plan: Plan) -> Figure:
    await _tables(connection, pool, warehouse, "dropped", plan.tables)
    began = time.perf_counter()
    path = f"{warehouse.namespace('dropped')}?recursive=true&force=true"
    (await connection.request("DELETE", path)).expect(NO_CONTENT)
    seconds = time.perf_counter() - began
    told = 0
    for table in ("outbox", "event_log"):
        told += await pool.fetchval(_DROPPED.format(table), warehouse.id)
    if told < plan.tables + 1:
        raise RuntimeError(f"{plan.tables + 1} tables were dropped, and {told} told of")
    return Figure(
        BENCH,
        f"drop of a namespace with {plan.tables} tables, in one transaction",
        seconds,
        "s",
        Better.LOWER,
        goal=10,
        floor=30,
        detail=f"{told} events of tables",
    )
