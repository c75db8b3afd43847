"""The outbox and the log of events.

The log is partitioned by day into slots that are used in turn: forgetting a day is a TRUNCATE of its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.relay import Backlog, LeaseLostError, LoggedEvent
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.postgres.pools import Pool

EVENT_SLOTS: Final = 16
"""Partitions of the event log, one a day in turn, so that forgetting a day is a TRUNCATE and never DDL."""
# Held until the end: whoever takes the lease over waits for the move, or the move sees that it came too late.
HOLDS: Final = "select 1 from lease where name = $1 and holder = $2 and fence = $3 for share"
# A row with a smaller number may become visible later, and is moved later. Two events of one row can't change places: the
# second was written under the row's lock, after the first was committed, and so became visible after it. Nobody updates rows
# here or deletes others, so their places (ctid) hold for the statement, which reads only the first ones of however many.
_MOVE: Final = f"""
with taken as (
    delete from outbox where ctid = any(array(select ctid from outbox {{which}} order by outbox_id limit $1))
    returning outbox_id, event_id, stream, kind, verb, body, written_at),
numbered as (
    select taken.*, row_number() over (partition by stream order by outbox_id) as place from taken),
counted as (
    select stream, count(*) as added from taken group by stream),
reached as (
    insert into event_stream as known (stream, seq) select stream, added from counted order by stream
    on conflict (stream) do update set seq = known.seq + excluded.seq
    returning known.stream, known.seq),
logged as (
    insert into event_log (stream, seq, slot, event_id, kind, verb, body, at)
    select numbered.stream, reached.seq - counted.added + numbered.place,
           (extract(epoch from clock_timestamp())::bigint / 86400) % {EVENT_SLOTS},
           numbered.event_id, numbered.kind, numbered.verb, numbered.body, numbered.written_at
      from numbered join counted on counted.stream = numbered.stream join reached on reached.stream = numbered.stream)
select count(*) from taken
"""
MOVE: Final = _MOVE.format(which="")
MOVE_STREAM: Final = _MOVE.format(which="where stream = $2")
READ: Final = """
select seq, event_id, stream, kind, verb, body, at from event_log where stream = $1 and seq > $2 order by seq limit $3
"""
BACKLOGS: Final = """
select known.stream, coalesce(cursor.seq, 0), known.seq
  from event_stream known left join sink_cursor cursor on cursor.sink = $1 and cursor.stream = known.stream
 where known.seq > coalesce(cursor.seq, 0)
 order by known.stream
"""
TAKE: Final = """
insert into sink_cursor as known (sink, stream, seq) values ($1, $2, $3)
on conflict (sink, stream) do update set seq = excluded.seq where known.seq < excluded.seq
"""
DAY: Final = "select extract(epoch from clock_timestamp())::bigint / 86400"
_TRUNCATE_TIMEOUT: Final = "set local lock_timeout = '2s'"


class PostgresOutbox:
    """`Outbox` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Move through `pool`."""
        self._pool = pool

    async def move(self, lease: Lease, *, limit: int) -> int:
        """See `Outbox`."""
        async with self._pool.transaction() as connection:
            if await connection.fetchval(HOLDS, lease.name, lease.holder, lease.fence) is None:
                raise LeaseLostError(f"the lease {lease.name} has another holder than fence {lease.fence}")
            count: int = await connection.fetchval(MOVE, limit)
        return count


class PostgresEventLog:
    """`EventLog` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read and remember through `pool`."""
        self._pool = pool

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        """See `EventLog`."""
        return [_logged(row) for row in await self._pool.fetch(READ, stream, after, limit)]

    async def backlogs(self, sink: str) -> Sequence[Backlog]:
        """See `EventLog`."""
        rows = await self._pool.fetch(BACKLOGS, sink)
        return [Backlog(stream, taken, newest) for stream, taken, newest in rows]

    async def take(self, sink: str, stream: str, sequence: int) -> None:
        """See `EventLog`."""
        await self._pool.execute(TAKE, sink, stream, sequence)

    async def forget(self, *, days: int) -> int:
        """Forget events that were logged more than `days` days ago.

        Args:
            days: 1 to 14; whole days, in UTC.

        Returns:
            How many days' slots were emptied.

        Raises:
            Refusal: CONCURRENT_CHANGE while a reader holds a slot; the next round does it.
        """
        today = await self._pool.fetchval(DAY)
        kept = {day % EVENT_SLOTS for day in range(today - days, today + 2)}
        emptied = 0
        for slot in sorted(set(range(EVENT_SLOTS)) - kept):
            table = f"event_log_{slot:02d}"
            if await self._pool.fetchval(f"select exists (select from {table})"):
                async with self._pool.transaction() as connection:
                    await connection.execute(_TRUNCATE_TIMEOUT)
                    await connection.execute(f"truncate {table}")
                emptied += 1
        return emptied


def _logged(row: asyncpg.Record) -> LoggedEvent:
    sequence, event_id, stream, kind, verb, body, written_at = row
    event = Event(event_id=event_id, stream=stream, kind=kind, verb=verb, body=body)
    return LoggedEvent(sequence, event, written_at)
