"""From a change's acknowledgement to its event at a consumer of JetStream.

Clients and the consumer are one process, so both times are of one clock; whoever waits for its turn there counts as late. Changes
are offered at a rate, whatever their answers take. Two kinds:

- commits of tables, eight and more at a time, whose metadata files go to the store: as many as the machine takes;
- updates of namespaces' properties: a request, a decision, a transaction with its event, and no file. Without the store's share
  the machine comes nearer to the rate that the goal speaks of.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import msgspec
import nats
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy

from bench.client import Connection
from bench.figures import Better, Figure, percentile
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import OK, Table, Warehouse, append, make_namespace, make_table, make_warehouse, table_of
from tests.support.installations import Composition

_BENCH: Final = "events"
_NAMESPACE: Final = "latency"
_WORKERS: Final = 16
_RATES: Final = (50, 100, 500)
_MUST: Final = 500
_REACHED: Final = 0.95
_GOAL: Final = 50.0
_PATIENCE: Final = 30.0
Change = Callable[[int], Awaitable[str]]


class _Tabular(msgspec.Struct, frozen=True, rename="kebab"):
    metadata_location: str = ""


class _Namespace(msgspec.Struct, frozen=True):
    properties: dict[str, str] = {}


class _Data(msgspec.Struct):
    tabular: _Tabular = _Tabular()
    namespace: _Namespace = _Namespace()


class _Event(msgspec.Struct):
    data: _Data


_EVENTS: Final = msgspec.json.Decoder(_Event)


@dataclass(slots=True)
class _Times:
    """When each change was acknowledged and its event received, by what names it."""

    acknowledged: dict[str, float] = field(default_factory=dict)
    received: dict[str, float] = field(default_factory=dict)

    async def until_received(self) -> None:
        """Wait for the event of each change."""
        while True:
            if not self.acknowledged.keys() - self.received.keys():
                return
            await asyncio.sleep(0.01)

    def lags(self) -> Sequence[float]:
        """Milliseconds; less than 0 where the event came before the answer."""
        return [(self.received[name] - at) * 1000 for name, at in self.acknowledged.items()]


def run(parts: Stack, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """Both kinds, at every rate."""
    with lakeward(parts, Composition.ONE_PROCESS) as served:
        return asyncio.run(_measured(served, plan, cores=cores))


async def _measured(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    warehouse = await make_warehouse(served)
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        for worker in range(_WORKERS):
            await make_table(connection, warehouse, _NAMESPACE, f"own-{worker}")
            await make_namespace(connection, warehouse, f"own_{worker}")
    figures: list[Figure] = []
    for what, making in (("table commits", _commits), ("namespace updates, no file", _updates)):
        async with making(served, warehouse) as changes:
            await _offered(served, warehouse, changes, rate=_RATES[0], seconds=1)  # whatever is first is slow
            for rate in _RATES:
                with served.metered() as usage:
                    times, reached = await _offered(served, warehouse, changes, rate=rate, seconds=plan.seconds * 2)
                figures += _figures(what, times, rate, reached, usage.told(cores=cores))
    return figures


def _figures(what: str, times: _Times, rate: float, reached: float, told: str) -> Sequence[Figure]:
    lags = times.lags()
    median, late = percentile(lags, 0.5), percentile(lags, 0.99)
    full = reached >= _REACHED * rate
    name = f"{what}, {rate}/s offered" + ("" if full else f", {reached:.0f} reached")
    detail = f"p50 {median:.1f} ms, longest {max(lags):.0f}, of {len(lags)} at {reached:.0f}/s; {told}"
    return [
        Figure(_BENCH, f"{name}: acknowledged to received, p99", late, "ms", Better.LOWER, goal=_GOAL, detail=detail)
    ]


async def _offered(
    served: Lakeward, warehouse: Warehouse, changes: Sequence[Change], *, rate: float, seconds: float
) -> tuple[_Times, float]:
    """Offer changes at a rate: (when each was acknowledged and received, how many a second were acknowledged)."""
    times = _Times()
    turns: asyncio.Queue[float] = asyncio.Queue()
    async with _consumed(served, warehouse, times):
        began = time.monotonic()
        working = [asyncio.create_task(_work(change, turns, times)) for change in changes]
        for number in itertools.count():
            due = began + number / rate
            if due > began + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            turns.put_nowait(due)
        acknowledged = len(times.acknowledged)
        reached = acknowledged / (time.monotonic() - began)
        for worker in working:
            worker.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        async with asyncio.timeout(_PATIENCE):
            await times.until_received()
    return times, reached


async def _work(change: Change, turns: asyncio.Queue[float], times: _Times) -> None:
    """Make a change at each turn; one that is under way when all is over is made to its end."""
    for number in itertools.count():
        await turns.get()
        making = asyncio.ensure_future(change(number))
        try:
            name = await asyncio.shield(making)
        except asyncio.CancelledError:
            await making
            raise
        times.acknowledged[name] = time.monotonic()


@asynccontextmanager
async def _consumed(served: Lakeward, warehouse: Warehouse, times: _Times) -> AsyncIterator[None]:
    """Note when each event of the warehouse comes."""
    environment = served.stack.environment
    topic = environment["LAKEKEEPER__NATS_TOPIC"]
    client = await nats.connect(served.stack.nats.url)

    async def heard(message: Msg) -> None:
        at = time.monotonic()
        data = _EVENTS.decode(message.data).data
        times.received[data.tabular.metadata_location or data.namespace.properties.get("turn", "")] = at

    try:
        await client.jetstream().subscribe(
            f"{topic}.{warehouse.id}.>",
            cb=heard,
            ordered_consumer=True,
            config=ConsumerConfig(deliver_policy=DeliverPolicy.NEW),
        )
        yield
    finally:
        await client.close()


@asynccontextmanager
async def _commits(served: Lakeward, warehouse: Warehouse) -> AsyncIterator[Sequence[Change]]:
    """One table a worker."""

    def changing(connection: Connection, path: str) -> Change:
        async def change(_: int) -> str:
            known = table_of(await connection.get(path)) if path not in tables else tables[path]
            tables[path] = table_of(await connection.post(path, append(known)[1]))
            return tables[path].metadata_location

        return change

    tables: dict[str, Table] = {}
    async with _connections(served) as connections:
        yield [
            changing(connection, warehouse.table(_NAMESPACE, f"own-{worker}"))
            for worker, connection in enumerate(connections)
        ]


@asynccontextmanager
async def _updates(served: Lakeward, warehouse: Warehouse) -> AsyncIterator[Sequence[Change]]:
    """One namespace a worker."""
    numbers = itertools.count()

    def changing(connection: Connection, path: str) -> Change:
        async def change(_: int) -> str:
            turn = str(next(numbers))
            (await connection.post(path, {"updates": {"turn": turn}, "removals": []})).expect(OK)
            return turn

        return change

    async with _connections(served) as connections:
        yield [
            changing(connection, f"{warehouse.namespace(f'own_{worker}')}/properties")
            for worker, connection in enumerate(connections)
        ]


@asynccontextmanager
async def _connections(served: Lakeward) -> AsyncIterator[Sequence[Connection]]:
    opened = [Connection(served.url) for _ in range(_WORKERS)]
    for each in opened:
        await each.__aenter__()
    try:
        yield opened
    finally:
        for each in opened:
            await each.__aexit__(None, None, None)
