"""How far events are behind, told in metrics.

Every process of a service tells what all of them share, so what several tell is one number, not a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.telemetry.metrics import Gauge

_MOST: Final = 1_000_000
OUTBOX: Final = f"""
select count(*), coalesce(extract(epoch from clock_timestamp() - min(written_at)), 0)::float8
  from (select written_at from outbox order by outbox_id limit {_MOST}) waiting
"""
# The event that a stream waits for is found by its number in each of the log's slots; some streams stand for however many.
SINK: Final = """
with behind as materialized (
    select known.stream, coalesce(cursor.seq, 0) as taken, known.seq as newest
      from event_stream known left join sink_cursor cursor on cursor.sink = $1 and cursor.stream = known.stream
     where known.seq > coalesce(cursor.seq, 0))
select coalesce(sum(newest - taken), 0)::bigint,
       coalesce((select extract(epoch from clock_timestamp() - min(logged.at))
                   from (select stream, taken from behind limit 100) some
                   join event_log logged on logged.stream = some.stream and logged.seq = some.taken + 1), 0)::float8
  from behind
"""
WAITING: Final = Gauge(
    "lakeward_outbox_events", f"Events that nobody has put in order yet; {_MOST:,} stands for more, too.", ("service",)
)
WAITING_FOR: Final = Gauge(
    "lakeward_outbox_oldest_seconds", "For how long the first of them has waited to be put in order.", ("service",)
)
LAG: Final = Gauge("lakeward_event_sink_lag_events", "Events that a sink has not taken.", ("service", "sink"))
LAG_FOR: Final = Gauge(
    "lakeward_event_sink_lag_seconds",
    "How long ago the first of them happened that a sink has not taken.",
    ("service", "sink"),
)


class Behind:
    """Reads how far the events of one service are behind.

    Args:
        pool: of the service's schema.
        service: its name.
        sinks: names of those that its events go to.
    """

    def __init__(self, pool: Pool, service: str, sinks: Sequence[str]) -> None:
        """See the class."""
        self._pool: Final = pool
        self._outbox: Final = WAITING.series(service), WAITING_FOR.series(service)
        self._sinks: Final = {sink: (LAG.series(service, sink), LAG_FOR.series(service, sink)) for sink in sinks}

    async def __call__(self) -> None:
        """Look, and tell.

        Raises:
            Refusal: DATABASE_UNAVAILABLE.
        """
        row = await self._pool.fetchrow(OUTBOX)
        assert row is not None, "an aggregate has a row"
        self._outbox[0].value, self._outbox[1].value = float(row[0]), max(0.0, row[1])
        for sink, (events, seconds) in self._sinks.items():
            row = await self._pool.fetchrow(SINK, sink)
            assert row is not None, "an aggregate has a row"
            events.value, seconds.value = float(row[0]), max(0.0, row[1])
