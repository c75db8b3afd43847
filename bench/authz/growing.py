"""What must not grow: `/config` and the list of warehouses with the project, and a create with those who list meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

from bench.authz.company import ANALYST, FEW, LISTED, MADE, MANY, SEEN, SHARES, Company, Decider, people
from bench.authz.decisions import BENCH
from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.plan import Plan
from bench.warehouse import OK, make_table

_FLAT: Final = 1.2
_UNDER_LOAD: Final = 2.0
_ASKED: Final = 60
_CREATED: Final = 30
_READERS: Final = 100
_PAGE: Final = 100
_NUMBERS: Final = itertools.count()


async def run(its: Company, plan: Plan) -> Sequence[Figure]:
    """First what a project's size costs, then what readers cost who makes a table."""
    return [*await _of_size(its, plan), await _of_readers(its, plan)]


async def _of_size(its: Company, plan: Plan) -> Sequence[Figure]:
    figures: list[Figure] = []
    for decider in (Decider.BUILTIN, Decider.OPENFGA):
        for what in ("/config", "warehouses"):
            async with its.connection(decider, ANALYST) as connection:
                ratios: list[float] = []
                few: list[float] = []
                many: list[float] = []
                for _ in range(plan.rounds):
                    one, other = [], []
                    for number in range(_ASKED):
                        one.append(await _asked(connection, what, FEW, number))
                        other.append(await _asked(connection, what, MANY, number))
                    ratios.append(percentile(other, 0.5) / percentile(one, 0.5))
                    few += one
                    many += other
                figures.append(
                    Figure(
                        BENCH,
                        f"{what} of who sees {SEEN}, {its.warehouses:,} warehouses over {SEEN}, {decider.value}",
                        median(ratios),
                        "x",
                        Better.LOWER,
                        goal=_FLAT,
                        detail=f"p50 {percentile(many, 0.5) * 1e3:.2f} ms over {percentile(few, 0.5) * 1e3:.2f},"
                        " at one client, in turns",
                    )
                )
    return figures


async def _asked(connection: Connection, what: str, project: str, number: int) -> float:
    began = time.perf_counter()
    if what == "/config":
        (await connection.get(f"/catalog/v1/config?warehouse={project}/w{number % SEEN + 1}")).expect(OK)
        return time.perf_counter() - began
    reply = await connection.get("/management/v1/warehouse", {"x-project-id": project})
    took = time.perf_counter() - began
    if (shown := len(reply.expect(OK).json()["warehouses"])) != SEEN:
        raise RuntimeError(f"the analyst was shown {shown} warehouses of the project {project}, not {SEEN}")
    return took


async def _of_readers(its: Company, plan: Plan) -> Figure:
    alone: list[float] = []
    among: list[float] = []
    ratios: list[float] = []
    served = Decider.BUILTIN
    for _ in range(plan.rounds):
        one = await _creates(its, served)
        async with _readers(its, served):
            other = await _creates(its, served)
        ratios.append(percentile(other, 0.5) / percentile(one, 0.5))
        alone += one
        among += other
    return Figure(
        BENCH,
        f"a create while {_READERS} people list, {served.value}",
        median(ratios),
        "x without them",
        Better.LOWER,
        goal=_UNDER_LOAD,
        detail=f"p50 {percentile(among, 0.5) * 1e3:.1f} ms over {percentile(alone, 0.5) * 1e3:.1f}; each reader asks for a"
        f" page of {_PAGE} of {its.listed:,} tables a second",
    )


async def _creates(its: Company, decider: Decider) -> list[float]:
    took: list[float] = []
    async with its.admin(decider) as admin:
        for _ in range(_CREATED):
            began = time.perf_counter()
            await make_table(admin, its.warehouse, MADE, f"made_{next(_NUMBERS):06d}")
            took.append(time.perf_counter() - began)
    return took


@contextlib.asynccontextmanager
async def _readers(its: Company, decider: Decider) -> AsyncIterator[None]:
    """People who list until the block ends, from page to page, spread over each second."""
    path = f"{its.warehouse.tables(LISTED)}?pageSize={_PAGE}&pageToken="
    everybody = [who for share in SHARES for who in people(share)]

    async def read(number: int) -> None:
        await asyncio.sleep(number / _READERS)
        while True:
            # On a machine that can't keep up, a reply that nobody takes for seconds is cut off; its reader comes again.
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await go_on(everybody[number % len(everybody)])

    async def go_on(who: str) -> None:
        token = ""
        async with its.connection(decider, who) as connection:
            while True:
                began = time.monotonic()
                page = (await connection.get(f"{path}{token}")).expect(OK).json()
                token = page.get("next-page-token") or ""
                await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))

    reading = [asyncio.create_task(read(number)) for number in range(_READERS)]
    try:
        await asyncio.sleep(1.5)
        yield
    finally:
        failed = [task for task in reading if task.done()]
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    for task in failed:
        task.result()
