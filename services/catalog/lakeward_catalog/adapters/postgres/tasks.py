"""Queued tasks and their attempts.

`due_at` is when a waiting task may begin, and when the worker of a running one is given up: one index finds both.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.location_changes import PostgresLocationChanges
from lakeward_catalog.domain.model import Incarnation, WarehouseId
from lakeward_catalog.domain.tasks import Asked, Queue, Task
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection, Pool

CLAIM: Final = """
select warehouse_id, task_id, incarnation, name, location, purge, attempt, fence, state, asked, spent
  from task
 where queue = $1 and state in ('waiting', 'running') and due_at <= $2
 order by due_at, task_id limit 1
   for update skip locked
"""
BEGIN: Final = """
update task
   set state = 'running', attempt = attempt + 1, fence = fence + 1, progress = 0, message = null, asked = null,
       scheduled_for = case when state = 'waiting' then due_at else scheduled_for end, started_at = $4, heard_at = $4,
       due_at = $4::timestamptz + coalesce(
           (select s.silence from queue_setting s where s.warehouse_id = $1 and s.queue = task.queue), $3::interval)
 where warehouse_id = $1 and task_id = $2
returning due_at
"""
GIVE_UP: Final = "update task set state = 'failed', message = $3, due_at = $4 where warehouse_id = $1 and task_id = $2"
KEEP: Final = """
update task set due_at = $4, progress = $5, heard_at = $6
 where warehouse_id = $1 and task_id = $2 and fence = $3 and state = 'running' and asked is null
returning task_id
"""
# What an attempt's record keeps of its task: it is read when the task, and what that was about, are gone.
LOGGED: Final = (
    "warehouse_id, project_id, task_id, queue, incarnation, name, kind, tabular_id, path, parent_id, location, purge, "
    "created_at"
)
BEGUN: Final = f"{LOGGED}, scheduled_for, started_at, attempt"
RECORD: Final = f"""
insert into task_log ({BEGUN}, outcome, message, progress, ended_at)
select {BEGUN}, $3, $4, coalesce($5, progress), $6
  from task where warehouse_id = $1 and task_id = $2
on conflict (task_id, attempt) do nothing
"""
FINISH: Final = f"""
with done as (
    delete from task where warehouse_id = $1 and task_id = $2 and fence = $3 and state = 'running'
    returning {BEGUN})
insert into task_log ({BEGUN}, outcome, message, progress, ended_at)
select {BEGUN}, 'success', $4, $5, $6 from done
returning task_id
"""
ASKED: Final = """
select asked from task where warehouse_id = $1 and task_id = $2 and fence = $3 and state = 'running' for update
"""
CANCELLED: Final = f"""
with gone as (
    delete from task where warehouse_id = $1 and task_id = $2 and state = 'running' returning {BEGUN}, progress)
insert into task_log ({BEGUN}, outcome, message, progress, ended_at)
select {BEGUN}, 'cancelled', $3, progress, $4 from gone
"""
FAIL: Final = f"""
with failed as (
    update task
       set state = case when $7::timestamptz is null then 'failed' else 'waiting' end, due_at = coalesce($7, $6),
           message = $4, progress = $5, asked = null
     where warehouse_id = $1 and task_id = $2 and fence = $3 and state = 'running'
    returning {BEGUN})
insert into task_log ({BEGUN}, outcome, message, progress, ended_at)
select {BEGUN}, 'failed', $4, $5, $6 from failed
returning task_id
"""
_STOPPED: Final = "Stopped, as was asked for"
_SILENT: Final = "Attempt timed out: its worker was not heard of"
_MOVED_IN: Final = "Not purged: a table or view lies at, above or below these files now"


class PostgresTasks:
    """`TaskStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Claim through `pool`."""
        self._pool = pool

    async def claim(self, queue: Queue, *, now: datetime, silence: timedelta, attempts: int) -> Task | None:
        """See `TaskStore`."""
        while True:
            async with self._pool.transaction() as connection:
                row = await connection.fetchrow(CLAIM, queue.value, now)
                if row is None:
                    return None
                task = _task(row, queue, silence)
                if row["asked"] == Asked.CANCEL:  # its worker went before it could say that it has stopped
                    await connection.execute(CANCELLED, task.warehouse_id, task.task_id, _STOPPED, now)
                    continue
                gone_wrong = await _why_not(connection, task, row["state"], now=now, attempts=attempts)
                if gone_wrong is None:
                    until = await connection.fetchval(BEGIN, task.warehouse_id, task.task_id, silence, now)
                    return dataclasses.replace(task, silence=until - now)
                await connection.execute(GIVE_UP, task.warehouse_id, task.task_id, gone_wrong, now)

    async def keep(self, task: Task, *, now: datetime, silence: timedelta, progress: int) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            key = (task.warehouse_id, task.task_id, task.fence)
            return await connection.fetchval(KEEP, *key, now + silence, progress, now) is not None

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            key = (task.warehouse_id, task.task_id, task.fence)
            return await connection.fetchval(FINISH, *key, message, progress, now) is not None

    async def stopped(self, task: Task, *, now: datetime, progress: int, retry_at: datetime | None) -> None:
        """See `TaskStore`."""
        key = (task.warehouse_id, task.task_id, task.fence)
        async with self._pool.transaction() as connection:
            asked = await connection.fetchval(ASKED, *key)
            if asked == Asked.CANCEL:
                await connection.execute(CANCELLED, task.warehouse_id, task.task_id, _STOPPED, now)
            elif asked == Asked.STOP:
                await connection.execute(FAIL, *key, _STOPPED, progress, now, retry_at)

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            key = (task.warehouse_id, task.task_id, task.fence)
            return await connection.fetchval(FAIL, *key, message, progress, now, retry_at) is not None


async def _why_not(connection: Connection, task: Task, state: str, *, now: datetime, attempts: int) -> str | None:
    """Why a task that is due must not be begun; None where it may."""
    if state == "running":
        key = (task.warehouse_id, task.task_id)
        await connection.execute(RECORD, *key, "failed", _SILENT, None, now)
    if task.attempt - task.spent > attempts:
        return _SILENT if state == "running" else f"All {attempts} attempts failed"
    if task.queue is not Queue.TABULAR_PURGE:
        return None
    # Whoever takes a place holds this lock, looks for purges, and then takes it. So either we see that it did, or it sees us.
    locations = PostgresLocationChanges(connection)
    await locations.lock(task.warehouse_id, exclusively=True)
    moved_in = await locations.overlapping(task.warehouse_id, Location.parse(task.location), enclosed_too=True)
    return None if moved_in is None else _MOVED_IN


def _task(row: asyncpg.Record, queue: Queue, silence: timedelta) -> Task:
    """The task as it is once it has begun."""
    return Task(
        task_id=row["task_id"],
        queue=queue,
        warehouse_id=WarehouseId(row["warehouse_id"]),
        incarnation=Incarnation(row["incarnation"]),
        name=row["name"],
        location=row["location"],
        purge=row["purge"],
        attempt=row["attempt"] + 1,
        fence=row["fence"] + 1,
        spent=row["spent"],
        silence=silence,
    )
