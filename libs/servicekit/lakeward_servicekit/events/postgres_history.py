"""The log of events in Postgres, for who reads it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import Span
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.postgres.pools import Pool

SPAN: Final = """
select coalesce((select min(seq) from event_log where stream = $1), known.seq + 1), known.seq
  from event_stream known where known.stream = $1
"""
# How long a body is is known without reading it, so those that the page has no room for are left where they are.
READ: Final = """
select seq, event_id, stream, kind, verb, body, at
  from (select seq, event_id, stream, kind, verb, body, at,
               sum(octet_length(body)) over (order by seq) - octet_length(body) as before
          from (select seq, event_id, stream, kind, verb, body, at from event_log
                 where stream = $1 and seq > $2 order by seq limit $3) page) measured
 where before <= $4 - octet_length(body) or before = 0
 order by seq
"""
NEWEST: Final = "select stream, seq from event_stream where stream = any($1::text[])"


class PostgresHistory:
    """`History` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, of the primary: a position that was told is never ahead of it."""
        self._pool: Final = pool

    async def span(self, stream: str) -> Span:
        """See `History`."""
        row = await self._pool.fetchrow(SPAN, stream)
        return Span(1, 0) if row is None else Span(*row)

    async def read(self, stream: str, *, after: int, limit: int, most_bytes: int) -> Sequence[LoggedEvent]:
        """See `History`."""
        rows = await self._pool.fetch(READ, stream, after, limit, most_bytes)
        return [
            LoggedEvent(seq, Event(event_id=event_id, stream=of, kind=kind, verb=verb, body=body), at)
            for seq, event_id, of, kind, verb, body, at in rows
        ]

    async def newest(self, streams: Collection[str]) -> Mapping[str, int]:
        """The number of each stream's newest event; see `Tail`."""
        return dict(map(tuple, await self._pool.fetch(NEWEST, list(streams))))
