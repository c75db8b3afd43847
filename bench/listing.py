"""A page of 100 tables out of 100, and out of 10,000; and what pages of 100 and of 1,000 cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote

from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.pauses import Pauses, longest
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse

BENCH: Final = "listing"
PAGE: Final = 100
SIZES: Final = (PAGE, 1000)
_SMALL: Final = "small"
_LARGE: Final = "large"
_MOST_RATIO: Final = 1.3
_CREATORS: Final = 16


async def run(served: Lakeward, plan: Plan, *, say: Callable[[str], None]) -> Sequence[Figure]:
    """Both namespaces, page by page in turns at one client.

    Raises:
        RuntimeError: a listing that does not show each table once.
    """
    warehouse = await make_warehouse(served)
    async with Connection(served.url) as connection:
        for namespace in (_SMALL, _LARGE):
            await make_namespace(connection, warehouse, namespace)
    await _create(served, warehouse, _SMALL, PAGE)
    began = time.monotonic()
    await _create(served, warehouse, _LARGE, plan.tables)
    seconds = time.monotonic() - began
    say(f"{plan.tables} tables after {seconds:.0f} s")
    ratios: list[float] = []
    small: list[float] = []
    large: list[float] = []
    pauses: list[Pauses] = []
    async with Connection(served.url) as connection:
        for _ in range(plan.rounds):
            with served.metered() as usage:
                one, many = await _turns(connection, warehouse, plan)
            pauses.append(usage.pauses)
            ratios.append(percentile(many, 0.5) / percentile(one, 0.5))
            small += one
            large += many
        costs = [await _cost(connection, served, warehouse, plan, size) for size in SIZES]
    detail = (
        f"p50 {percentile(large, 0.5):.2f} ms over {percentile(small, 0.5):.2f} ms, "
        f"p99 {percentile(large, 0.99):.2f} over {percentile(small, 0.99):.2f}; pages from all over the namespace;"
        f" longest {longest(pauses)}"
    )
    created = Figure(
        BENCH,
        f"creates/s, {_CREATORS} clients, {served.composition}",
        plan.tables / seconds,
        "/s",
        detail=f"{plan.tables} tables in {seconds:.0f} s",
    )
    ratio = Figure(
        BENCH,
        f"a page of {PAGE} out of {plan.tables} over one out of {PAGE}, {served.composition}",
        median(ratios),
        "x",
        Better.LOWER,
        goal=_MOST_RATIO,
        floor=_MOST_RATIO,
        detail=detail,
    )
    return [ratio, *costs, created]


async def _turns(connection: Connection, warehouse: Warehouse, plan: Plan) -> tuple[list[float], list[float]]:
    """Milliseconds of each page: of the small namespace, and of the large one, walked from page to page."""
    one: list[float] = []
    many: list[float] = []
    token, seen = "", set[str]()
    for _ in range(max(plan.pages // plan.rounds, 10)):
        took, _, _ = await _page(connection, warehouse, _SMALL, "")
        one.append(took)
        took, names, token = await _page(connection, warehouse, _LARGE, token)
        many.append(took)
        if len(names) != PAGE or seen & names:
            raise RuntimeError(f"a page held {len(names)} tables, {len(seen & names)} of them for the second time")
        seen = seen | names if token else set()  # at the end it starts again
    return one, many


async def _cost(connection: Connection, served: Lakeward, warehouse: Warehouse, plan: Plan, size: int) -> Figure:
    """Our CPU for the first page of the large namespace, again and again."""
    took: list[float] = []
    with served.metered() as usage:
        for _ in range(plan.pages):
            milliseconds, names, _ = await _page(connection, warehouse, _LARGE, "", size=size)
            took.append(milliseconds)
            if len(names) != min(size, plan.tables):
                raise RuntimeError(f"a page of {size} held {len(names)} tables")
    return Figure(
        BENCH,
        f"our CPU for a page of {size}, {served.composition}",
        usage.cpu["Lakeward"] / plan.pages * 1000,
        "ms",
        Better.LOWER,
        detail=f"{plan.pages} pages at one client, p50 {percentile(took, 0.5):.2f} ms; longest {usage.pauses}",
    )


async def _page(
    connection: Connection, warehouse: Warehouse, namespace: str, token: str, *, size: int = PAGE
) -> tuple[float, set[str], str]:
    path = f"{warehouse.tables(namespace)}?pageSize={size}&pageToken={quote(token)}"
    began = time.perf_counter()
    reply = await connection.get(path)
    took = (time.perf_counter() - began) * 1000
    document = reply.expect(OK).json()
    return took, {entry["name"] for entry in document["identifiers"]}, document.get("next-page-token") or ""


async def _create(served: Lakeward, warehouse: Warehouse, namespace: str, count: int) -> None:
    left = iter(range(count))

    async def creator() -> None:
        async with Connection(served.url) as connection:
            for number in left:
                await make_table(connection, warehouse, namespace, f"table_{number:05d}")

    await asyncio.gather(*(creator() for _ in range(min(_CREATORS, count))))
