"""Queueing work within a change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.places import folded_of
from lakeward_catalog.adapters.postgres.tasks import BEGUN, LOGGED
from lakeward_catalog.application.changes import QueuedTask
from lakeward_catalog.application.ports.system import Ids
from lakeward_catalog.domain.model import Incarnation, WarehouseId
from lakeward_catalog.domain.tasks import Asked, NewTask, Queue, Task
from lakeward_catalog.domain.wording import already_queued
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection

ENQUEUE: Final = """
insert into task (warehouse_id, task_id, queue, incarnation, name, location, location_key, location_folded, purge, due_at,
       scheduled_for, kind, tabular_id, path, created_at, parent_id)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15)
on conflict (warehouse_id, queue, incarnation) where state in ('waiting', 'running') do nothing
returning task_id
"""
QUEUED: Final = """
select task_id from task
 where warehouse_id = $1 and queue = $2 and incarnation = $3 and state in ('waiting', 'running')
"""

# One that waits would have begun its next attempt; one that runs has begun it, and that is not recorded yet.
_ENDED: Final = f"""
    returning {LOGGED}, state = 'running' as begun, due_at, scheduled_for, started_at, attempt, progress)
insert into task_log ({LOGGED}, scheduled_for, started_at, attempt, outcome, message, progress, ended_at)
select {LOGGED}, case when begun then scheduled_for else due_at end, case when begun then started_at end,
       case when begun then attempt else attempt + 1 end, 'cancelled', $3, progress, $4
  from gone
"""
CANCEL: Final = f"""
with gone as (
    delete from task where warehouse_id = $1 and incarnation = any($2::uuid[]) and queue = $5 {_ENDED}
"""
END: Final = f"""
with gone as (
    delete from task where warehouse_id = $1 and task_id = any($2::uuid[]) {_ENDED}
"""
LOCK: Final = """
select task_id, queue, incarnation, state from task
 where warehouse_id = $1 and task_id = any($2::uuid[]) order by task_id for update
"""
ASK: Final = """
update task set asked = $3
 where warehouse_id = $1 and task_id = any($2::uuid[]) and state = 'running' and asked is distinct from 'cancel'
"""
RUN: Final = f"""
with late as (
    select {BEGUN}, progress from task
     where warehouse_id = $1 and task_id = any($2::uuid[]) and state = 'running' and asked is not null),
recorded as (
    insert into task_log ({BEGUN}, outcome, message, progress, ended_at)
    select {BEGUN}, 'failed', 'It did not stop in time', progress, $4 from late
        on conflict (task_id, attempt) do nothing)
update task
   set state = 'waiting', due_at = $3, asked = null, message = null,
       spent = case when state = 'failed' then attempt else spent end
 where warehouse_id = $1 and task_id = any($2::uuid[]) and (state in ('waiting', 'failed') or asked is not null)
"""
SET_SILENCE: Final = """
insert into queue_setting as kept (setting_id, warehouse_id, queue, silence) values ($1, $2, $3, $4)
    on conflict (warehouse_id, queue) where warehouse_id is not null do update set silence = excluded.silence
 where kept.silence is distinct from excluded.silence
returning setting_id
"""
UNSET_SILENCE: Final = """
update queue_setting set silence = null where warehouse_id = $1 and queue = $2 and silence is not null returning setting_id
"""
HELD: Final = """
select task_id from task
 where warehouse_id = $1 and task_id = $2 and fence = $3 and state = 'running' and asked is null
   for update
"""


class PostgresTaskChanges:
    """`TaskChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, *, ids: Ids) -> None:
        """Queue through `connection`, whose transaction someone else ends; `ids` names new tasks."""
        self._connection: Final = connection
        self._ids: Final = ids

    async def enqueue(self, task: NewTask) -> UUID:
        """See `TaskChanges`."""
        equal = (task.warehouse_id, task.queue.value, task.incarnation)
        location = Location.parse(task.location)
        while True:
            queued = await self._connection.fetchval(
                ENQUEUE,
                task.warehouse_id,
                self._ids.uuid7(),
                task.queue.value,
                task.incarnation,
                task.name,
                task.location,
                location.key,
                folded_of(location),
                task.purge,
                task.scheduled_for,
                task.tabular.kind.value,
                task.tabular.tabular_id,
                list(task.path),
                task.created_at,
                task.parent_id,
            )
            # An equal one can end between the two statements; then there is none, and ours is made.
            if queued is not None or (queued := await self._connection.fetchval(QUEUED, *equal)) is not None:
                found: UUID = queued
                return found

    async def cancel(
        self,
        queue: Queue,
        warehouse_id: WarehouseId,
        incarnations: Collection[Incarnation],
        *,
        at: datetime,
        message: str,
    ) -> None:
        """See `TaskChanges`."""
        await self._connection.execute(CANCEL, warehouse_id, list(incarnations), message, at, queue.value)

    async def lock(self, warehouse_id: WarehouseId, task_ids: Collection[UUID]) -> Sequence[QueuedTask]:
        """See `TaskChanges`."""
        rows = await self._connection.fetch(LOCK, warehouse_id, list(task_ids))
        return [
            QueuedTask(task_id, Queue(queue), Incarnation(incarnation), state != "failed", state == "running")
            for task_id, queue, incarnation, state in rows
        ]

    async def end(self, warehouse_id: WarehouseId, task_ids: Collection[UUID], *, at: datetime, message: str) -> None:
        """See `TaskChanges`."""
        await self._connection.execute(END, warehouse_id, list(task_ids), message, at)

    async def ask(self, warehouse_id: WarehouseId, task_ids: Collection[UUID], asked: Asked) -> None:
        """See `TaskChanges`."""
        await self._connection.execute(ASK, warehouse_id, list(task_ids), asked.value)

    async def run(self, warehouse_id: WarehouseId, task_ids: Collection[UUID], *, at: datetime, now: datetime) -> None:
        """See `TaskChanges`."""
        try:
            await self._connection.execute(RUN, warehouse_id, list(task_ids), at, now)
        except asyncpg.UniqueViolationError:
            raise already_queued(task_ids) from None

    async def set_silence(self, warehouse_id: WarehouseId, queue: Queue, silence: timedelta | None) -> bool:
        """See `TaskChanges`."""
        if silence is None:
            return await self._connection.fetchval(UNSET_SILENCE, warehouse_id, queue.value) is not None
        row = (self._ids.uuid7(), warehouse_id, queue.value, silence)
        return await self._connection.fetchval(SET_SILENCE, *row) is not None

    async def is_held(self, task: Task) -> bool:
        """See `TaskChanges`."""
        return await self._connection.fetchval(HELD, task.warehouse_id, task.task_id, task.fence) is not None
