"""What making an event and writing it into the outbox adds to a commit.

Two Lakewards over one database: the product, and one that tells nobody (`untold`). They take turns within each round, with tables
of their own kind. Nobody puts events in order meanwhile, since the bench holds the lease for that: what the relay costs is
measured as the backlog's CPU. Neither audits, for the records of the audit are made of the events.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import asyncpg

from bench.client import Connection
from bench.commit import storm
from bench.figures import Better, Figure, median, percentile
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import Warehouse, make_namespace, make_warehouse
from tests.support.installations import Composition

_BENCH: Final = "events"
_NAMESPACE: Final = "told"
_WRITERS: Final = 8
_ROUNDS: Final = 3
_GOAL: Final = 1.10
_UNTOLD: Final = "bench.events.untold"
_UNAUDITED: Final[Mapping[str, str]] = {"LAKEWARD__AUDIT__RECORDS": "off"}
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
    """What one of the two cost, a value a round.

    Attributes:
        took: p50 of one writer's commits, in milliseconds.
        cpu: of Lakeward and Postgres for a commit of eight writers, in microseconds.
    """

    took: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)


def run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    """A commit's time and CPU over those of the same commit without an event."""
    parts = dataclasses.replace(parts, environment={**parts.environment, **_UNAUDITED})
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
    seen = {name: _Seen() for name in served}
    first = served["with"]
    warehouse = await make_warehouse(first)
    async with Connection(first.url) as client:
        await make_namespace(client, warehouse, _NAMESPACE)
    for turn in range(min(plan.rounds, _ROUNDS) + 1):
        for name in sorted(served, reverse=bool(turn % 2)):
            took, cpu = await _leg(served[name], warehouse, f"{name}-{turn}", seconds=plan.seconds)
            if turn:  # the first round warms both
                seen[name].took.append(took)
                seen[name].cpu.append(cpu)
    return seen


def _figure(name: str, field: str, unit: str, seen: Mapping[str, _Seen]) -> Figure:
    more, less = (getattr(seen[each], field) for each in ("with", "without"))
    return Figure(
        _BENCH,
        f"{name}, with its event",
        median([one / other for one, other in zip(more, less, strict=True)]),
        "of one without",
        Better.LOWER,
        goal=_GOAL,
        detail=f"{median(more):.4g} {unit} over {median(less):.4g}; rounds "
        + ", ".join(f"{one / other:.2f}" for one, other in zip(more, less, strict=True)),
    )


async def _leg(served: Lakeward, warehouse: Warehouse, name: str, *, seconds: float) -> tuple[float, float]:
    """(p50 of one writer in milliseconds, CPU of a commit of eight in microseconds)."""
    alone = [f"alone-{name}"]
    (tally,), _ = await storm(served, warehouse, alone, alone, seconds=seconds, namespace=_NAMESPACE)
    several = [f"several-{name}-{writer}" for writer in range(_WRITERS)]
    with served.metered() as usage:
        tallies, _ = await storm(served, warehouse, several, several, seconds=seconds, namespace=_NAMESPACE)
    commits = sum(len(each.acknowledged) for each in tallies)
    spent = usage.cpu["Lakeward"] + usage.cpu["Postgres"]
    return percentile(tally.took, 0.5) * 1000, spent / commits * 1e6
