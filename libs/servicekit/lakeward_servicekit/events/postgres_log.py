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
from lakeward_servicekit.postgres.pools import Connection, Pool

EVENT_SLOTS: Final = 16
"""Partitions of the event log, one a day in turn, so that forgetting a day is a TRUNCATE and never DDL."""
# A row with a smaller number may become visible later, and is moved later. Two events of one row can't change places: the
# second was written under the row's lock, after the first was committed, and so became visible after it. Nobody updates rows
# here or deletes others, so their places (ctid) hold for the statement, which reads only the first ones of however many.
_MOVE: Final = f"""
with {{held}}taken as (
    delete from outbox where ctid = any(array(select ctid from outbox where {{which}} order by outbox_id limit $1))
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
select {{holds}}, (select count(*) from taken)
"""
# The lease's row is held until the end: whoever takes the lease over waits for the move, or the move waits for that one, sees the
# row as it is then, and moves nothing.
MOVE: Final = _MOVE.format(
    held="held as (select from lease where name = $2 and holder = $3 and fence = $4 for share), ",
    which="exists (select from held)",
    holds="exists (select from held)",
)
MOVE_STREAM: Final = _MOVE.format(held="", which="stream = $2", holds="true")
# A batch is held in memory, and events may be large: it ends behind the one with which it is large enough.
READ_BYTES: Final = 8 << 20
# Most are so small that as many as are wanted can't be too large together, and to sum up their sizes costs a quarter of reading
# them. So whichever is larger comes without its body, and is read, with what is behind it, by `READ_LARGE`.
READ: Final = f"""
select seq, event_id, stream, kind, verb, case when octet_length(body) <= {READ_BYTES} / $3 then body end as body, at
  from event_log where stream = $1 and seq > $2 order by seq limit $3
"""
READ_LARGE: Final = f"""
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
# The disk is not waited for: a place that a crash forgets is asked of the sink, or what is behind it comes again.
TAKE: Final = """
insert into sink_cursor as known (sink, stream, seq)
select $1, $2, $3 from set_config('synchronous_commit', 'off', true)
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
# How far a stream's events in a slot are to be cut: a share of them, the oldest. The newest of each stays.
CUTS: Final = """
select known.stream, oldest.seq + (newest.seq - oldest.seq) / {share} as upto
  from event_stream known
 cross join lateral (select seq from {table} where stream = known.stream order by seq limit 1) oldest
 cross join lateral (select seq from {table} where stream = known.stream order by seq desc limit 1) newest
 where newest.seq - oldest.seq >= {share}
"""
CUT: Final = """
delete from {table} where ctid = any(array(
    select kept.ctid from unnest($1::text[], $2::bigint[]) as cut(stream, upto)
      join {table} kept on kept.stream = cut.stream and kept.seq < cut.upto limit $3))
"""
_CUT_SHARE: Final = 8
_CUT_ROWS: Final = 20_000
# A table does not become smaller by a cut: what was freed is filled again first. So it is cut again once it has grown.
_CUT_AGAIN: Final = 1.02
_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_TRUNCATE_TIMEOUT: Final = "set local lock_timeout = '2s'"


class PostgresOutbox:
    """`Outbox` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Move through `pool`."""
        self._pool = pool

    async def move(self, lease: Lease, *, limit: int) -> int:
        """See `Outbox`."""
        async with self._pool.changing() as connection:
            return await moved(connection, lease, limit=limit)


async def moved(connection: Connection, lease: Lease, *, limit: int) -> int:
    """See `Outbox.move`, which is one statement."""
    row = await connection.fetchrow(MOVE, limit, lease.name, lease.holder, lease.fence)
    assert row is not None, "it selects one row from no table"
    held, count = row
    if not held:
        raise LeaseLostError(f"the lease {lease.name} has another holder than fence {lease.fence}")
    return int(count)


class PostgresEventLog:
    """`EventLog` on Postgres."""

    def __init__(self, pool: Pool, *, sinks: Sequence[str] = (), most_bytes: int | None = None) -> None:
        """Read and remember through `pool`.

        Args:
            pool: of the service's schema.
            sinks: those that are configured: what they have not taken is kept for longer.
            most_bytes: of the log on the database's disk; None: as many as come.
        """
        self._pool = pool
        # By slot: bytes that it had when its oldest events were forgotten.
        self._cut: dict[int, int] = {}
        self._sinks = sinks
        self._most_bytes = most_bytes
        self._letters = PostgresDeadLetters(pool)

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        """See `EventLog`."""
        rows = await self._pool.fetch(READ, stream, after, limit)
        small = next((place for place, row in enumerate(rows) if row["body"] is None), len(rows))
        if rows and not small:
            rows = await self._pool.fetch(READ_LARGE, stream, after, limit)
            small = len(rows)
        return [logged_of(row) for row in rows[:small]]

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

        What a sink has not taken stays until it is `HELD_DAYS` old, or until there is too much of it; then the oldest day goes.
        Where the current day alone is too much, its oldest events go. Both are told as errors.

        Args:
            days: 1 to `HELD_DAYS`; whole days, in UTC.

        Returns:
            How many days' slots were emptied.

        Raises:
            Refusal: CONCURRENT_CHANGE while a reader holds a slot; the next round does it.
        """
        today = await self._pool.fetchval(DAY)
        ages = {(today - age) % EVENT_SLOTS: age for age in range(-1, EVENT_SLOTS - 1)}
        emptied, room = 0, self._most_bytes
        for slot, age in sorted(ages.items(), key=lambda each: each[1]):
            table = f"event_log_{slot:02d}"
            if not await self._pool.fetchval(f"select exists (select from {table})"):
                continue
            if room is not None:
                size = await self._pool.fetchval(SIZE, table)
                room -= size
                if room < 0 and age <= 0:
                    await self._keep_small(slot, size)
            crowded = room is not None and room < 0
            if age <= 0 or (age <= days and not crowded):
                continue
            lacking = await self._lacking(table)
            if lacking and age <= HELD_DAYS and not crowded:
                continue
            if lacking:
                told = {"sinks_behind": lacking, "days_old": age, "for_space": crowded}
                _LOG.error("a day of events is forgotten, which a sink has not taken", extra=told)
            async with self._pool.transaction() as connection:
                await connection.execute(_TRUNCATE_TIMEOUT)
                await connection.execute(f"truncate {table}")
            self._cut.pop(slot, None)
            emptied += 1
        return emptied

    async def _lacking(self, table: str) -> int:
        """How many of the configured sinks have not taken all of a slot."""
        if not self._sinks:
            return 0
        count: int = await self._pool.fetchval(LACKING.format(table=table), list(self._sinks))
        return count

    async def _keep_small(self, slot: int, size: int) -> None:
        """Forget the oldest events of each stream in the current day's slot, and let their place be taken."""
        if size <= self._cut.get(slot, 0) * _CUT_AGAIN:
            return
        table = f"event_log_{slot:02d}"
        lacking = await self._lacking(table)
        cuts = await self._pool.fetch(CUTS.format(table=table, share=_CUT_SHARE))
        streams, places = [each[0] for each in cuts], [each[1] for each in cuts]
        statement, forgotten = CUT.format(table=table), 0
        while True:
            gone = int((await self._pool.execute(statement, streams, places, _CUT_ROWS)).rpartition(" ")[2])
            forgotten += gone
            if gone < _CUT_ROWS:
                break
        await self._pool.execute(f"vacuum {table}")
        self._cut[slot] = size
        told = {"events": forgotten, "sinks_behind": lacking, "bytes": size}
        _LOG.error("the oldest events of today are forgotten, since the log is full", extra=told)
