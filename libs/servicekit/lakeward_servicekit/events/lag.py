"""How far events are behind, at a bounded cost: for metrics, and for whoever asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, Protocol

from lakeward_servicekit.postgres.pools import Pool

# More rows than this are not counted one by one, and more streams than this are not looked into for the oldest event.
COUNTED_MOST: Final = 100_000
LOOKED_INTO_MOST: Final = 100

_OUTBOX: Final = """
select (select count(*) from (select from outbox limit $1) counted),
       coalesce((select extract(epoch from clock_timestamp() - written_at) from outbox order by outbox_id limit 1), 0)::float8
"""
_SINKS: Final = """
select sink.name, coalesce(behind.events, 0)::bigint, coalesce(behind.age, 0)::float8,
       (select count(*) from dead_letter letter where letter.sink = sink.name)
  from unnest($1::text[]) as sink(name)
  left join lateral (
       select sum(lag.events) as events, max(extract(epoch from clock_timestamp() - oldest.at)) as age
         from (select known.stream, coalesce(cursor.seq, 0) as taken, known.seq - coalesce(cursor.seq, 0) as events,
                      row_number() over (order by known.seq - coalesce(cursor.seq, 0) desc) as place
                 from event_stream known
                 left join sink_cursor cursor on cursor.sink = sink.name and cursor.stream = known.stream
                where known.seq > coalesce(cursor.seq, 0)) lag
         left join lateral (
              select kept.at from event_log kept
               where lag.place <= $2 and kept.stream = lag.stream and kept.seq > lag.taken
               order by kept.seq limit 1) oldest on true) behind on true
"""
_BYTES: Final = """
select coalesce(sum(pg_total_relation_size(part.inhrelid)), 0)::bigint
  from pg_inherits part where part.inhparent = 'event_log'::regclass
"""


@dataclasses.dataclass(frozen=True, slots=True)
class SinkLag:
    """How far one sink is behind the log.

    Attributes:
        sink: its name, as "nats".
        events: that it has not taken.
        oldest_seconds: age of the oldest of them, from when its change wrote it; 0 where there is none.
        dead_letters: events that it refused and that are set aside.
    """

    sink: str
    events: int
    oldest_seconds: float
    dead_letters: int


@dataclasses.dataclass(frozen=True, slots=True)
class EventLag:
    """How far a service's events are.

    Attributes:
        unordered: events in the outbox, counted up to `COUNTED_MOST`.
        unordered_oldest_seconds: age of the oldest of them; 0 where there is none.
        log_bytes: that the log takes on the database's disk.
        sinks: one for each that was asked for, in that order.
    """

    unordered: int
    unordered_oldest_seconds: float
    log_bytes: int
    sinks: tuple[SinkLag, ...]


class LagReader(Protocol):
    """Says how far a service's events are."""

    async def read(self, sinks: Sequence[str]) -> EventLag:
        """How far they are now. Its cost grows with the number of streams, and with neither events nor their size.

        Args:
            sinks: names of those that are configured.

        Raises:
            Refusal: DATABASE_UNAVAILABLE, OVERLOADED.
        """
        ...


class PostgresLag:
    """`LagReader` on the tables of one service."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool: Final = pool

    async def read(self, sinks: Sequence[str]) -> EventLag:
        """See `LagReader`."""
        async with self._pool.reading() as connection:
            unordered = await connection.fetchrow(_OUTBOX, COUNTED_MOST)
            rows = await connection.fetch(_SINKS, list(sinks), LOOKED_INTO_MOST)
            size = await connection.fetchval(_BYTES)
        assert unordered is not None, "a statement without a condition"
        lags = {row[0]: SinkLag(*row) for row in rows}
        return EventLag(unordered[0], unordered[1], size, tuple(lags[sink] for sink in sinks))
