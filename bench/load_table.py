"""Loads of a 3 KB table against the same bytes selected from the same Postgres, while a writer commits to the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.figures import Figure, median
from bench.freshness import Counter, StaleReadError, counter, writing
from bench.generators import Wrk, run_pgbench
from bench.loads import CLIENT_MANAGED, NAMESPACE, WRITTEN, Leg, legs, load, prepare
from bench.meter import Usage
from bench.plan import Plan
from bench.selects import select_of
from bench.stack import Lakeward
from bench.warehouse import Warehouse, make_warehouse
from tests.support.installations import Composition

BENCH: Final = "load_table"
_BOUNDS: Final = {Composition.ONE_PROCESS: (0.25, 0.15), Composition.FOUR_PROCESSES: (0.15, 0.08)}


@dataclass(slots=True)
class Seen:
    """What the rounds of a leg gave."""

    loads: list[Wrk] = field(default_factory=list)
    selects: list[float] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return median([one.per_second / select for one, select in zip(self.loads, self.selects, strict=True)])


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """All legs, and pgbench once a round, in turns.

    Raises:
        StaleReadError: a reply was older than it may be, or the check was found blind.
    """
    warehouse = await make_warehouse(served)
    tag, body = await prepare(served, warehouse)
    script = await select_of(served.stack, "body", [body])
    kinds = legs(tag)
    seen = {leg.name: Seen() for leg in kinds}
    path = warehouse.table(NAMESPACE, WRITTEN)
    with counter(served.stack.home / "acknowledged") as told:
        await _see_a_fault(served, warehouse, kinds[0], told)
        async with writing(served.url, path, told, headers=CLIENT_MANAGED) as written:
            for _ in range(plan.rounds):
                selects = await run_pgbench(served.stack, script=script, seconds=plan.seconds)
                for leg in kinds:
                    seen[leg.name].selects.append(selects)
                    with served.metered() as usage:
                        seen[leg.name].loads.append(await _fresh(served, warehouse, leg, told, plan.seconds))
                    seen[leg.name].usages.append(usage)
    if written.stale_tags:
        raise StaleReadError(f"{written.stale_tags} conditional loads were told that nothing changed after a commit")
    writes = f"{written.commits} commits meanwhile"
    return [
        _figure(served.composition, leg, seen[leg.name], size=len(body), cores=cores, writes=writes) for leg in kinds
    ]


async def _fresh(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter, seconds: float) -> Wrk:
    counted = await load(served, warehouse, leg, told, seconds=seconds)
    if counted.faults or counted.checked == 0:
        raise StaleReadError(f"{leg.name}: of {counted.requests} replies {counted.faults or 'none was checked'}")
    return counted


async def _see_a_fault(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter) -> None:
    """Tell of a commit that never was: a check that does not notice would notice nothing. Warms up, too."""
    told.tell(10**9)
    counted = await load(served, warehouse, leg, told, seconds=1)
    told.tell(0)
    if counted.stale != counted.checked or counted.checked == 0:
        raise StaleReadError(
            f"the check is blind: {counted.stale} of {counted.checked} impossible replies were noticed"
        )


def _figure(composition: Composition, leg: Leg, seen: Seen, *, size: int, cores: int, writes: str) -> Figure:
    goal, floor = _BOUNDS[composition] if leg.judged else (None, None)
    middle = min(seen.loads, key=lambda each: abs(each.per_second - median([one.per_second for one in seen.loads])))
    usage = seen.usages[seen.loads.index(middle)]
    return Figure(
        BENCH,
        f"{leg.name}, {composition}",
        seen.ratio,
        "of pgbench",
        goal=goal,
        floor=floor,
        detail=(
            f"{middle.per_second:,.0f}/s at p50 {middle.p50 / 1000:.1f} ms, p99 {middle.p99 / 1000:.1f} ms, "
            f"{usage.cpu['Lakeward'] / middle.requests * 1e6:.0f} µs of our CPU each; "
            f"pgbench {median(seen.selects):,.0f}/s; {size} bytes; {writes}; "
            f"{sum(one.checked for one in seen.loads):,} replies checked; {usage.told(cores=cores)}"
        ),
    )
