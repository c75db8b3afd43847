"""What making an event and writing it into the outbox adds to a commit.

Two Lakewards over one database: the product, and one that tells nobody (`untold`). They take turns, with tables of their own.
Nobody puts events in order meanwhile, since the bench holds the lease for that: what the relay costs is measured as the backlog's
CPU. Both audit, as whoever installs Lakeward does.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, Final

import asyncpg

from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import OK, Warehouse, append, make_namespace, make_table, make_warehouse, table_of
from tests.support.installations import Composition

_BENCH: Final = "events"
_NAMESPACE: Final = "told"
_WRITERS: Final = 8
_TURNS: Final = 5  # of a round
_ALONE: Final = 60  # commits of one writer, a turn
_EACH: Final = 25  # commits of each of several, a turn
_GOAL: Final = 1.10
_UNTOLD: Final = "bench.events.untold"
_HOLD: Final = """
insert into lakeward_catalog.lease as held (name, holder, fence, expires_at)
values ('events-sequencer', 'bench', 1, clock_timestamp() + interval '1 hour')
on conflict (name) do update set holder = excluded.holder, fence = held.fence + 1, expires_at = excluded.expires_at
"""
LET_GO: Final = "update lakeward_catalog.lease set expires_at = clock_timestamp() where holder = 'bench'"


@contextmanager
def nothing_in_order(database: str) -> Iterator[None]:
    """Hold the lease under which the catalog's events are put in order; it is let go with the block."""
    asyncio.run(sql(database, _HOLD))
    try:
        yield
    finally:
        asyncio.run(sql(database, LET_GO))


async def sql(database: str, statement: str, *arguments: object) -> Any:  # noqa: ANN401 - the column decides
    """The first column of a statement's first row."""
    connection = await asyncpg.connect(database)
    try:
        return await connection.fetchval(statement, *arguments)
    finally:
        await connection.close()


@dataclasses.dataclass(slots=True)
class _Seen:
    """What one of the two cost, a value a turn.

    Attributes:
        took: p50 of one writer's commits, in milliseconds.
        cpu: of Lakeward and Postgres for a commit of eight writers, in microseconds.
    """

    took: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)


def run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    """A commit's time and CPU over those of the same commit without an event."""
    with (
        nothing_in_order(parts.database),
        lakeward(parts, Composition.ONE_PROCESS) as telling,
        lakeward(parts, Composition.ONE_PROCESS, module=_UNTOLD) as silent,
    ):
        seen = asyncio.run(_measured({"with": telling, "without": silent}, plan))
        if not asyncio.run(
            sql(parts.database, "select count(*) from lakeward_catalog.outbox where verb = 'committed'")
        ):
            raise RuntimeError("no commit wrote an event")
        asyncio.run(sql(parts.database, "delete from lakeward_catalog.outbox"))
    return [
        _figure("time of a commit, one writer", "took", "ms", seen),
        _figure("CPU of a commit, eight writers", "cpu", "µs", seen),
    ]


async def _measured(served: Mapping[str, Lakeward], plan: Plan) -> Mapping[str, _Seen]:
    """Many short turns, in each of which both make as many commits to tables as old as each other's.

    What the machine does by itself is worth more than what is looked for, so it must come to both alike: one writer's commits
    take turns one by one, and several writers' in legs of a second or so. A table that had more commits would have a larger file.
    """
    seen = {name: _Seen() for name in served}
    warehouse = await make_warehouse(served["with"])
    async with Connection(served["with"].url) as client:
        await make_namespace(client, warehouse, _NAMESPACE)
    for turn in range(plan.rounds * _TURNS + 1):
        order = sorted(served, reverse=bool(turn % 2))
        alone = await _one_by_one(served, order, warehouse, turn)
        for name in order:
            cpu = await _several(served[name], warehouse, f"{name}-{turn}")
            if turn:  # the first one warms both
                seen[name].took.append(percentile(alone[name], 0.5) * 1000)
                seen[name].cpu.append(cpu * 1e6)
    return seen


async def _one_by_one(
    served: Mapping[str, Lakeward], order: Sequence[str], warehouse: Warehouse, turn: int
) -> Mapping[str, Sequence[float]]:
    """Seconds of one writer's commits, of each of the two."""
    took: dict[str, list[float]] = {name: [] for name in order}
    async with AsyncExitStack() as ending:
        writers = {
            name: await ending.enter_async_context(_writer(served[name], warehouse, f"alone-{name}-{turn}"))
            for name in order
        }
        for _ in range(_ALONE):
            for name in order:
                began = time.perf_counter()
                await writers[name]()
                took[name].append(time.perf_counter() - began)
    return took


async def _several(served: Lakeward, warehouse: Warehouse, name: str) -> float:
    """Seconds of CPU, of Lakeward and Postgres, for a commit while several writers make them."""
    async with AsyncExitStack() as ending:
        writers = [
            await ending.enter_async_context(_writer(served, warehouse, f"several-{name}-{number}"))
            for number in range(_WRITERS)
        ]

        async def write(commit: Callable[[], Awaitable[None]]) -> None:
            for _ in range(_EACH):
                await commit()

        with served.metered() as usage:
            await asyncio.gather(*map(write, writers))
    return (usage.cpu["Lakeward"] + usage.cpu["Postgres"]) / (_WRITERS * _EACH)


@asynccontextmanager
async def _writer(served: Lakeward, warehouse: Warehouse, name: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Makes a table, and one commit to it whenever it is called."""
    async with Connection(served.url) as connection:
        table = await make_table(connection, warehouse, _NAMESPACE, name)
        path = warehouse.table(_NAMESPACE, name)

        async def commit() -> None:
            nonlocal table
            _, body = append(table)
            table = table_of((await connection.post(path, body)).expect(OK))

        yield commit


def _figure(name: str, field: str, unit: str, seen: Mapping[str, _Seen]) -> Figure:
    more, less = (getattr(seen[each], field) for each in ("with", "without"))
    ratios = [one / other for one, other in zip(more, less, strict=True)]
    return Figure(
        _BENCH,
        f"{name}, with its event",
        median(ratios),
        "of one without",
        Better.LOWER,
        goal=_GOAL,
        detail=f"{median(more):.4g} {unit} over {median(less):.4g}; the middle half of {len(ratios)} turns "
        f"{percentile(ratios, 0.25):.2f} to {percentile(ratios, 0.75):.2f}",
    )
