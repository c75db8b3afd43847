"""The outbox and the log of events.

The log is partitioned by day into slots that are used in turn: forgetting a day is a TRUNCATE of its slot.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.events.dead_letters import PostgresDeadLetters, logged_of
from lakeward_servicekit.events.relay import Backlog, DeadLetter, LeaseLostError, LoggedEvent
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
# A batch is held in memory, and events may be large: it ends behind the one with which it is large enough.
READ_BYTES: Final = 8 << 20
READ: Final = f"""
select seq, event_id, stream, kind, verb, body, at
  from (select page.*, sum(octet_length(body)) over (order by seq) - octet_length(body) as before
          from (select seq, event_id, stream, kind, verb, body, at
                  from event_log where stream = $1 and seq > $2 order by seq limit $3) page) counted
 where before < {READ_BYTES}
 order by seq
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
SIZE: Final = "select pg_total_relation_size($1::text::regclass)"
# Sinks that have not taken all of a slot; one probe for each of their streams that is behind.
LACKING: Final = """
select count(distinct sink.name)
  from unnest($1::text[]) as sink(name) cross join event_stream known
  left join sink_cursor cursor on cursor.sink = sink.name and cursor.stream = known.stream
 where known.seq > coalesce(cursor.seq, 0)
   and exists (select from {table} kept where kept.stream = known.stream and kept.seq > coalesce(cursor.seq, 0))
"""
HELD_DAYS: Final = 13
"""The longest that a day of events is kept for a sink: the slot of the day behind it is the next but one to be used."""
_LOG: Final = logging.getLogger("lakeward_servicekit.events")
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

    def __init__(self, pool: Pool, *, sinks: Sequence[str] = (), most_bytes: int | None = None) -> None:
        """Read and remember through `pool`.

        Args:
            pool: of the service's schema.
            sinks: those that are configured: what they have not taken is kept for longer.
            most_bytes: of all days but the current one; None: as many as come.
        """
        self._pool = pool
        self._sinks = sinks
        self._most_bytes = most_bytes
        self._letters = PostgresDeadLetters(pool)

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        """See `EventLog`."""
        return [logged_of(row) for row in await self._pool.fetch(READ, stream, after, limit)]

    async def backlogs(self, sink: str) -> Sequence[Backlog]:
        """See `EventLog`."""
        rows = await self._pool.fetch(BACKLOGS, sink)
        return [Backlog(stream, taken, newest) for stream, taken, newest in rows]

    async def take(self, sink: str, stream: str, sequence: int) -> None:
        """See `EventLog`."""
        await self._pool.execute(TAKE, sink, stream, sequence)

    async def set_aside(self, letter: DeadLetter, *, most: int) -> bool:
        """See `EventLog`."""
        return await self._letters.set_aside(letter, most=most)

    async def wanted_again(self, sink: str) -> Sequence[LoggedEvent]:
        """See `EventLog`."""
        return await self._letters.wanted_again(sink)

    async def settle(self, sink: str, stream: str, sequence: int, *, refused: str | None = None) -> None:
        """See `EventLog`."""
        await self._letters.settle(sink, stream, sequence, refused=refused)

    async def forget(self, *, days: int) -> int:
        """Forget events that were logged more than `days` days ago, and that every configured sink has taken.

        What a sink has not taken stays until it is `HELD_DAYS` old, or until there is too much of it; then the oldest day goes,
        and that is told as an error.

        Args:
            days: 1 to `HELD_DAYS`; whole days, in UTC.

        Returns:
            How many days' slots were emptied.

        Raises:
            Refusal: CONCURRENT_CHANGE while a reader holds a slot; the next round does it.
        """
        today = await self._pool.fetchval(DAY)
        ages = {(today - age) % EVENT_SLOTS: age for age in range(-1, EVENT_SLOTS - 1)}
        emptied = 0
        room = self._most_bytes
        for slot, age in sorted(ages.items(), key=lambda each: each[1]):
            table = f"event_log_{slot:02d}"
            if age <= 0 or not await self._pool.fetchval(f"select exists (select from {table})"):
                continue
            if room is not None:
                room -= await self._pool.fetchval(SIZE, table)
            crowded = room is not None and room < 0
            if age <= days and not crowded:
                continue
            lacking = await self._pool.fetchval(LACKING.format(table=table), list(self._sinks)) if self._sinks else 0
            if lacking and age <= HELD_DAYS and not crowded:
                continue
            if lacking:
                told = {"sinks_behind": lacking, "days_old": age, "for_space": crowded}
                _LOG.error("a day of events is forgotten, which a sink has not taken", extra=told)
            async with self._pool.transaction() as connection:
                await connection.execute(_TRUNCATE_TIMEOUT)
                await connection.execute(f"truncate {table}")
            emptied += 1
        return emptied
