"""Changes of the tree that authz has not confirmed, and the numbers that some of them have.

A change is a row that is written once and deleted once. Numbers are not in it: a stream's row holds the ids of the changes that
were sent, in the order of their numbers, which follow its `applied`. So numbering a thousand changes writes one row.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.growth import owner_of
from lakeward_catalog.application.tree import (
    PROJECTS,
    Answer,
    Batch,
    Gone,
    Made,
    Moved,
    Nothing,
    Numbered,
    StreamId,
    Switched,
    TreeChange,
)
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.postgres.pools import Connection, Pool

_LOG: Final = logging.getLogger("lakeward_catalog.feeding")

# Jumps from stream to stream, however many changes each has.
PENDING: Final = """
with recursive stream(warehouse_id) as (
    (select warehouse_id from tree_change order by warehouse_id limit 1)
    union all
    select (select c.warehouse_id from tree_change c
             where c.warehouse_id > stream.warehouse_id order by c.warehouse_id limit 1)
      from stream where stream.warehouse_id is not null)
select warehouse_id from stream where warehouse_id is not null
"""
# In a statement of its own: the next one's snapshot shows what the holder before did.
LOCK: Final = "select applied, in_flight from tree_stream where warehouse_id = $1 for update"
BEGIN: Final = """
insert into tree_stream (warehouse_id) select $1 where exists (select from tree_change where warehouse_id = $1)
on conflict (warehouse_id) do nothing
"""
# $2 was confirmed and goes, $3 keeps its numbers, and at most $4 others get the next ones. A warehouse without a row is deleted,
# and its last change knows its project.
TAKE: Final = """
with confirmed as (
    delete from tree_change where warehouse_id = $1 and change_id = any($2::bigint[])),
fresh as (
    select change_id from tree_change
     where warehouse_id = $1 and change_id <> all($2::bigint[]) and change_id <> all($3::bigint[])
     order by change_id limit $4),
flight as (
    select $3::bigint[] || coalesce(array_agg(change_id order by change_id), '{}') as ids from fresh),
noted as (
    update tree_stream set applied = $5, in_flight = flight.ids from flight
     where warehouse_id = $1 and (applied <> $5 or in_flight <> flight.ids)),
home as (
    select w.warehouse_id is null as closed, coalesce(w.project_id, (
               select project_id from tree_change where warehouse_id = $1 order by change_id desc limit 1)) as project_id
      from (select $1::uuid as warehouse_id) s left join warehouse w on w.warehouse_id = s.warehouse_id)
select place.number, c.verb, c.kind, c.object_id, coalesce(c.project_id, home.project_id), c.parent_id, c.public_id, c.owner,
       home.closed
  from flight cross join home cross join unnest(flight.ids) with ordinality as place(change_id, number)
  left join tree_change c on c.warehouse_id = $1 and c.change_id = place.change_id
 order by place.number
"""
FORGET: Final = """
delete from tree_stream s
 where warehouse_id = $1 and not exists (select from warehouse w where w.warehouse_id = s.warehouse_id)
"""
SKIP: Final = "update tree_change set verb = 'nothing' where warehouse_id = $1 and change_id = $2"


class PostgresTreeStreams:
    """`TreeStreams` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Take through `pool`."""
        self._pool: Final = pool

    async def pending(self) -> Sequence[StreamId]:
        """See `TreeStreams`."""
        return [StreamId(row[0]) for row in await self._pool.fetch(PENDING)]

    async def take(self, stream: StreamId, answer: Answer | None, *, limit: int) -> Batch:
        """See `TreeStreams`."""
        async with self._pool.transaction() as connection:
            locked = await _locked(connection, stream)
            if locked is None:
                return Batch(0, (), more=False)
            base, flight = _settled(stream, *locked, answer)
            confirmed = locked[1][: len(locked[1]) - len(flight)]
            room = max(limit - len(flight), 0)
            rows = await connection.fetch(TAKE, stream, confirmed, flight, room, base)
            if confirmed and not rows and stream != PROJECTS:
                await connection.execute(FORGET, stream)
        changes = [Numbered(base + row["number"], _change(stream, row)) for row in rows]
        return Batch(base, changes, more=len(rows) - len(flight) == room)

    async def pass_over(self, stream: StreamId, sequence: int) -> None:
        """See `TreeStreams`."""
        async with self._pool.transaction() as connection:
            locked = await _locked(connection, stream)
            if locked is not None and 0 < sequence - locked[0] <= len(locked[1]):
                await connection.execute(SKIP, stream, locked[1][sequence - locked[0] - 1])


async def _locked(connection: Connection, stream: StreamId) -> tuple[int, list[int]] | None:
    """How far a stream is, and what was sent of it; None where it has nothing."""
    row = await connection.fetchrow(LOCK, stream)
    if row is None:
        await connection.execute(BEGIN, stream)
        row = await connection.fetchrow(LOCK, stream)
    return None if row is None else (row["applied"], row["in_flight"])


def _settled(stream: StreamId, base: int, flight: list[int], answer: Answer | None) -> tuple[int, list[int]]:
    """How far a stream is after an answer, and what of that which was sent is not confirmed."""
    if answer is None:
        return base, flight
    if answer.applied < answer.base == base:
        _tell_apart(stream, base, answer.applied, "authz has lost what it had confirmed; was its database restored?")
        return answer.applied, flight
    if answer.applied > base + len(flight):
        _tell_apart(
            stream, base, answer.applied, "authz knows more than was sent; was the catalog's database restored?"
        )
        return answer.applied, flight
    confirmed = max(answer.applied - base, 0)
    return base + confirmed, flight[confirmed:]


def _tell_apart(stream: StreamId, base: int, applied: int, what: str) -> None:
    _LOG.error(
        "the catalog and authz are not at one: %s Run `lakeward authz verify --repair`",
        what,
        extra={"stream": str(stream), "confirmed": base, "applied": applied},
    )


def _change(stream: StreamId, row: asyncpg.Record) -> TreeChange:
    _, verb, kind, object_id, project_id, parent_id, public_id, owner, closed = row
    if verb is None or verb == "nothing" or project_id is None:
        return Nothing()
    ref = _ref(stream, ObjectKind[kind.upper()], project_id, object_id, parent_id)
    if verb == "gone" or (closed and stream != PROJECTS):
        return Gone(ref)
    match verb:
        case "moved":
            return Moved(ref)
        case "opened" | "closed":
            return Switched(ref, active=verb == "opened")
        case _:
            return Made(ref, owner_of(owner), public_id)


def _ref(
    stream: StreamId, kind: ObjectKind, project_id: str, object_id: UUID | None, parent_id: UUID | None
) -> ObjectRef:
    return ObjectRef(
        kind,
        project_id,
        "" if stream == PROJECTS else str(stream),
        b"" if object_id is None else object_id.bytes,
        b"" if parent_id is None else parent_id.bytes,
    )
