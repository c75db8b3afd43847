"""Commits to distinct tables, and to one table by writers that retry as Iceberg's clients do."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.meter import Usage
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import (
    CONFLICT,
    OK,
    Warehouse,
    append,
    check_log,
    make_namespace,
    make_table,
    make_warehouse,
    table_of,
)
from tests.support.installations import Composition

BENCH: Final = "commit"
_NAMESPACE: Final = "commits"
_WRITERS: Final = (1, 8, 32)
_GOAL: Final = 1.6  # of 32 writers over 8
_FLOOR: Final = 1.2
# as Iceberg's: commit.retry.num-retries and .min-wait-ms, doubled each time
_RETRIES: Final = 4
_FIRST_PAUSE: Final = 0.1


@dataclass(slots=True)
class Tally:
    """What writers did.

    Attributes:
        acknowledged: ids of snapshots whose commit was answered with success.
        took: seconds of each of them, retries included.
        conflicts: answers of 409, each followed by a load and another try.
        given_up: commits that lost four retries too.
    """

    acknowledged: list[int] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    conflicts: int = 0
    given_up: int = 0


@dataclass(slots=True)
class _Legs:
    """What some writers did, a table each.

    Attributes:
        rates: commits a second, of each leg.
        took: seconds of each commit.
    """

    rates: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """All of it, one kind after the other."""
    warehouse = await make_warehouse(served)
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
    figures = await _distinct(served, warehouse, plan, cores=cores)
    faults = 0
    for writers in _WRITERS:
        figure, wrong = await _one_table(served, warehouse, writers, plan)
        figures.append(figure)
        faults += wrong
    figures.append(
        Figure(
            BENCH,
            f"snapshots lost or doubled, {served.composition}",
            faults,
            "",
            Better.LOWER,
            goal=0,
            floor=0,
            detail="the snapshots and the log of every table against what was acknowledged",
        )
    )
    return figures


async def _distinct(served: Lakeward, warehouse: Warehouse, plan: Plan, *, cores: int) -> list[Figure]:
    seen = {writers: _Legs() for writers in _WRITERS}
    compared = served.composition is Composition.ONE_PROCESS
    for turn in range(plan.rounds):
        # each leaves the next one its backlog: what is compared takes turns in being first
        for half, kinds in enumerate((_WRITERS, _WRITERS[:0:-1])[: 1 + compared]):
            for writers in kinds:
                names = [f"own-{writers}-{turn}-{half}-{writer}" for writer in range(writers)]
                await _leg(served, warehouse, names, plan.seconds, seen[writers])
    figures = [
        Figure(
            BENCH,
            f"{writers} writers, a table each, {served.composition}",
            median(legs.rates),
            "commits/s",
            detail=f"p50 {percentile(legs.took, 0.5) * 1000:.0f} ms, p99 {percentile(legs.took, 0.99) * 1000:.0f} ms; "
            f"{legs.usages[-1].told(cores=cores)}",
        )
        for writers, legs in seen.items()
    ]
    if compared:
        few, many = (seen[writers].rates for writers in _WRITERS[1:])
        ratios = [more / less for more, less in zip(many, few, strict=True)]
        figures.append(
            Figure(
                BENCH,
                f"{_WRITERS[2]} writers, a table each, {served.composition}",
                median(ratios),
                f"of {_WRITERS[1]} writers",
                goal=_GOAL,
                floor=_FLOOR,
                detail=f"{median(many):.0f}/s over {median(few):.0f}/s; "
                f"turns {', '.join(f'{ratio:.2f}' for ratio in ratios)}",
            )
        )
    return figures


async def _leg(served: Lakeward, warehouse: Warehouse, names: Sequence[str], seconds: float, legs: _Legs) -> None:
    with served.metered() as usage:
        tallies, took = await storm(served, warehouse, names, names, seconds=seconds)
    legs.usages.append(usage)
    legs.rates.append(sum(len(tally.acknowledged) for tally in tallies) / took)
    legs.took += [each for tally in tallies for each in tally.took]


async def _one_table(served: Lakeward, warehouse: Warehouse, writers: int, plan: Plan) -> tuple[Figure, int]:
    rates: list[float] = []
    every = Tally()
    faults = 0
    for turn in range(plan.rounds):
        name = f"shared-{writers}-{turn}"
        tallies, seconds = await storm(served, warehouse, [name], [name] * writers, seconds=plan.seconds)
        made = [snapshot for tally in tallies for snapshot in tally.acknowledged]
        rates.append(len(made) / seconds)
        for tally in tallies:
            every.took += tally.took
            every.conflicts += tally.conflicts
            every.given_up += tally.given_up
        async with Connection(served.url) as connection:
            table = table_of(await connection.get(warehouse.table(_NAMESPACE, name)))
        lost, doubled = check_log(table, made)
        # nobody else wrote, and no answer was left unknown: more than was acknowledged would be a doubled commit, too
        faults += lost + doubled + abs(len(table.metadata.snapshots) - len(made))
    return (
        Figure(
            BENCH,
            f"{writers} writers, one table, {served.composition}",
            median(rates),
            "commits/s",
            detail=f"p50 {percentile(every.took, 0.5) * 1000:.0f} ms, p99 {percentile(every.took, 0.99) * 1000:.0f} ms, "
            f"retries included; {every.conflicts} conflicts, {every.given_up} given up after {_RETRIES} retries",
        ),
        faults,
    )


async def storm(
    served: Lakeward,
    warehouse: Warehouse,
    tables: Sequence[str],
    targets: Sequence[str],
    *,
    seconds: float = math.inf,
    commits: int | None = None,
    namespace: str = _NAMESPACE,
) -> tuple[Sequence[Tally], float]:
    """Make tables, and let a writer loose on each target: (what each did, how long it took).

    Args:
        served: where.
        warehouse: where the tables are made.
        tables: their names.
        targets: a table's name for each writer.
        seconds: after which nobody begins another commit.
        commits: after which a writer has done its part.
        namespace: of the tables.
    """
    async with Connection(served.url) as connection:
        for name in tables:
            await make_table(connection, warehouse, namespace, name)
    began = time.monotonic()
    until = began + seconds
    paths = [warehouse.table(namespace, name) for name in targets]
    tallies = await asyncio.gather(*(_writer(served.url, path, until, commits) for path in paths))
    return tallies, time.monotonic() - began


async def _writer(url: str, path: str, until: float, commits: int | None) -> Tally:
    tally = Tally()
    async with Connection(url) as connection:
        table = table_of(await connection.get(path))
        while (began := time.monotonic()) < until and len(tally.acknowledged) != commits:
            pause = _FIRST_PAUSE
            for attempt in range(_RETRIES + 1):
                snapshot_id, body = append(table)
                reply = (await connection.post(path, body)).expect(OK, CONFLICT)
                if reply.status == OK:
                    tally.acknowledged.append(snapshot_id)
                    tally.took.append(time.monotonic() - began)
                    table = table_of(reply)
                    break
                tally.conflicts += 1
                if attempt < _RETRIES:
                    await asyncio.sleep(pause * random.uniform(1, 1.1))
                    pause *= 2
                table = table_of(await connection.get(path))
            else:
                tally.given_up += 1
    return tally
