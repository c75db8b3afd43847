"""A process that changes rows, orders their events and hands them to NATS, and kills itself at a step.

    python -m tests.support.relay_failpoint

`DATABASE`, `SCHEMA` and `NATS` say where, `POINT` the step at which it dies ("" at none: it ends once everything has arrived).
It is the kit's own outbox, sequencer and delivery; the product has no failpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.delivery import deliver
from lakeward_servicekit.events.nats.connection import NatsAddress
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.outbox import tell
from lakeward_servicekit.events.postgres_log import HOLDS, MOVE, PostgresEventLog, PostgresOutbox
from lakeward_servicekit.events.relay import SEQUENCER, LoggedEvent, Pace, sequence, sink_lease
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.system import SystemIds

POINTS: Final = (
    "the row is changed",
    "the event is written",
    "the change is committed",
    "the events are moved",
    "the move is committed",
    "the sink is asked where it stands",
    "a batch is handed over",
    "a batch is acknowledged",
    "the place is remembered",
)
STREAMS: Final = ("w0", "w1")
ROUNDS: Final = 6
_CHANGE: Final = """
insert into crash_state as known (stream, version) values ($1, 1)
on conflict (stream) do update set version = known.version + 1 returning version
"""
_LEFT: Final = """
select (select count(*) from outbox) + coalesce((select sum(known.seq - coalesce(cursor.seq, 0)) from event_stream known
  left join sink_cursor cursor on cursor.sink = 'nats' and cursor.stream = known.stream), 0)
"""


def passes(point: str) -> None:
    """Die here where it is wanted."""
    if os.environ["POINT"] == point:
        os.kill(os.getpid(), signal.SIGKILL)


class _Outbox(PostgresOutbox):
    async def move(self, lease: Lease, *, limit: int) -> int:
        async with self._pool.transaction() as connection:
            assert await connection.fetchval(HOLDS, lease.name, lease.holder, lease.fence) is not None
            count: int = await connection.fetchval(MOVE, limit)
            if count:
                passes("the events are moved")
        if count:
            passes("the move is committed")
        return count


class _Log(PostgresEventLog):
    async def take(self, sink: str, stream: str, sequence: int) -> None:
        await super().take(sink, stream, sequence)
        passes("the place is remembered")


class _Sink(NatsSink):
    async def position(self, stream: str) -> int:
        position = await super().position(stream)
        passes("the sink is asked where it stands")
        return position

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        if os.environ["POINT"] == "a batch is handed over":
            publishing = asyncio.ensure_future(super().publish(events))
            await asyncio.sleep(0.001)  # some of it is on its way, or all, or none
            passes("a batch is handed over")
            await publishing
        await super().publish(events)
        passes("a batch is acknowledged")


async def _write(pool: Pool) -> None:
    for _ in range(ROUNDS):
        for stream in STREAMS:
            async with pool.transaction() as connection:
                version = await connection.fetchval(_CHANGE, stream)
                passes("the row is changed")
                body = {"specversion": "1.0", "type": "updateGrants", "data": {"version": version}}
                event = Event(SystemIds().uuid7(), stream, "grant", "changed", json.dumps(body).encode())
                await tell(connection, event)
                passes("the event is written")
            passes("the change is committed")


async def _lease(pool: Pool, name: str) -> Lease:
    await pool.execute("update lease set expires_at = clock_timestamp() where name = $1", name)  # its holder is dead
    lease = await PostgresLeases(pool).acquire(name, holder=str(os.getpid()), lifetime=timedelta(minutes=5))
    assert lease is not None
    return lease


async def main(environ: Any) -> None:
    async with open_pool(SecretStr(environ["DATABASE"]), size=4, name="crash", schema=environ["SCHEMA"]) as pool:
        sink, log, pace = _Sink(NatsAddress(environ["NATS"], "lake", max_bytes=1 << 24)), _Log(pool), Pace(batch=5)
        bell, moved = LocalBell(), LocalBell()
        await _write(pool)
        ordering = sequence(await _lease(pool, SEQUENCER), outbox=_Outbox(pool), bell=bell, moved=moved.ring, pace=pace)
        handing = deliver(
            await _lease(pool, sink_lease("nats")),
            sink=sink,
            log=log,
            bell=moved,
            pace=pace,
            jitter=lambda: 0.0,
            lag=lambda *_: None,
        )
        loops = [asyncio.create_task(each) for each in (ordering, handing)]
        async with asyncio.timeout(30):
            while await pool.fetchval(_LEFT):
                await asyncio.sleep(0.02)
        for loop in loops:
            loop.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*loops)
        await sink.close()


if __name__ == "__main__":
    asyncio.run(main(os.environ))
