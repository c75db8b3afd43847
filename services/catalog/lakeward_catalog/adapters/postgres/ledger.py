"""What a change leaves beside its rows: events, what its key did, queued work.

Events and the key's record are gathered and written in one statement just before the commit, when every row they tell of is
locked. So two changes of one row write their events in the order in which they commit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.places import folded_of
from lakeward_catalog.application.ports import Remembered, Scope
from lakeward_catalog.domain.events import Event
from lakeward_catalog.domain.tasks import NewTask
from lakeward_locations import Location
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection

# `order by` makes the identities of several events grow in the order in which they were emitted.
TELL: Final = """
insert into outbox (event_id, stream, kind, verb, body)
select event.event_id, event.stream, event.kind, event.verb, event.body
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[])
       with ordinality as event(event_id, stream, kind, verb, body, place)
 order by event.place
"""
# Waits for a transaction that is writing the same key. An expired record counts as none.
REMEMBER: Final = """
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= $7
returning key
"""
TELL_AND_REMEMBER: Final = """
with told as (
    insert into outbox (event_id, stream, kind, verb, body)
    select event.event_id, event.stream, event.kind, event.verb, event.body
      from unnest($8::uuid[], $9::text[], $10::text[], $11::text[], $12::bytea[])
           with ordinality as event(event_id, stream, kind, verb, body, place)
     order by event.place)
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= $7
returning key
"""
ENQUEUE: Final = """
insert into task (warehouse_id, task_id, queue, incarnation, name, location, location_key, location_folded, purge, due_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (warehouse_id, queue, incarnation) where state in ('waiting', 'running') do nothing
returning task_id
"""
QUEUED: Final = """
select task_id from task
 where warehouse_id = $1 and queue = $2 and incarnation = $3 and state in ('waiting', 'running')
"""


@dataclasses.dataclass(frozen=True, slots=True)
class KeyRecord:
    """What a key did, and until when that is remembered."""

    scope: Scope
    remembered: Remembered
    until: datetime


async def write(connection: Connection, *, events: Sequence[Event], record: KeyRecord | None, now: datetime) -> None:
    """Write what was gathered.

    Raises:
        Refusal: REQUEST_IN_PROGRESS.
    """
    told = (
        [event.event_id for event in events],
        [event.stream for event in events],
        [event.kind for event in events],
        [event.verb for event in events],
        [event.body for event in events],
    )
    if record is None:
        if events:
            await connection.execute(TELL, *told)
        return
    scope = record.scope
    kept = (scope.owner, scope.principal, scope.key, record.remembered.fingerprint, record.remembered.outcome)
    if events:
        mine = await connection.fetchval(TELL_AND_REMEMBER, *kept, record.until, now, *told)
    else:
        mine = await connection.fetchval(REMEMBER, *kept, record.until, now)
    if mine is None:
        shown = str(scope.key)
        raise Refusal(
            Reason.REASON_REQUEST_IN_PROGRESS,
            f"another request with idempotency key {shown} came first; send this one again",
            key=shown,
        )


async def enqueue(connection: Connection, task: NewTask, *, task_id: UUID) -> UUID:
    """See `Change.enqueue`; `task_id` is for a new task."""
    equal = (task.warehouse_id, task.queue.value, task.incarnation)
    location = Location.parse(task.location)
    while True:
        queued = await connection.fetchval(
            ENQUEUE,
            task.warehouse_id,
            task_id,
            task.queue.value,
            task.incarnation,
            task.name,
            task.location,
            location.key,
            folded_of(location),
            task.purge,
            task.scheduled_for,
        )
        # An equal one can end between the two statements; then there is none, and ours is made.
        if queued is not None or (queued := await connection.fetchval(QUEUED, *equal)) is not None:
            found: UUID = queued
            return found
