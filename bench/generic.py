"""Loads of a generic table with credentials, beside loads of an Iceberg table with credentials; how often STS is asked; and
what the Python client adds to a load.

Both are read by `wrk` in turns, so that each is held to what the other reached in the same minute. Nobody writes to either: how
fresh loads are is what `load_table` looks at, and both ask the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import httpx

from bench.client import Connection
from bench.figures import Better, Figure, median
from bench.freshness import counter
from bench.generators import Wrk, run_wrk
from bench.meter import Usage
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse
from lakeward import Client

BENCH: Final = "generic"
_NAMESPACE: Final = "generic"
_TABLE: Final = "loaded"
_LOADS: Final = 1_000
_ROUNDS: Final = 5
_CALLS: Final = 500
_VENDED: Final[Mapping[str, str]] = {"x-iceberg-access-delegation": "vended-credentials"}
_GOAL: Final = 0.8
# what they differ in is how the document travels: the one's is carried as it is stored, the other's is read and written anew
_FLOOR: Final = 0.8
_TOKEN: Final = "s3.session-token"


class UselessLoadError(Exception):
    """A load came without what was asked for."""


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """Loads a second of the one over those of the other, and credentials that 1,000 loads hand out.

    Raises:
        UselessLoadError: replies were refused, or had no credentials.
    """
    warehouse = await make_warehouse(served)
    iceberg, generic = await _prepare(served, warehouse)
    ratios: list[float] = []
    told: tuple[Wrk, Wrk, Usage] | None = None
    with counter(served.stack.home / "nobody-writes") as nothing:
        for _ in range(plan.rounds):
            counted: list[Wrk] = []
            for path in (iceberg, generic):
                with served.metered() as usage:
                    leg = await run_wrk(
                        f"{served.url}{path}",
                        script="fresh.lua",
                        arguments=[str(nothing.path), "nothing", str(OK)],
                        seconds=plan.seconds,
                        headers=_VENDED,
                    )
                if leg.faults or not leg.requests:
                    raise UselessLoadError(f"of {leg.requests} loads of {path} {leg.faults} failed")
                counted.append(leg)
            ratios.append(counted[1].per_second / counted[0].per_second)
            told = (counted[0], counted[1], usage)
    assert told is not None, "a plan has a round"
    one, other, usage = told
    return [
        Figure(
            BENCH,
            f"loads with credentials, {served.composition}",
            median(ratios),
            "of Iceberg's",
            goal=_GOAL,
            floor=_FLOOR,
            detail=f"{other.per_second:,.0f}/s at p50 {other.p50 / 1000:.1f} ms, p99 {other.p99 / 1000:.1f} ms; "
            f"Iceberg's {one.per_second:,.0f}/s; {usage.told(cores=cores)}",
        ),
        Figure(
            BENCH,
            f"credentials that {_LOADS:,} loads hand out, {served.composition}",
            await _credentials(served, warehouse),
            "STS calls",
            better=Better.LOWER,
            goal=1,
            floor=1,
        ),
        Figure(
            BENCH,
            f"the Python client's own part of a load, {served.composition}",
            await _client(served, warehouse),
            "ms",
            better=Better.LOWER,
            goal=1,
            floor=2,
            detail="CPU of making the call, reading the reply and shaping its credentials; nothing is sent",
        ),
    ]


async def _prepare(served: Lakeward, warehouse: Warehouse) -> tuple[str, str]:
    """Make an Iceberg table and a generic one of about its size; the paths of their loads."""
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        await make_table(connection, warehouse, _NAMESPACE, _TABLE)
        iceberg = warehouse.table(_NAMESPACE, _TABLE)
        size = len((await connection.get(iceberg, _VENDED)).expect(OK).body)
        generic = await _make_generic(connection, warehouse, "generic", doc="x" * (size // 2))
        for path in (iceberg, generic):
            if _TOKEN not in (await connection.get(path, _VENDED)).expect(OK).json()["config"]:
                raise UselessLoadError(f"{path} came without credentials")
    return iceberg, generic


async def _credentials(served: Lakeward, warehouse: Warehouse) -> float:
    """How many different sessions so many loads of a table that nobody loaded before are given: each is a call of STS."""
    async with Connection(served.url) as connection:
        path = await _make_generic(connection, warehouse, "fresh", doc="")
        sessions = {(await connection.get(path, _VENDED)).expect(OK).json()["config"][_TOKEN] for _ in range(_LOADS)}
    return len(sessions)


async def _client(served: Lakeward, warehouse: Warehouse) -> float:
    """Milliseconds of CPU that the client takes for a load whose reply, a real one, is there at once."""
    async with Connection(served.url) as connection:
        path = await _make_generic(connection, warehouse, "shaped", doc="")
        reply = (await connection.get(path, _VENDED)).expect(OK)
    answer = partial(httpx.Response, OK, content=reply.body, headers={"etag": reply.headers["etag"]})
    per_call = []
    with Client(served.url, transport=httpx.MockTransport(lambda _: answer())) as lake:
        tables = lake.warehouse(warehouse.id).generic
        for _ in range(_ROUNDS):
            begun = time.process_time()
            for _ in range(_CALLS):
                tables.load(_NAMESPACE, "shaped").access().get().storage_options()
            per_call.append((time.process_time() - begun) / _CALLS * 1000)
    return median(per_call)


async def _make_generic(connection: Connection, warehouse: Warehouse, name: str, *, doc: str) -> str:
    tables = f"/lakekeeper/v1/{warehouse.id}/namespaces/{_NAMESPACE}/generic-tables"
    (await connection.post(tables, {"name": name, "format": "lance", "doc": doc})).expect(OK)
    return f"{tables}/{name}"
