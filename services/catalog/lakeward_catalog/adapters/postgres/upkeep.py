"""What is counted and forgotten in the background, project by project, and when queues make their own tasks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from lakeward_catalog.adapters.postgres.task_changes import PostgresTaskChanges
from lakeward_catalog.adapters.postgres.task_records import timetable_of
from lakeward_catalog.domain.model import ProjectId
from lakeward_catalog.domain.schedules import Timetable
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.system import Ids

FORGET: Final = """
with gone as (
    delete from task_log l using (
        select o.task_id, o.attempt from task_log o
         where o.in_project = $1 and o.ended_at < $2
           and not exists (select from task t where t.task_id = o.task_id)
           and not exists (select from task_log n where n.task_id = o.task_id and n.ended_at >= $2)
         order by o.ended_at limit $3 for update skip locked) old
     where l.task_id = old.task_id and l.attempt = old.attempt
    returning l.task_id)
select count(*) from gone
"""
COUNT: Final = """
with counted as (
    select w.warehouse_id, count(*) filter (where t.kind = 'table') as tables, count(*) filter (where t.kind = 'view') as views,
           count(*) filter (where t.kind = 'generic_table') as generic_tables
      from warehouse w left join tabular t on t.warehouse_id = w.warehouse_id and t.state = 'live'
     where w.project_id = $1
     group by w.warehouse_id),
recorded as (
    insert into warehouse_statistic as kept (warehouse_id, hour, tables, views, generic_tables, counted_at)
    select c.warehouse_id, date_trunc('hour', $2::timestamptz, 'UTC') + interval '1 hour', c.tables, c.views,
           c.generic_tables, $2
      from counted c
           left join lateral (
               select s.tables, s.views, s.generic_tables from warehouse_statistic s where s.warehouse_id = c.warehouse_id
                order by s.hour desc limit 1) last on true
     where (c.tables, c.views, c.generic_tables) is distinct from (last.tables, last.views, last.generic_tables)
        on conflict (warehouse_id, hour) do update
       set tables = excluded.tables, views = excluded.views, generic_tables = excluded.generic_tables,
           counted_at = excluded.counted_at)
select count(*) from counted
"""
# A project that was made since the last time has no row, and is due.
MEET: Final = """
insert into queue_setting (setting_id, project_id, queue)
select gen_random_uuid(), p.project_id, $1 from project p
 where not exists (select from queue_setting s where s.project_id = p.project_id and s.queue = $1)
    on conflict do nothing
"""
DUE: Final = """
select project_id, cron, time_zone, cleanup_period, next_at from queue_setting
 where queue = $1 and project_id is not null and (next_at is null or next_at <= $2)
 order by next_at nulls first limit $3 for update skip locked
"""
NEXT: Final = """
update queue_setting s set next_at = n.next_at from unnest($2::text[], $3::timestamptz[]) n(project_id, next_at)
 where s.queue = $1 and s.project_id = n.project_id
"""


class PostgresUpkeep:
    """`Upkeep` and `ScheduleStore` on Postgres."""

    def __init__(self, pool: Pool, *, ids: Ids) -> None:
        """Work through `pool`; `ids` names new tasks."""
        self._pool: Final = pool
        self._ids: Final = ids

    async def forget_attempts(self, project_id: ProjectId, *, before: datetime, limit: int) -> int:
        """See `Upkeep`."""
        async with self._pool.changing() as connection:
            return int(await connection.fetchval(FORGET, project_id, before, limit))

    async def count_tabulars(self, project_id: ProjectId, *, now: datetime) -> int:
        """See `Upkeep`."""
        async with self._pool.changing() as connection:
            return int(await connection.fetchval(COUNT, project_id, now))

    async def make_due(self, queue: Queue, *, now: datetime, after: Callable[[Timetable], datetime], limit: int) -> int:
        """See `ScheduleStore`."""
        async with self._pool.changing() as connection:
            await connection.execute(MEET, queue.value)
        async with self._pool.transaction() as connection:
            due = await connection.fetch(DUE, queue.value, now, limit)
            projects = [ProjectId(row[0]) for row in due]
            tasks = [NewTask.of_project(project_id, queue, at=now) for project_id in projects]
            await PostgresTaskChanges(connection, ids=self._ids).enqueue_all(tasks)
            await connection.execute(NEXT, queue.value, projects, [after(timetable_of(row[1:])) for row in due])
        return len(due)
