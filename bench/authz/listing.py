"""Whole listings of a namespace of ten thousand tables, by thirty people at once who may see a part of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from bench.authz.company import AT_ONCE, DIRECT, LISTED, SHARES, Company, Decider, people
from bench.authz.decisions import BENCH
from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.plan import Plan
from bench.warehouse import OK

_GOAL: Final = 2.0
_PAGE: Final = 1_000
"""Tables of a page, where a listing is asked for in pages; else it comes whole."""
_TOLD: Final = {None: "whole", _PAGE: f"in pages of {_PAGE:,}"}


async def run(its: Company, plan: Plan) -> Sequence[Figure]:
    """Legs of all that decide take turns; each is held to the listing where everything is allowed.

    Raises:
        RuntimeError: somebody was shown more or less than they may see.
    """
    figures: list[Figure] = []
    for size in _TOLD:
        bases: list[float] = []
        took: dict[tuple[Decider, int], list[float]] = {}
        for _ in range(plan.rounds):
            base = await _crowd(its, Decider.ALLOW_ALL, people(100), size, expected=range(its.listed, its.listed + 1))
            bases.append(base)
            for share in SHARES:
                for decider in (Decider.BUILTIN, Decider.OPENFGA):
                    one = await _crowd(its, decider, people(share), size, expected=_about(its.listed, share))
                    took.setdefault((decider, share), []).append(one)
        figures += _figures(its, size, bases, took)
    return figures


def _about(tables: int, share: int) -> range:
    """How many of the tables a share of them may be: by the hash of a name, so not to the last."""
    if share == 100:
        return range(tables, tables + 1)
    middle = tables * share // 100
    few = 8  # of a small share, as of a quick run, chance is a large part
    return range(max(1, middle * 2 // 3 - few), middle * 4 // 3 + few)


def _figures(
    its: Company, size: int | None, bases: Sequence[float], took: Mapping[tuple[Decider, int], Sequence[float]]
) -> Iterator[Figure]:
    for (decider, share), each in took.items():
        yield Figure(
            BENCH,
            f"a listing of {its.listed:,} tables {_TOLD[size]}, {AT_ONCE} people who see {share} %, {decider.value}",
            median([one / base for one, base in zip(each, bases, strict=True)]),
            "x allow-all",
            Better.LOWER,
            goal=_GOAL,
            detail=f"p50 {median(each) * 1e3:,.0f} ms over {median(bases) * 1e3:,.0f}; {DIRECT} of them by direct grants,"
            " the others by three nested roles",
        )


async def _crowd(its: Company, decider: Decider, who: Sequence[str], size: int | None, *, expected: range) -> float:
    """Median seconds of a whole listing where all of them list at once."""
    together = asyncio.Barrier(len(who))

    async def one(name: str) -> tuple[float, int]:
        async with its.connection(decider, name) as connection:
            # who calls is looked up before it counts
            (await connection.get(its.warehouse.namespace(LISTED))).expect(OK)
            await together.wait()
            began = time.perf_counter()
            count = await _listed(connection, its, size)
            return time.perf_counter() - began, count

    seen = await asyncio.gather(*map(one, who))
    counts = {count for _, count in seen}
    if not all(count in expected for count in counts):
        raise RuntimeError(f"{decider.value} showed {sorted(counts)} tables, not {expected}")
    return percentile([took for took, _ in seen], 0.5)


async def _listed(connection: Connection, its: Company, size: int | None) -> int:
    path, token, count = its.warehouse.tables(LISTED), "", 0
    while True:
        query = "" if size is None else f"?pageSize={size}&pageToken={quote(token)}"
        body = (await connection.get(f"{path}{query}")).expect(OK).body
        # not decoded: the reading of thirty such documents is the client's work, and this machine's too
        count += body.count(b'"name":')
        _, found, rest = body.rpartition(b'"next-page-token":"')
        if not found:
            return count
        token = rest.partition(b'"')[0].decode()
