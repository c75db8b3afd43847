"""What sinks refused, kept whole until somebody has it published again or drops it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import asyncpg

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.relay import DeadLetter, LoggedEvent
from lakeward_servicekit.postgres.pools import Pool

# One holder of the sink's lease writes here, so nobody else adds to the count meanwhile.
PUT: Final = """
insert into dead_letter (sink, stream, seq, event_id, kind, verb, body, at, reason, attempts)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
 where (select count(*) from dead_letter where sink = $1) < $11
on conflict (sink, stream, seq) do update
   set reason = excluded.reason, attempts = dead_letter.attempts + excluded.attempts,
       refused_at = clock_timestamp(), again = false
returning seq
"""
AGAIN: Final = """
select seq, event_id, stream, kind, verb, body, at from dead_letter where sink = $1 and again order by refused_at, seq limit 20
"""
TAKEN: Final = "delete from dead_letter where sink = $1 and stream = $2 and seq = $3"
REFUSED: Final = """
update dead_letter set reason = $4, attempts = attempts + 1, refused_at = clock_timestamp(), again = false
 where sink = $1 and stream = $2 and seq = $3
"""
# The operator's.
LIST: Final = """
select sink, stream, seq, kind, verb, octet_length(body), at, reason, attempts, refused_at, again
  from dead_letter where ($1::text is null or sink = $1) order by refused_at, sink, stream, seq limit $2
"""
RETRY: Final = """
update dead_letter set again = true
 where ($1::text is null or sink = $1) and ($2::text is null or stream = $2) and ($3::bigint is null or seq = $3)
"""
DROP: Final = """
delete from dead_letter
 where ($1::text is null or sink = $1) and ($2::text is null or stream = $2) and ($3::bigint is null or seq = $3)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """An event that was set aside, as an operator is shown it.

    Attributes:
        size: bytes of the event.
        written_at: when its change wrote it.
        again: it is wanted again, and was not published since.
    """

    sink: str
    stream: str
    sequence: int
    kind: str
    verb: str
    size: int
    written_at: datetime
    reason: str
    attempts: int
    refused_at: datetime
    again: bool


class PostgresDeadLetters:
    """The dead letters of one service."""

    def __init__(self, pool: Pool) -> None:
        """Keep them in the schema that `pool` works in."""
        self._pool: Final = pool

    async def set_aside(self, letter: DeadLetter, *, most: int) -> bool:
        """See `EventLog`."""
        logged, event = letter.logged, letter.logged.event
        row = (letter.sink, event.stream, logged.sequence, event.event_id, event.kind, event.verb, event.body)
        async with self._pool.changing() as connection:
            put = await connection.fetchval(PUT, *row, logged.written_at, letter.reason, letter.attempts, most)
        return put is not None

    async def wanted_again(self, sink: str) -> Sequence[LoggedEvent]:
        """See `EventLog`."""
        return [logged_of(row) for row in await self._pool.fetch(AGAIN, sink)]

    async def settle(self, sink: str, stream: str, sequence: int, *, refused: str | None = None) -> None:
        """See `EventLog`."""
        if refused is None:
            await self._pool.execute(TAKEN, sink, stream, sequence)
        else:
            await self._pool.execute(REFUSED, sink, stream, sequence, refused)

    async def shown(self, *, sink: str | None = None, limit: int) -> Sequence[Kept]:
        """What is set aside, the longest refused first.

        Args:
            sink: of this one alone; None: of all.
            limit: most of them.
        """
        return [Kept(*row) for row in await self._pool.fetch(LIST, sink, limit)]

    async def retry(self, *, sink: str | None = None, stream: str | None = None, sequence: int | None = None) -> int:
        """Have them published again; how many. What is None does not narrow."""
        return _count(await self._pool.execute(RETRY, sink, stream, sequence))

    async def drop(self, *, sink: str | None = None, stream: str | None = None, sequence: int | None = None) -> int:
        """Forget them unpublished; how many. What is None does not narrow."""
        return _count(await self._pool.execute(DROP, sink, stream, sequence))


def logged_of(row: asyncpg.Record) -> LoggedEvent:
    """An event of a row that has seq, event_id, stream, kind, verb, body, and when it was written."""
    sequence, event_id, stream, kind, verb, body, written_at = row
    return LoggedEvent(sequence, Event(event_id, stream, kind, verb, body), written_at)


def _count(tag: str) -> int:
    return int(tag.rpartition(" ")[2])
