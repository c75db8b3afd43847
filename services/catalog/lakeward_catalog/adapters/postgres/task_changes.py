"""Queueing work within a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from lakeward_catalog.adapters.postgres.places import folded_of
from lakeward_catalog.adapters.postgres.tasks import BEGUN, IN_PROJECT, LOGGED
from lakeward_catalog.application.changes import QueuedTask
from lakeward_catalog.domain.model import Incarnation, ProjectId, WarehouseId
from lakeward_catalog.domain.names import SEPARATOR
from lakeward_catalog.domain.schedules import Cron
from lakeward_catalog.domain.tasks import Asked, Level, NewTask, Owner, Queue, QueueConfig, Task
from lakeward_catalog.domain.wording import already_queued
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.system import Ids

_AT_ONCE: Final = 2000
# Whoever has queued more than one task a second stands in line behind itself; see `tasks`.
_LINE: Final = """
       greatest(g.scheduled_for, (
           select t.turn + interval '1 second' from task t
            where t.warehouse_id = g.warehouse_id and t.queue = g.queue and t.state = 'waiting' and t.due_at <= g.scheduled_for
            order by t.due_at desc, t.turn desc limit 1))
       + (row_number() over (partition by g.warehouse_id, g.project_id, g.queue order by g.ordinal) - 1) * interval '1 second'
"""
ENQUEUE: Final = f"""
insert into task (warehouse_id, project_id, task_id, queue, incarnation, name, location, location_key, location_folded, purge,
       due_at, scheduled_for, kind, tabular_id, path, created_at, parent_id, plan, turn)
select g.warehouse_id, g.project_id, g.task_id, g.queue, g.subject, g.name, g.location, g.location_key, g.location_folded,
       g.purge, g.scheduled_for, g.scheduled_for, g.kind, g.tabular_id, string_to_array(g.path, E'\\x1f'), g.created_at,
       g.parent_id, g.plan::json, {_LINE}
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::boolean[], $11::timestamptz[], $12::text[], $13::uuid[], $14::text[], $15::timestamptz[], $16::uuid[],
              $17::text[]) with ordinality
       g(warehouse_id, project_id, task_id, queue, subject, name, location, location_key, location_folded, purge, scheduled_for,
         kind, tabular_id, path, created_at, parent_id, plan, ordinal)
    on conflict do nothing
returning task_id
"""
_QUEUED: Final = "select task_id from task where {} and queue = $2 and {} and state in ('waiting', 'running')"
QUEUED: Final = {
    Level.WAREHOUSE: _QUEUED.format("warehouse_id = $1", "incarnation = $3"),
    Level.PROJECT: _QUEUED.format("project_id = $1", "incarnation is not distinct from $3"),
}

# One that waits would have begun its next attempt; one that runs has begun it, and that is not recorded yet.
_ENDED: Final = f"""
    returning {LOGGED}, state = 'running' as begun, due_at, scheduled_for, started_at, attempt, progress)
insert into task_log ({LOGGED}, scheduled_for, started_at, attempt, outcome, message, progress, ended_at, in_project)
select {LOGGED}, case when begun then scheduled_for else due_at end, case when begun then started_at end,
       case when begun then attempt else attempt + 1 end, 'cancelled', $3, progress, $4, {IN_PROJECT}
  from gone l
"""
CANCEL: Final = f"""
with gone as (
    delete from task where warehouse_id = $1 and incarnation = any($2::uuid[]) and queue = $5 {_ENDED}
"""
_OWNER: Final = {Level.WAREHOUSE: "warehouse_id", Level.PROJECT: "project_id"}


def _of_each(statement: str) -> Mapping[Level, str]:
    """A statement on tasks of one owner, by its level."""
    return {level: statement.replace("<owner>", owner) for level, owner in _OWNER.items()}


END: Final = _of_each(f"""
with gone as (
    delete from task where <owner> = $1 and task_id = any($2::uuid[]) {_ENDED}
""")
LOCK: Final = _of_each("""
select task_id, queue, incarnation, state from task
 where <owner> = $1 and task_id = any($2::uuid[]) order by task_id for update
""")
ASK: Final = _of_each("""
update task set asked = $3
 where <owner> = $1 and task_id = any($2::uuid[]) and state = 'running' and asked is distinct from 'cancel'
""")
RUN: Final = _of_each(f"""
with late as (
    select {BEGUN}, progress from task
     where <owner> = $1 and task_id = any($2::uuid[]) and state = 'running' and asked is not null),
recorded as (
    insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
    select {BEGUN}, 'failed', 'It did not stop in time', progress, $4, {IN_PROJECT} from late l
        on conflict (task_id, attempt) do nothing)
update task
   set state = 'waiting', due_at = $3, turn = $3, asked = null, message = null,
       spent = case when state = 'failed' then attempt else spent end
 where <owner> = $1 and task_id = any($2::uuid[]) and (state in ('waiting', 'failed') or asked is not null)
""")
CONFIGURE: Final = _of_each("""
insert into queue_setting as kept (setting_id, <owner>, queue, silence, cleanup_period, retention_period)
values ($1, $2, $3, $4, $5, $6)
    on conflict (<owner>, queue) where <owner> is not null do update
   set silence = excluded.silence, cleanup_period = excluded.cleanup_period, retention_period = excluded.retention_period,
       next_at = case when kept.cron is null then least(kept.next_at, coalesce($7, kept.next_at)) else kept.next_at end
 where (kept.silence, kept.cleanup_period, kept.retention_period)
       is distinct from (excluded.silence, excluded.cleanup_period, excluded.retention_period)
returning setting_id
""")
UNSET: Final = _of_each("""
update queue_setting set silence = null, cleanup_period = null, retention_period = null
 where <owner> = $1 and queue = $2 and (silence is not null or cleanup_period is not null or retention_period is not null)
returning setting_id
""")
SCHEDULE: Final = """
insert into queue_setting as kept (setting_id, project_id, queue, cron, time_zone, next_at) values ($1, $2, $3, $4, $5, $6)
    on conflict (project_id, queue) where project_id is not null do update
   set cron = excluded.cron, time_zone = excluded.time_zone, next_at = excluded.next_at
 where (kept.cron, kept.time_zone) is distinct from (excluded.cron, excluded.time_zone)
returning setting_id
"""
UNSCHEDULE: Final = """
update queue_setting set cron = null, time_zone = null, next_at = $3
 where project_id = $1 and queue = $2 and cron is not null
returning setting_id
"""
HELD: Final = (
    "select task_id from task where task_id = $1 and fence = $2 and state = 'running' and asked is null for update"
)


class PostgresTaskChanges:
    """`TaskChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, *, ids: Ids) -> None:
        """Queue through `connection`, whose transaction someone else ends; `ids` names new tasks."""
        self._connection: Final = connection
        self._ids: Final = ids

    async def enqueue(self, task: NewTask) -> UUID:
        """See `TaskChanges`."""
        equal = QUEUED[Level.of(task.owner)], task.owner, task.queue.value, task.subject
        while True:
            queued = await self._connection.fetchval(ENQUEUE, *self._columns([task]))
            # An equal one can end between the two statements; then there is none, and ours is made.
            if queued is None:
                queued = await self._connection.fetchval(*equal)
            if queued is not None:
                found: UUID = queued
                return found

    async def enqueue_all(self, tasks: Sequence[NewTask]) -> None:
        """See `TaskChanges`."""
        for start in range(0, len(tasks), _AT_ONCE):
            await self._connection.execute(ENQUEUE, *self._columns(tasks[start : start + _AT_ONCE]))

    def _columns(self, tasks: Sequence[NewTask]) -> Iterable[Sequence[object]]:
        """What `ENQUEUE` takes, column by column."""
        return zip(*(self._row(task) for task in tasks), strict=True)

    def _row(self, task: NewTask) -> tuple[object, ...]:
        of_warehouse = Level.of(task.owner) is Level.WAREHOUSE
        location = None if task.location is None else Location.parse(task.location)
        return (
            task.owner if of_warehouse else None,
            None if of_warehouse else task.owner,
            self._ids.uuid7(),
            task.queue.value,
            task.subject,
            task.name,
            task.location,
            None if location is None else location.key,
            None if location is None else folded_of(location),
            task.purge,
            task.scheduled_for,
            None if task.tabular is None else task.tabular.kind.value,
            None if task.tabular is None else task.tabular.tabular_id,
            SEPARATOR.join(task.path),
            task.created_at,
            task.parent_id,
            msgspec.json.encode(task.plan).decode() if task.plan else None,
        )

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

    async def lock(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[QueuedTask]:
        """See `TaskChanges`."""
        rows = await self._connection.fetch(LOCK[Level.of(owner)], owner, list(task_ids))
        return [
            QueuedTask(task_id, Queue(queue), subject, state != "failed", state == "running")
            for task_id, queue, subject, state in rows
        ]

    async def end(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, message: str) -> None:
        """See `TaskChanges`."""
        await self._connection.execute(END[Level.of(owner)], owner, list(task_ids), message, at)

    async def ask(self, owner: Owner, task_ids: Collection[UUID], asked: Asked) -> None:
        """See `TaskChanges`."""
        await self._connection.execute(ASK[Level.of(owner)], owner, list(task_ids), asked.value)

    async def run(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, now: datetime) -> None:
        """See `TaskChanges`."""
        try:
            await self._connection.execute(RUN[Level.of(owner)], owner, list(task_ids), at, now)
        except asyncpg.UniqueViolationError:
            raise already_queued(task_ids) from None

    async def configure(self, owner: Owner, queue: Queue, config: QueueConfig, *, next_at: datetime | None) -> bool:
        """See `TaskChanges`."""
        if config == QueueConfig():
            return await self._connection.fetchval(UNSET[Level.of(owner)], owner, queue.value) is not None
        row = (self._ids.uuid7(), owner, queue.value, config.silence, config.every, config.kept_for, next_at)
        return await self._connection.fetchval(CONFIGURE[Level.of(owner)], *row) is not None

    async def schedule(self, project_id: ProjectId, queue: Queue, cron: Cron | None, *, next_at: datetime) -> bool:
        """See `TaskChanges`."""
        if cron is None:
            return await self._connection.fetchval(UNSCHEDULE, project_id, queue.value, next_at) is not None
        row = (self._ids.uuid7(), project_id, queue.value, cron.expression, cron.zone, next_at)
        return await self._connection.fetchval(SCHEDULE, *row) is not None

    async def active(self, owner: Owner, queue: Queue, subject: UUID | None) -> UUID | None:
        """See `TaskChanges`."""
        found: UUID | None = await self._connection.fetchval(QUEUED[Level.of(owner)], owner, queue.value, subject)
        return found

    async def is_held(self, task: Task) -> bool:
        """See `TaskChanges`."""
        return await self._connection.fetchval(HELD, task.task_id, task.fence) is not None
