"""How fast the relay drains a backlog, and what a backlog takes on the disk.

A commit's own event, as the product wrote it, is put into the outbox of the catalog again and again by SQL, under ids of their
own, for ten warehouses. Then the relay of a real `lakeward serve` gets the lease that the bench held. It puts all in order, reads
them and publishes them to JetStream: each as two messages, since a commit's event goes to upstream's topic, too. The clock runs
from the moment when the lease has a holder until the sink has taken the last event. At the end the broker must have each event of
each stream once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import asyncpg
import nats
import nats.js.errors
from nats.js.api import StreamConfig

from bench.client import Connection
from bench.events.outbox import LET_GO, nothing_in_order
from bench.figures import Figure
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import append, make_namespace, make_table, make_warehouse, table_of
from tests.support.installations import Composition

_BENCH: Final = "events"
_NAMESPACE: Final = "backlog"
_STREAMS: Final = 10
_GOAL: Final = 20_000.0
_GIB: Final = 1 << 30
_HOUR: Final = 3600
_RATES: Final = (10, 100, 500)
_PATIENCE: Final = 600.0
_TEMPLATE: Final = """
select stream, convert_from(body, 'UTF8'), event_id::text
  from lakeward_catalog.outbox where verb = 'committed' order by outbox_id desc limit 1
"""
_FILL: Final = """
insert into lakeward_catalog.outbox (event_id, stream, kind, verb, body)
select made.id, made.stream, 'table', 'committed',
       convert_to(replace(replace($1, $2, made.id::text), $3, made.stream), 'UTF8')
  from (select gen_random_uuid() as id, ($4::text[])[1 + n % cardinality($4::text[])] as stream
          from generate_series(1, $5::int) n) made
"""
_HELD: Final = """
select holder <> 'bench' and expires_at > clock_timestamp() from lakeward_catalog.lease where name = 'events-sequencer'
"""
_TAKEN: Final = """
select coalesce(sum(seq), 0)::bigint from lakeward_catalog.sink_cursor where sink = 'nats' and stream = any($1::text[])
"""
_LOG: Final = """
select sum(pg_total_relation_size(part.inhrelid))::bigint
  from pg_inherits part where part.inhparent = 'lakeward_catalog.event_log'::regclass
"""


def run(parts: Stack, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """Events a second, and MB of an hour's worth at several rates."""
    asyncio.run(_stream(parts))
    with nothing_in_order(parts.database), lakeward(parts, Composition.ONE_PROCESS) as served:
        return asyncio.run(_measured(served, plan, cores=cores))


async def _measured(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    connection = await asyncpg.connect(served.stack.database)
    try:
        before = await connection.fetchval(_LOG)
        streams = await _fill(served, connection, plan.backlog)
        await connection.execute("checkpoint")
        waiting = await connection.fetchval("select pg_total_relation_size('lakeward_catalog.outbox')")
        await connection.execute(LET_GO)
        await _until_held(connection)
        with served.metered() as usage:
            began = time.monotonic()
            await _until_taken(connection, streams, plan.backlog)
            took = time.monotonic() - began
        log = await connection.fetchval(_LOG) - before
    finally:
        await connection.close()
    await _insist_each_once(served.stack, streams, plan.backlog)
    spent = {name: seconds / plan.backlog * 1e6 for name, seconds in usage.cpu.items()}
    each = log / plan.backlog
    shares = ", ".join(f"{name} {value:.0f}" for name, value in spent.items() if value >= 1)
    hours = ", ".join(f"{each * rate * _HOUR / 1e6:,.0f} MB at {rate}/s" for rate in _RATES)
    return [
        Figure(
            _BENCH,
            f"backlog of {plan.backlog:,} commits' events, of {_STREAMS} warehouses, drained",
            plan.backlog / took,
            "events/s",
            goal=_GOAL,
            detail=f"two messages each, {took:.0f} s; CPU of an event in µs: {shares}; {usage.told(cores=cores)}",
        ),
        Figure(
            _BENCH,
            "a commit's event on the database's disk",
            each,
            "bytes",
            detail=f"in the log; an hour of commits: {hours}; in the outbox {waiting / plan.backlog:.0f} bytes",
        ),
    ]


async def _stream(parts: Stack) -> None:
    """A stream that is large enough for all, so that each event can be looked for."""
    topic = parts.environment["LAKEKEEPER__NATS_TOPIC"]
    client = await nats.connect(parts.nats.url)
    try:
        jetstream = client.jetstream()
        wanted = StreamConfig(
            name=topic,
            subjects=[topic, f"{topic}.>"],
            max_bytes=64 * _GIB,
            duplicate_window=600,
            allow_atomic=True,
            allow_batched=True,
        )
        try:
            await jetstream.add_stream(wanted)
        except nats.js.errors.BadRequestError:  # the sink made it
            await jetstream.update_stream(wanted)
    finally:
        await client.close()


async def _fill(served: Lakeward, connection: asyncpg.Connection[asyncpg.Record], count: int) -> Sequence[str]:
    """Put so many events into the outbox; their streams."""
    warehouse = await make_warehouse(served)
    async with Connection(served.url) as client:
        await make_namespace(client, warehouse, _NAMESPACE)
        table = await make_table(client, warehouse, _NAMESPACE, "template")
        path = warehouse.table(_NAMESPACE, "template")
        for _ in range(3):
            table = table_of(await client.post(path, append(table)[1]))
    made = await connection.fetchrow(_TEMPLATE)
    if made is None:
        raise RuntimeError("no commit wrote an event")
    stream, body, event_id = made
    await connection.execute("delete from lakeward_catalog.outbox")
    streams = [str(uuid4()) for _ in range(_STREAMS)]
    await connection.execute(_FILL, body, event_id, stream, streams, count, timeout=_PATIENCE)
    return streams


async def _until_held(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    async with asyncio.timeout(_PATIENCE):
        while True:
            if await connection.fetchval(_HELD):
                return
            await asyncio.sleep(0.02)


async def _until_taken(connection: asyncpg.Connection[asyncpg.Record], streams: Sequence[str], count: int) -> None:
    async with asyncio.timeout(_PATIENCE):
        while True:
            if await connection.fetchval(_TAKEN, streams) >= count:
                return
            await asyncio.sleep(0.1)


async def _insist_each_once(parts: Stack, streams: Sequence[str], count: int) -> None:
    """Raise unless the broker has as many messages of each stream as it has events."""
    topic = parts.environment["LAKEKEEPER__NATS_TOPIC"]
    client = await nats.connect(parts.nats.url)
    try:
        info = await client.jetstream().stream_info(topic, subjects_filter=f"{topic}.*.table.committed")
        there = info.state.subjects or {}
    finally:
        await client.close()
    kept = sum(there.get(f"{topic}.{stream}.table.committed", 0) for stream in streams)
    if kept != count:
        raise RuntimeError(f"the broker has {kept} of {count} events")
