"""Queued tasks and their attempts.

`due_at` is when a waiting task may begin, and when the worker of a running one is given up: one index finds both. Of what is due,
the lowest `turn` comes first. It is `due_at` as well, but for what waits in a warehouse that has queued more than one task a
second: those stand in line behind each other, and so whoever has queued little comes before the rest of who has queued much.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg
import msgspec

from lakeward_catalog.adapters.postgres.location_changes import PostgresLocationChanges
from lakeward_catalog.application.workers import Again, Ended
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.tasks import Asked, Queue, Task
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection, Pool

_TASK: Final = "warehouse_id, project_id, task_id, incarnation, name, location, purge, plan, attempt, fence, spent"
_ACTIVE: Final = "queue = $1 and state in ('waiting', 'running')"
# Whose turn it is; where nobody's is, whoever is due, which is work that somebody has queued much of. `turn` is never before
# `due_at` but in rows of an older release.
_NEXT: Final = f"""
    select task_id, state, asked, attempt, spent from (
        select * from (select task_id, state, asked, attempt, spent from task
             where {_ACTIVE} and turn <= $2 and due_at <= $2 order by turn, task_id limit 1 for update skip locked) a
        union all
        select * from (select task_id, state, asked, attempt, spent from task
             where {_ACTIVE} and due_at <= $2 order by due_at, task_id limit 1 for update skip locked) b
    ) n limit 1
"""
_BEGINS: Final = """
       state = 'running', attempt = t.attempt + 1, fence = t.fence + 1, progress = 0, total = null, message = null, asked = null,
       scheduled_for = case when t.state = 'waiting' then t.due_at else t.scheduled_for end, started_at = {now}, heard_at = {now},
       (due_at, turn) = (select until, until from (
           select {now}::timestamptz + coalesce(
               (select s.silence from queue_setting s where s.warehouse_id = t.warehouse_id and s.queue = t.queue),
               (select s.silence from queue_setting s where s.project_id = t.project_id and s.queue = t.queue),
               {silence}::interval)) u(until))
"""
_BEGUN_AS: Final = (
    "t.warehouse_id, t.project_id, t.task_id, t.incarnation, t.name, t.location, t.purge, t.plan, t.attempt, t.fence, t.spent, "
    "t.due_at"
)
# In one statement, which is what nearly every claim is: one that waits, and has attempts left.
CLAIM: Final = f"""
with next as materialized ({_NEXT}),
begun as (
    update task t set {_BEGINS.format(now="$2", silence="$3")}
      from next n
     where t.task_id = n.task_id and n.state = 'waiting' and n.attempt - n.spent < $4
    returning {_BEGUN_AS})
select n.task_id as found, b.* from next n left join begun b on true
"""
# Of the next ones those before the first that needs a look: they wait, and were not begun since they were queued or run again.
# What others hold is skipped, so nobody waits here who holds another.
_SEVERAL: Final = f"""
with next as materialized (
    select task_id, {{by}} as place, state = 'waiting' and attempt = spent as fresh from task
     where {_ACTIVE} and {{by}} <= $2 and due_at <= $2 order by {{by}}, task_id limit $4 for update skip locked),
first as (select task_id, place, bool_and(fresh) over (order by place, task_id) as fresh from next),
begun as (
    update task t set {_BEGINS.format(now="$2", silence="$3")}
      from first n
     where t.task_id = n.task_id and n.fresh
    returning {_BEGUN_AS}, n.place)
select * from begun order by place, task_id
"""
CLAIM_BY_TURN: Final = _SEVERAL.format(by="turn")
CLAIM_BY_AGE: Final = _SEVERAL.format(by="due_at")
GIVE_BACK: Final = """
with held as materialized (
    select t.task_id from unnest($1::uuid[], $2::bigint[]) g(id, fence)
      join task t on t.task_id = g.id and t.fence = g.fence and t.state = 'running' and t.asked is null
     order by t.task_id for update of t)
update task t
   set state = 'waiting', attempt = t.attempt - 1, due_at = t.scheduled_for, turn = t.scheduled_for, started_at = null,
       heard_at = null
  from held h where t.task_id = h.task_id
returning t.task_id
"""
LOOK: Final = f"""
select {_TASK}, state, asked from task
 where task_id = (select n.task_id from ({_NEXT}) n)
   for update
"""
BEGIN: Final = f"""
update task t set {_BEGINS.format(now="$3", silence="$2")} where t.task_id = $1 returning {_BEGUN_AS}
"""
GIVE_UP: Final = "update task set state = 'failed', message = $2, due_at = $3 where task_id = $1"
KEEP: Final = """
update task set due_at = $3, turn = $3, progress = $4, total = $5, heard_at = $6
 where task_id = $1 and fence = $2 and state = 'running' and asked is null
returning task_id
"""
# What an attempt's record keeps of its task: it is read when the task, and what that was about, are gone.
LOGGED: Final = (
    "warehouse_id, project_id, task_id, queue, incarnation, name, kind, tabular_id, path, parent_id, location, purge, "
    "created_at, total, plan"
)
IN_PROJECT: Final = """
       coalesce(l.project_id, (select w.project_id from warehouse w where w.warehouse_id = l.warehouse_id))
"""
BEGUN: Final = f"{LOGGED}, scheduled_for, started_at, attempt"
RECORD: Final = f"""
insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
select {BEGUN}, $2, $3, progress, $4, {IN_PROJECT}
  from task l where task_id = $1
on conflict (task_id, attempt) do nothing
"""
FINISH: Final = f"""
with done as (
    delete from task where task_id = $1 and fence = $2 and state = 'running'
    returning {BEGUN})
insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
select {BEGUN}, 'success', $3, $4, $5, {IN_PROJECT} from done l
returning task_id
"""
# Locked in the order of their ids, as by whoever stops several.
FINISH_ALL: Final = f"""
with given as materialized (
    select t.task_id as id, g.said, g.did, g.ended_at
      from unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::timestamptz[]) g(id, fence, said, did, ended_at)
      join task t on t.task_id = g.id and t.fence = g.fence and t.state = 'running'
     order by t.task_id for update of t),
done as (
    delete from task using given where task_id = given.id
    returning {BEGUN}, said, did, ended_at)
insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
select {BEGUN}, 'success', said, did, ended_at, {IN_PROJECT} from done l
"""
ASKED: Final = "select asked from task where task_id = $1 and fence = $2 and state = 'running' for update"
CANCELLED: Final = f"""
with gone as (
    delete from task where task_id = $1 and state = 'running' returning {BEGUN}, progress)
insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
select {BEGUN}, 'cancelled', $2, progress, $3, {IN_PROJECT} from gone l
"""
FAIL: Final = f"""
with failed as (
    update task
       set state = case when $6::timestamptz is null then 'failed' else 'waiting' end, due_at = coalesce($6, $5),
           turn = coalesce($6, $5), message = $3, progress = $4, asked = null
     where task_id = $1 and fence = $2 and state = 'running' and asked is distinct from 'cancel'
    returning {BEGUN})
insert into task_log ({BEGUN}, outcome, message, progress, ended_at, in_project)
select {BEGUN}, 'failed', $3, $4, $5, {IN_PROJECT} from failed l
returning task_id
"""
POSTPONE: Final = """
update task
   set state = 'waiting', due_at = $3, turn = $3, message = $4, progress = $5, plan = $6::json, spent = attempt
 where task_id = $1 and fence = $2 and state = 'running' and asked is null
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
            if queue is not Queue.TABULAR_PURGE:  # whose place is looked at first
                async with self._pool.changing() as connection:
                    row = await connection.fetchrow(CLAIM, queue.value, now, silence, attempts)
                if row is None:
                    return None
                if row["task_id"] is not None:
                    return _task(row, queue, now)
            async with self._pool.transaction() as connection:
                row = await connection.fetchrow(LOOK, queue.value, now)
                if row is None:
                    return None
                task_id = row["task_id"]
                if row["asked"] == Asked.CANCEL:  # its worker went before it could say that it has stopped
                    await connection.execute(CANCELLED, task_id, _STOPPED, now)
                    continue
                gone_wrong = await _why_not(connection, row, queue, now=now, attempts=attempts)
                if gone_wrong is None:
                    begun = await connection.fetchrow(BEGIN, task_id, silence, now)
                    assert begun is not None, "it is locked"
                    return _task(begun, queue, now)
                await connection.execute(GIVE_UP, task_id, gone_wrong, now)

    async def claim_several(self, queue: Queue, *, now: datetime, silence: timedelta, most: int) -> Sequence[Task]:
        """See `TaskStore`."""
        if queue is Queue.TABULAR_PURGE:  # whose place is looked at first
            return ()
        async with self._pool.changing() as connection:
            for statement in (CLAIM_BY_TURN, CLAIM_BY_AGE):
                if rows := await connection.fetch(statement, queue.value, now, silence, most):
                    return [_task(row, queue, now) for row in rows]
        return ()

    async def give_back(self, tasks: Sequence[Task], *, now: datetime) -> None:
        """See `TaskStore`."""
        keys = ([task.task_id for task in tasks], [task.fence for task in tasks])
        async with self._pool.changing() as connection:
            given = {row["task_id"] for row in await connection.fetch(GIVE_BACK, *keys)}
        for task in tasks:
            if task.task_id not in given:
                await self.stopped(task, now=now, progress=0, retry_at=now)

    async def finish_all(self, ended: Sequence[Ended]) -> None:
        """See `TaskStore`."""
        rows = [(each.task.task_id, each.task.fence, each.message, each.progress, each.at) for each in ended]
        async with self._pool.changing() as connection:
            await connection.execute(FINISH_ALL, *zip(*rows, strict=True))

    async def keep(
        self, task: Task, *, now: datetime, silence: timedelta, progress: int, total: int | None = None
    ) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            key, until = (task.task_id, task.fence), now + silence
            return await connection.fetchval(KEEP, *key, until, progress, total, now) is not None

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            return await connection.fetchval(FINISH, task.task_id, task.fence, message, progress, now) is not None

    async def stopped(self, task: Task, *, now: datetime, progress: int, retry_at: datetime | None) -> None:
        """See `TaskStore`."""
        key = (task.task_id, task.fence)
        async with self._pool.transaction() as connection:
            asked = await connection.fetchval(ASKED, *key)
            if asked == Asked.CANCEL:
                await connection.execute(CANCELLED, task.task_id, _STOPPED, now)
            elif asked == Asked.STOP:
                await connection.execute(FAIL, *key, _STOPPED, progress, now, retry_at)

    async def postpone(self, task: Task, again: Again, *, progress: int) -> bool:
        """See `TaskStore`."""
        plan = msgspec.json.encode(again.plan).decode()
        async with self._pool.changing() as connection:
            row = (task.task_id, task.fence, again.at, again.message, progress, plan)
            return await connection.fetchval(POSTPONE, *row) is not None

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        """See `TaskStore`."""
        async with self._pool.changing() as connection:
            key = (task.task_id, task.fence)
            if await connection.fetchval(FAIL, *key, message, progress, now, retry_at) is not None:
                return True
        async with self._pool.transaction() as connection:
            if await connection.fetchval(ASKED, *key) != Asked.CANCEL:
                return False
            await connection.execute(CANCELLED, task.task_id, _STOPPED, now)
            return True


async def _why_not(
    connection: Connection, row: asyncpg.Record, queue: Queue, *, now: datetime, attempts: int
) -> str | None:
    """Why a task that is due must not be begun; None where it may."""
    silent = row["state"] == "running"
    if silent:
        await connection.execute(RECORD, row["task_id"], "failed", _SILENT, now)
    if row["attempt"] - row["spent"] >= attempts:
        return _SILENT if silent else f"All {attempts} attempts failed"
    if queue is not Queue.TABULAR_PURGE:
        return None
    # Whoever takes a place holds this lock, looks for purges, and then takes it. So either we see that it did, or it sees us.
    locations, warehouse_id = PostgresLocationChanges(connection), WarehouseId(row["warehouse_id"])
    await locations.lock(warehouse_id, exclusively=True)
    moved_in = await locations.overlapping(warehouse_id, Location.parse(row["location"]), enclosed_too=True)
    return None if moved_in is None else _MOVED_IN


def _task(row: asyncpg.Record, queue: Queue, now: datetime) -> Task:
    """A task that has begun."""
    warehouse_id, project_id = row["warehouse_id"], row["project_id"]
    return Task(
        task_id=row["task_id"],
        queue=queue,
        owner=ProjectId(project_id) if warehouse_id is None else WarehouseId(warehouse_id),
        subject=row["incarnation"],
        name=row["name"],
        location=row["location"] or "",
        purge=row["purge"],
        attempt=row["attempt"],
        fence=row["fence"],
        spent=row["spent"],
        silence=row["due_at"] - now,
        plan=msgspec.json.decode(row["plan"] or "{}", type=dict[str, Any]),
    )
