"""Queueing work within a change."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.places import folded_of
from lakeward_catalog.application.ports.system import Ids
from lakeward_catalog.domain.tasks import NewTask
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection

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
            )
            # An equal one can end between the two statements; then there is none, and ours is made.
            if queued is not None or (queued := await self._connection.fetchval(QUEUED, *equal)) is not None:
                found: UUID = queued
                return found
