"""Snapshots of streams, for who reads them from the beginning.

A snapshot is made in one transaction that sees one moment, and kept as rows, so that a consumer may take its time: a transaction
that stays open as long as its slowest reader would keep every dead row of the outbox. Which events are in it is known because the
very same moment numbers them: all that is visible of the stream in the outbox then is moved into the log, and what is not visible
is in neither. The sequencer waits for that, for as long as it takes to move them, and not while the snapshot is read.

What is there at that moment is the service's own to say: it brings the statements, and makes events of their rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from uuid import UUID

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import Entry, Snapshot
from lakeward_servicekit.events.postgres_log import MOVE_STREAM
from lakeward_servicekit.postgres.pools import Connection, Pool
from lakeward_servicekit.system import Ids

if TYPE_CHECKING:
    from asyncpg import Record

CONNECTIONS: Final = 2
"""Of the pool that snapshots are made over: one numbers the moment, one reads it."""
KEPT_FOR: Final = timedelta(days=1)
"""How long a snapshot can be read."""
_MOST_WAITING: Final = 10_000
_ROWS: Final = 200  # of which events are made at once; some milliseconds of work
_FRESH_FOR: Final = timedelta(hours=20)  # less than the log is ever kept
_KEPT: Final = 2  # of a stream, so that who reads the older one is not sent away by who asks for a new one

# A table's lock is taken before the transaction's moment, which begins with its first statement that reads.
_HOLD: Final = "lock table event_stream in share row exclusive mode"
_PATIENCE: Final = "set local lock_timeout = '10s'"
_WAITING: Final = "select count(*) from (select from outbox where stream = $1 limit $2) waiting"
_REACHED: Final = "select coalesce((select seq from event_stream where stream = $1), 0), clock_timestamp()"
_EXPORT: Final = "select pg_export_snapshot()"

_KEEP: Final = """
insert into event_snapshot (stream, snapshot_id, seq, entries, made_at) values ($1, $2, $3, $4, $5)
"""
_ENTRY: Final = ("snapshot_id", "entry", "kind", "verb", "body")
_SNAPSHOT: Final = "s.snapshot_id, s.seq, s.entries, s.made_at"
# One from which the log goes on, and which is not so far behind it that a new one is sooner read.
CURRENT: Final = f"""
select {_SNAPSHOT} from event_snapshot s
 where s.stream = $1 and s.made_at > clock_timestamp() - $2::interval
   and coalesce((select known.seq from event_stream known where known.stream = s.stream), 0) <= s.seq + $3
   and coalesce((select min(seq) from event_log where stream = s.stream), s.seq) <= s.seq + 1
 order by s.seq desc, s.made_at desc limit 1
"""
FIND: Final = f"select {_SNAPSHOT} from event_snapshot s where s.stream = $1 and s.snapshot_id = $2"
ENTRIES: Final = """
select kind, verb, body
  from (select entry, kind, verb, body, sum(octet_length(body)) over (order by entry) - octet_length(body) as before
          from (select entry, kind, verb, body from event_snapshot_entry
                 where snapshot_id = $1 and entry > $2 order by entry limit $3) page) measured
 where before <= $4 - octet_length(body) or before = 0
 order by entry
"""
_FORGET: Final = """
with gone as (
    delete from event_snapshot where snapshot_id in ({which}) returning snapshot_id),
emptied as (
    delete from event_snapshot_entry where snapshot_id in (select snapshot_id from gone))
select count(*) from gone
"""
_OTHERS: Final = _FORGET.format(
    which="select snapshot_id from event_snapshot where stream = $1 order by made_at desc offset $2"
)
OLD: Final = _FORGET.format(
    which="select snapshot_id from event_snapshot where made_at < $1 order by made_at limit $2 for update skip locked"
)
_AGED: Final = "select clock_timestamp() - $1::interval"


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """When a snapshot is of.

    Attributes:
        stream: of which it is.
        sequence: the number of the last event of the log whose change is seen; each later one's is not.
        at: what the clock said.
    """

    stream: str
    sequence: int
    at: datetime


Told: TypeAlias = AsyncIterator[Sequence[Event]]
Chapter: TypeAlias = "tuple[str, Callable[[Sequence[Record]], Sequence[Event]]]"
"""A statement, and what is told of some of its rows; in text, since asyncpg's classes are needed by its readers alone."""


class Tells(Protocol):
    """What a service brings."""

    def __call__(self, connection: Connection, moment: Moment) -> Told:
        """The events of all that a transaction sees of what a stream tells of, some at a time; the last one says that it ends.

        Raises:
            Refusal: whose the stream is, is gone.
        """
        ...


async def chapters(
    connection: Connection,
    told: Sequence[Chapter],
    *arguments: object,
    first: Sequence[Event],
    last: Callable[[int], Event],
) -> Told:
    """What comes first, then what each chapter tells, and the end.

    Args:
        connection: in the transaction that sees the moment.
        told: in their order.
        arguments: of every statement.
        first: what there is one of.
        last: the end, by how many events came before it.
    """
    yield first
    count = len(first)
    for statement, tell in told:
        cursor = await connection.cursor(statement, *arguments)
        while rows := await cursor.fetch(_ROWS):
            events = tell(rows)
            count += len(events)
            yield events
    yield [last(count)]


class PostgresSnapshots:
    """`Snapshots` on Postgres."""

    def __init__(
        self, pool: Pool, *, tells: Tells, ids: Ids, moved: Callable[[], None], fresh_within: int = 10_000
    ) -> None:
        """Make and read them.

        Args:
            pool: to the primary, of `CONNECTIONS` and of nobody else.
            tells: what is there.
            ids: names them.
            moved: wakes the sequencer, and the sinks by it.
            fresh_within: events of the log after which a new one is made.
        """
        self._pool: Final = pool
        self._tells: Final = tells
        self._ids: Final = ids
        self._moved: Final = moved
        self._fresh_within: Final = fresh_within
        self._turn: Final = asyncio.Lock()  # each takes all of the pool's connections
        self._making: Final[dict[str, asyncio.Task[Snapshot]]] = {}

    async def current(self, stream: str) -> Snapshot:
        """See `Snapshots`."""
        making = self._making.get(stream)
        if making is None:
            making = self._making[stream] = asyncio.create_task(self._found_or_made(stream))
            making.add_done_callback(lambda _: self._making.pop(stream))
        # who asks may have less time than it takes; it is made all the same, and there when it is asked for again
        return await asyncio.shield(making)

    async def close(self) -> None:
        """Leave what is being made."""
        for making in tuple(self._making.values()):
            making.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    async def _found_or_made(self, stream: str) -> Snapshot:
        row = await self._pool.fetchrow(CURRENT, stream, _FRESH_FOR, self._fresh_within)
        if row is not None:
            return Snapshot(*row)
        async with self._turn:
            return await self._make(stream)

    async def find(self, stream: str, snapshot_id: UUID) -> Snapshot | None:
        """See `Snapshots`."""
        row = await self._pool.fetchrow(FIND, stream, snapshot_id)
        return None if row is None else Snapshot(*row)

    async def read(self, snapshot_id: UUID, *, after: int, limit: int, most_bytes: int) -> Sequence[Entry]:
        """See `Snapshots`."""
        return [Entry(*row) for row in await self._pool.fetch(ENTRIES, snapshot_id, after, limit, most_bytes)]

    async def _make(self, stream: str) -> Snapshot:
        async with self._moment(stream) as (connection, moment):
            snapshot_id, entries = self._ids.uuid7(), 0
            async for events in self._tells(connection, moment):
                rows: list[tuple[Any, ...]] = [
                    (snapshot_id, entry, event.kind, event.verb, event.body)
                    for entry, event in enumerate(events, entries + 1)
                ]
                await connection.copy_records_to_table("event_snapshot_entry", records=rows, columns=_ENTRY)
                entries += len(rows)
            await connection.execute(_KEEP, stream, snapshot_id, moment.sequence, entries, moment.at)
        async with self._pool.changing() as connection:
            await connection.fetchval(_OTHERS, stream, _KEPT)
        return Snapshot(snapshot_id, moment.sequence, entries, moment.at)

    @contextlib.asynccontextmanager
    async def _moment(self, stream: str) -> AsyncIterator[tuple[Connection, Moment]]:
        """A transaction that sees what is there after the event of a number, and which that is."""
        async with contextlib.AsyncExitStack() as stack:
            async with self._pool.transaction(isolation="repeatable_read") as numbering:
                await numbering.execute(_PATIENCE)
                await numbering.execute(_HOLD)
                if await numbering.fetchval(_WAITING, stream, _MOST_WAITING + 1) > _MOST_WAITING:
                    raise _behind(stream)
                await numbering.fetchval(MOVE_STREAM, _MOST_WAITING, stream)
                reached = await numbering.fetchrow(_REACHED, stream)
                assert reached is not None, "it selects one row from no table"
                sequence, at = reached
                exported = await numbering.fetchval(_EXPORT)
                reading = await stack.enter_async_context(self._pool.transaction(isolation="repeatable_read"))
                await reading.execute(f"set transaction snapshot '{exported}'")
            # the numbers are committed, and the sequencer goes on
            self._moved()
            yield reading, Moment(stream, sequence, at)


async def forget_old(pool: Pool) -> int:
    """Forget a snapshot that is kept no longer; how many were."""
    before = await pool.fetchval(_AGED, KEPT_FOR)
    async with pool.changing() as connection:
        count: int = await connection.fetchval(OLD, before, 1)  # each has many entries
    return count


def _behind(stream: str) -> Refusal:
    return Refusal(
        Reason.REASON_EVENTS_BEHIND,
        f"more than {_MOST_WAITING} events of {stream} wait to be put in order, so no snapshot is made now; try again soon",
        stream=stream,
    )
