"""Reading queued tasks, and the record of those that have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from lakeward_catalog.adapters.postgres.rows import searchable
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tasks import AttemptRecord, TaskFilter, TaskRecord, TaskStatus
from lakeward_catalog.domain.model import Incarnation, Kind, ProjectId, TabularId, TabularKey
from lakeward_catalog.domain.schedules import Cron, Timetable
from lakeward_catalog.domain.tasks import Level, Owner, Queue, QueueConfig
from lakeward_servicekit.postgres.pools import Pool

_NAMES: Final = (
    "task_id, queue, status, incarnation, kind, tabular_id, path, parent_id, created_at, scheduled_for, started_at, heard_at, "
    "attempt, progress, message, location, purge, total, plan"
)
# A task that has ended well has its record alone, one that has not has its row: so each is found once.
_QUEUED: Final = """
select t.task_id, t.queue,
       case t.state when 'waiting' then 'scheduled' when 'failed' then 'failed'
            else case when t.asked is null then 'running' else 'stopping' end end as status,
       t.incarnation, t.kind, t.tabular_id, t.path, t.parent_id, t.created_at,
       case when t.state = 'waiting' then t.due_at else coalesce(t.scheduled_for, t.created_at) end as scheduled_for,
       t.started_at, case when t.state = 'running' then t.heard_at end as heard_at, t.attempt, t.progress,
       coalesce(t.message, '') as message, coalesce(t.location, '') as location, t.purge, t.total, t.plan
  from task t
"""
_ENDED: Final = """
select t.task_id, t.queue, t.outcome as status, t.incarnation, t.kind, t.tabular_id, t.path, t.parent_id,
       coalesce(t.created_at, t.ended_at) as created_at, coalesce(t.scheduled_for, t.created_at, t.ended_at) as scheduled_for,
       t.started_at, null::timestamptz as heard_at, t.attempt, t.progress,
       coalesce(t.message, '') as message, coalesce(t.location, '') as location, coalesce(t.purge, true) as purge, t.total,
       t.plan
  from task_log t
"""
_WHICH: Final = """
   and ($2::text[] is null or t.queue = any($2))
   and ($4::uuid[] is null or (t.tabular_id is null and $5)
        or exists (select from unnest($3::text[], $4::uuid[]) as e(kind, id) where e.kind = t.kind and e.id = t.tabular_id))
   and ($6::timestamptz is null or t.created_at > $6) and ($7::timestamptz is null or t.created_at < $7)
   and ($8::timestamptz is null or (t.created_at, t.task_id) < ($8, $9))
"""
_OWNED: Final = {Level.WAREHOUSE: "t.warehouse_id = $1", Level.PROJECT: "t.project_id = $1"}


def _of_each(statement: str) -> Mapping[Level, str]:
    """A statement on what one owner has, by its level."""
    return {level: statement.replace("<owned>", owned) for level, owned in _OWNED.items()}


LIST: Final = _of_each(f"""
select {_NAMES} from (
    (select {_NAMES} from ({_QUEUED} where <owned> {_WHICH}) q
      where $10::text[] is null or q.status = any($10)
      order by created_at desc, task_id desc limit $11)
    union all
    (select {_NAMES} from ({_ENDED} where <owned> and t.outcome in ('success', 'cancelled') {_WHICH}) l
      where $10::text[] is null or l.status = any($10)
      order by created_at desc, task_id desc limit $11)
  ) both_of
 order by created_at desc, task_id desc limit $11
""")
FIND: Final = _of_each(f"""
select {_NAMES} from ({_QUEUED} where <owned> and t.task_id = any($2::uuid[])) q
union all
select {_NAMES} from (
    {_ENDED} where <owned> and t.task_id = any($2::uuid[]) and t.outcome in ('success', 'cancelled')) l
""")
ATTEMPTS: Final = _of_each("""
select t.attempt, t.outcome, coalesce(t.scheduled_for, t.started_at, t.ended_at), t.started_at, t.ended_at,
       coalesce(t.message, ''), t.progress, t.total
  from task_log t where <owned> and t.task_id = $2
 order by t.attempt desc limit $3
""")
CONFIG: Final = _of_each("""
select t.silence, t.cleanup_period, t.retention_period from queue_setting t where <owned> and t.queue = $2
""")
TIMETABLE: Final = """
select cron, time_zone, cleanup_period, next_at from queue_setting where project_id = $1 and queue = $2
"""


class PostgresTaskRecords:
    """`TaskRecords` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, which leads to the primary: who has controlled a task sees what came of it."""
        self._pool: Final = pool

    async def list(self, owner: Owner, which: TaskFilter, *, after: After | None, limit: int) -> Sequence[TaskRecord]:
        """See `TaskRecords`."""
        keys = which.tabulars
        rows = await self._pool.fetch(
            LIST[Level.of(owner)],
            owner,
            None if which.queues is None else [searchable(queue) for queue in which.queues],
            None if keys is None else [key.kind.value for key in keys],
            None if keys is None else [key.tabular_id for key in keys],
            which.about_nothing,
            which.created_after,
            which.created_before,
            None if after is None else after.created_at,
            None if after is None else after.id,
            None if which.statuses is None else [status.value for status in which.statuses],
            limit,
        )
        return [_record(row) for row in rows]

    async def find(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[TaskRecord]:
        """See `TaskRecords`."""
        return [_record(row) for row in await self._pool.fetch(FIND[Level.of(owner)], owner, list(task_ids))]

    async def attempts(self, owner: Owner, task_id: UUID, *, limit: int) -> Sequence[AttemptRecord]:
        """See `TaskRecords`."""
        rows = await self._pool.fetch(ATTEMPTS[Level.of(owner)], owner, task_id, limit)
        return [AttemptRecord(row[0], TaskStatus(row[1]), *row[2:]) for row in rows]

    async def config(self, owner: Owner, queue: Queue) -> QueueConfig:
        """See `TaskRecords`."""
        row = await self._pool.fetchrow(CONFIG[Level.of(owner)], owner, queue.value)
        return QueueConfig() if row is None else QueueConfig(*row)

    async def timetable(self, project_id: ProjectId, queue: Queue) -> Timetable:
        """See `TaskRecords`."""
        row = await self._pool.fetchrow(TIMETABLE, project_id, queue.value)
        return Timetable() if row is None else timetable_of(row)


def timetable_of(row: Iterable[Any]) -> Timetable:
    """From `cron, time_zone, cleanup_period, next_at`."""
    cron, zone, every, next_at = row
    return Timetable(None if cron is None else Cron(cron, zone), every, next_at)


def _record(row: Iterable[Any]) -> TaskRecord:
    """From the columns of `_NAMES`."""
    task_id, queue, status, incarnation, kind, tabular_id, path, *rest = row
    rest[-1] = msgspec.json.decode(rest[-1] or "{}", type=dict[str, Any])  # the plan
    return TaskRecord(
        task_id,
        queue,
        TaskStatus(status),
        None if incarnation is None else Incarnation(incarnation),
        None if tabular_id is None else TabularKey(Kind(kind), TabularId(tabular_id)),
        tuple(path or ()),
        *rest,
    )
