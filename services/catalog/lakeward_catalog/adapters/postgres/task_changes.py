"""Queueing work within a change."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.places import folded_of
from lakeward_catalog.adapters.postgres.tasks import LOGGED
from lakeward_catalog.application.ports.system import Ids
from lakeward_catalog.domain.model import Incarnation, WarehouseId
from lakeward_catalog.domain.tasks import NewTask, Queue, Task
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
CANCEL: Final = f"""
with gone as (
    delete from task where warehouse_id = $1 and queue = $2 and incarnation = any($3::uuid[])
    returning {LOGGED}, state = 'running' as begun, due_at, scheduled_for, started_at, attempt, progress)
insert into task_log ({LOGGED}, scheduled_for, started_at, attempt, outcome, message, progress, ended_at)
select {LOGGED}, case when begun then scheduled_for else due_at end, case when begun then started_at end,
       case when begun then attempt else attempt + 1 end, 'cancelled', $4, progress, $5
  from gone
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
        await self._connection.execute(CANCEL, warehouse_id, queue.value, list(incarnations), message, at)

    async def is_held(self, task: Task) -> bool:
        """See `TaskChanges`."""
        return await self._connection.fetchval(HELD, task.warehouse_id, task.task_id, task.fence) is not None
