"""Loads of tables that each have grants of their own, by thirty people with tokens of their own who are in twenty groups."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.authz.company import AT_ONCE, GROUPS, LOADED, Company, Decider, members
from bench.authz.decisions import BENCH
from bench.figures import Figure, median
from bench.freshness import StaleReadError, counter
from bench.generators import Wrk, run_wrk
from bench.loads import CLIENT_MANAGED
from bench.meter import Usage
from bench.plan import Plan
from bench.warehouse import OK

_SECONDS: Final = 3.0
_WARM_TABLES: Final = 20
"""Of which OpenFGA is asked once for each person before it counts: to ask it of all tables would take a quarter of an hour."""


@dataclass(slots=True)
class _Leg:
    """Loads that somebody decides of, beside the same where everything is allowed.

    Attributes:
        tables: by name.
        seen: of each round: (what allowed everything, what decided).
    """

    decider: Decider
    tables: Sequence[str]
    goal: float
    told: str
    seen: list[tuple[tuple[Wrk, Usage], tuple[Wrk, Usage]]] = field(default_factory=list)


async def run(its: Company, plan: Plan) -> Sequence[Figure]:
    """Legs of all that decide take turns.

    Raises:
        StaleReadError: a load failed.
    """
    tables = [name for name, _ in its.tables]
    legs = [
        _Leg(Decider.BUILTIN, tables, 0.7, f"{len(tables):,} tables"),
        _Leg(Decider.OPENFGA, tables[:_WARM_TABLES], 0.5, f"{_WARM_TABLES} tables that it was asked of before"),
    ]
    await asyncio.gather(*(_load_each(its, Decider.OPENFGA, who, tables[:_WARM_TABLES]) for who in members()))
    for _ in range(plan.rounds):
        for leg in legs:
            base = await _load(its, Decider.ALLOW_ALL, leg.tables, seconds=min(plan.seconds, _SECONDS))
            decided = await _load(its, leg.decider, leg.tables, seconds=min(plan.seconds, _SECONDS))
            leg.seen.append((base, decided))
    return [_figure(leg) for leg in legs]


async def _load_each(its: Company, decider: Decider, who: str, tables: Sequence[str]) -> None:
    async with its.connection(decider, who) as connection:
        for name in tables:
            (await connection.get(its.warehouse.table(LOADED, name))).expect(OK)


async def _load(its: Company, decider: Decider, tables: Sequence[str], *, seconds: float) -> tuple[Wrk, Usage]:
    served = its.served[decider]
    home = served.stack.home
    paths, tokens = home / "loaded-paths", home / "members"
    paths.write_text("".join(f"{its.warehouse.table(LOADED, name)}\n" for name in tables), encoding="ascii")
    tokens.write_text("".join(f"{its.token(who)}\n" for who in members()), encoding="ascii")
    with counter(home / "loaded-counter", things=len(tables)) as told, served.metered() as usage:
        seen = await run_wrk(
            served.url,
            script="fresh.lua",
            arguments=[str(told.path), "nothing", str(OK), str(paths), str(tokens)],
            seconds=seconds,
            connections=AT_ONCE,
            headers=CLIENT_MANAGED,
        )
    if seen.faults or not seen.checked:
        raise StaleReadError(
            f"of {seen.requests} loads, decided by {decider.value}: {seen.faults or 'none was checked'}"
        )
    return seen, usage


def _figure(leg: _Leg) -> Figure:
    ratios = [one.per_second / base.per_second for (base, _), (one, _) in leg.seen]
    middle = sorted(zip(ratios, leg.seen, strict=True), key=lambda each: each[0])[len(ratios) // 2][1]
    (base, _), (one, usage) = middle
    return Figure(
        BENCH,
        f"loads of {leg.told} by {AT_ONCE} people in {GROUPS} groups, {leg.decider.value}",
        median(ratios),
        "of allow-all",
        goal=leg.goal,
        detail=f"{one.per_second:,.0f}/s over {base.per_second:,.0f}/s, p50 {one.p50 / 1000:.1f} ms, "
        f"p99 {one.p99 / 1000:.1f} ms, {usage.cpu['Lakeward'] / one.requests * 1e6:.0f} µs of our CPU and "
        f"{usage.cpu.get('Postgres', 0) / one.requests * 1e6:.0f} of Postgres' each",
    )
