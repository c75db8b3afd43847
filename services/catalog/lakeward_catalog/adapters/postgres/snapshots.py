"""Snapshots of warehouses, for who reads their events from the beginning.

A snapshot is made in one transaction that sees one moment, and kept as rows, so that a consumer may take its time: a transaction
that stays open as long as its slowest reader would keep every dead row of the outbox. Which events are in it is known because the
very same moment numbers them: all that is visible in the warehouse's outbox then is moved into the log, and what is not visible
is in neither. The sequencer waits for that, for as long as it takes to move them, and not while the snapshot is read.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from lakeward_catalog.adapters.postgres.rows import (
    NAMESPACE,
    TABULAR,
    WAREHOUSE,
    namespace_of,
    tabular_with_path,
    warehouse_of,
)
from lakeward_catalog.adapters.postgres.tags import DEFINITION, definition_of
from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.ports.system import Ids
from lakeward_catalog.application.snapshots import SnapshotTeller
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.tags import TaggedObject, TagScope
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import Entry, Snapshot
from lakeward_servicekit.events.postgres_log import MOVE_STREAM
from lakeward_servicekit.postgres.pools import Connection, Pool

CONNECTIONS: Final = 2
"""Of the pool that snapshots are made over: one numbers the moment, one reads it."""
_MOST_WAITING: Final = 10_000
_ROWS: Final = 200  # of which events are made at once; some milliseconds of work
_FRESH_FOR: Final = timedelta(hours=20)  # less than the log is ever kept
_KEPT: Final = 2  # of a warehouse, so that who reads the older one is not sent away by who asks for a new one

# A table's lock is taken before the transaction's moment, which begins with its first statement that reads.
_HOLD: Final = "lock table event_stream in share row exclusive mode"
_PATIENCE: Final = "set local lock_timeout = '10s'"
_WAITING: Final = "select count(*) from (select from outbox where stream = $1 limit $2) waiting"
_REACHED: Final = "select coalesce((select seq from event_stream where stream = $1), 0), clock_timestamp()"
_EXPORT: Final = "select pg_export_snapshot()"

_THE_WAREHOUSE: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = $1"
_NAMESPACES: Final = f"select {NAMESPACE} from namespace n where n.warehouse_id = $1 order by n.path_key"
_TABULARS: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.state <> 'staged'
 order by n.path_key, t.name_key, t.incarnation
"""
_TAGS: Final = f"""
select a.scope, coalesce(a.namespace_id, t.tabular_id), a.field_id, a.value, {DEFINITION}
  from tag_attachment a
  join tag_definition d on d.project_id = a.project_id and d.tag_id = a.tag_id
  left join tabular t on t.warehouse_id = a.warehouse_id and t.incarnation = a.incarnation
 where a.warehouse_id = $1 and (a.incarnation is null or t.state <> 'staged')
 order by a.attachment_id
"""
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


class Bells(Protocol):
    """What is rung when events are in the log."""

    def ring(self) -> None:
        """Say so."""
        ...


class PostgresSnapshots:
    """`Snapshots` of warehouses on Postgres."""

    def __init__(self, pool: Pool, *, announcer: Announcer, ids: Ids, bell: Bells, fresh_within: int = 10_000) -> None:
        """Make and read them.

        Args:
            pool: to the primary, of `CONNECTIONS` and of nobody else.
            announcer: makes their events.
            ids: names them.
            bell: wakes the sequencer, and the sinks by it.
            fresh_within: events of the log after which a new one is made.
        """
        self._pool: Final = pool
        self._announcer: Final = announcer
        self._ids: Final = ids
        self._bell: Final = bell
        self._fresh_within: Final = fresh_within
        self._turn: Final = asyncio.Lock()  # each takes all of the pool's connections
        self._making: Final[dict[str, asyncio.Task[Snapshot]]] = {}

    async def current(self, stream: str) -> Snapshot:
        """See `Snapshots`; the stream is a warehouse's."""
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
            return await self._make(WarehouseId(UUID(stream)), stream)

    async def find(self, stream: str, snapshot_id: UUID) -> Snapshot | None:
        """See `Snapshots`."""
        row = await self._pool.fetchrow(FIND, stream, snapshot_id)
        return None if row is None else Snapshot(*row)

    async def read(self, snapshot_id: UUID, *, after: int, limit: int, most_bytes: int) -> Sequence[Entry]:
        """See `Snapshots`."""
        return [Entry(*row) for row in await self._pool.fetch(ENTRIES, snapshot_id, after, limit, most_bytes)]

    async def _make(self, warehouse_id: WarehouseId, stream: str) -> Snapshot:
        async with self._moment(stream) as (connection, sequence, made_at):
            snapshot_id, entries = self._ids.uuid7(), 0
            async for events in _told(connection, warehouse_id, self._announcer, sequence, made_at):
                rows = [
                    (snapshot_id, entry, event.kind, event.verb, event.body)
                    for entry, event in enumerate(events, entries + 1)
                ]
                await connection.copy_records_to_table("event_snapshot_entry", records=rows, columns=_ENTRY)
                entries += len(rows)
            await connection.execute(_KEEP, stream, snapshot_id, sequence, entries, made_at)
        async with self._pool.changing() as connection:
            await connection.fetchval(_OTHERS, stream, _KEPT)
        return Snapshot(snapshot_id, sequence, entries, made_at)

    @contextlib.asynccontextmanager
    async def _moment(self, stream: str) -> AsyncIterator[tuple[Connection, int, datetime]]:
        """A transaction that sees the warehouse as it is after the event of a number, and what the clock said then."""
        async with contextlib.AsyncExitStack() as stack:
            async with self._pool.transaction(isolation="repeatable_read") as numbering:
                await numbering.execute(_PATIENCE)
                await numbering.execute(_HOLD)
                if await numbering.fetchval(_WAITING, stream, _MOST_WAITING + 1) > _MOST_WAITING:
                    raise _behind(stream)
                await numbering.fetchval(MOVE_STREAM, _MOST_WAITING, stream)
                reached = await numbering.fetchrow(_REACHED, stream)
                assert reached is not None, "it selects one row from no table"
                sequence, made_at = reached
                exported = await numbering.fetchval(_EXPORT)
                reading = await stack.enter_async_context(self._pool.transaction(isolation="repeatable_read"))
                await reading.execute(f"set transaction snapshot '{exported}'")
            # the numbers are committed, and the sequencer goes on
            self._bell.ring()
            yield reading, sequence, made_at


async def _told(
    connection: Connection, warehouse_id: WarehouseId, announcer: Announcer, sequence: int, at: datetime
) -> AsyncIterator[Sequence[Event]]:
    """The events of all that a transaction sees in a warehouse, some at a time."""
    row = await connection.fetchrow(_THE_WAREHOUSE, warehouse_id)
    if row is None:
        raise no_such_warehouse(warehouse_id)
    told = 1
    teller = SnapshotTeller(announcer, warehouse_of(row), at)
    yield [teller.of_warehouse()]
    for statement, tell in (
        (_NAMESPACES, lambda row: teller.of_namespace(namespace_of(row))),
        (_TABULARS, lambda row: teller.of_tabular(tabular_with_path(row))),
        (_TAGS, lambda row: _tag(teller, warehouse_id, row)),
    ):
        cursor = await connection.cursor(statement, warehouse_id)
        while rows := await cursor.fetch(_ROWS):
            yield list(map(tell, rows))
            told += len(rows)
    yield [teller.completed(sequence=sequence, entities=told)]


def _tag(teller: SnapshotTeller, warehouse_id: WarehouseId, row: Iterable[Any]) -> Event:
    scope, object_id, field_id, value, *definition = row
    target = TaggedObject(TagScope(scope), warehouse_id, object_id, field_id)
    return teller.of_tag(definition_of(definition), target, value)


def _behind(stream: str) -> Refusal:
    return Refusal(
        Reason.REASON_EVENTS_BEHIND,
        f"more than {_MOST_WAITING} events of {stream} wait to be put in order, so no snapshot is made now; try again soon",
        stream=stream,
    )
