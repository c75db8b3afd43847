"""A thousand questions in one request, as policy engines ask them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from bench.authz.company import Company, Decider, members
from bench.authz.decisions import BATCH_GOAL, BENCH
from bench.figures import Better, Figure, percentile
from bench.plan import Plan
from bench.warehouse import OK

_ITEMS: Final = 1_000
_TIMES: Final = 10
_GOALS: Final = {Decider.BUILTIN: BATCH_GOAL, Decider.OPENFGA: None}


async def run(its: Company, plan: Plan) -> Sequence[Figure]:
    """Each decider in turns; the whole request over HTTP."""
    checks = [
        {"operation": {"table": {"action": {"action": "read_data"}, "warehouse-id": its.warehouse.id, "table-id": own}}}
        for _, own in its.tables[:_ITEMS]
    ]
    took: dict[Decider, list[float]] = {decider: [] for decider in _GOALS}
    for _ in range(plan.rounds):
        for decider, each in took.items():
            async with its.connection(decider, members()[0]) as connection:
                for _ in range(_TIMES if decider is Decider.BUILTIN else 1):
                    began = time.perf_counter()
                    reply = await connection.post("/management/v1/action/batch-check", {"checks": checks})
                    each.append(time.perf_counter() - began)
                    if not all(one["allowed"] for one in reply.expect(OK).json()["results"]):
                        raise RuntimeError("a member of all groups may read each table, and was told no")
    return [
        Figure(
            BENCH,
            f"a request of {len(checks):,} checks, {decider.value}",
            percentile(each, 0.5) * 1e3,
            "ms",
            Better.LOWER,
            goal=_GOALS[decider],
            detail=f"p50 of {len(each)}, at one client; p99 {percentile(each, 0.99) * 1e3:.0f} ms",
        )
        for decider, each in took.items()
    ]
