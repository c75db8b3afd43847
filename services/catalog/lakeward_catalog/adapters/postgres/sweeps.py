"""Deleting what nobody needs any more, some rows at a time, around rows that someone holds."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lakeward_servicekit.events.postgres_log import PostgresEventLog
from lakeward_servicekit.events.postgres_snapshots import OLD as OLD_SNAPSHOTS
from lakeward_servicekit.postgres.pools import Pool

EXPIRED_STAGED: Final = """
with gone as (
    delete from tabular t using (
        select warehouse_id, incarnation from tabular
         where expires_at is not null and expires_at <= $1 and state = 'staged'
         order by expires_at limit $2 for update skip locked) old
     where t.warehouse_id = old.warehouse_id and t.incarnation = old.incarnation
    returning t.warehouse_id, t.kind, t.incarnation),
told as (
    insert into tree_change (warehouse_id, verb, kind, object_id) select warehouse_id, 'gone', kind, incarnation from gone)
select count(*) from gone
"""
FORGOTTEN_KEYS: Final = """
with gone as (
    delete from idempotency k using (
        select owner, principal, key from idempotency
         where expires_at <= $1 order by expires_at limit $2 for update skip locked) old
     where k.owner = old.owner and k.principal = old.principal and k.key = old.key
    returning k.key)
select count(*) from gone
"""
# Of what no project is any more; each project's queue forgets its own.
OLD_TASK_LOG: Final = """
with gone as (
    delete from task_log l using (
        select task_id, attempt from task_log
         where in_project is null and ended_at < $1 order by ended_at limit $2 for update skip locked) old
     where l.task_id = old.task_id and l.attempt = old.attempt
    returning l.task_id)
select count(*) from gone
"""
OLD_COUNTS: Final = """
with gone as (
    delete from endpoint_count c using (
        select project_id, hour, route, status, warehouse_id from endpoint_count
         where hour < $1 order by hour limit $2 for update skip locked) old
     where (c.project_id, c.hour, c.route, c.status, c.warehouse_id)
           = (old.project_id, old.hour, old.route, old.status, old.warehouse_id)
    returning c.route)
select count(*) from gone
"""


class PostgresLeftovers:
    """`Leftovers` on Postgres."""

    def __init__(self, pool: Pool, events: PostgresEventLog | None = None) -> None:
        """Delete through `pool`, and have `events` forget what is old; None: a log that no sink reads."""
        self._pool = pool
        self._events = events or PostgresEventLog(pool)

    async def expired_staged(self, *, now: datetime, limit: int) -> int:
        """See `Leftovers`."""
        return await self._delete(EXPIRED_STAGED, now, limit)

    async def forgotten_keys(self, *, now: datetime, limit: int) -> int:
        """See `Leftovers`."""
        return await self._delete(FORGOTTEN_KEYS, now, limit)

    async def old_attempts(self, *, before: datetime, limit: int) -> int:
        """See `Leftovers`."""
        return await self._delete(OLD_TASK_LOG, before, limit)

    async def old_counts(self, *, before: datetime, limit: int) -> int:
        """See `Leftovers`."""
        return await self._delete(OLD_COUNTS, before, limit)

    async def old_events(self, *, days: int) -> int:
        """See `Leftovers`."""
        return await self._events.forget(days=days)

    async def old_snapshots(self, *, before: datetime, limit: int) -> int:
        """See `Leftovers`."""
        return await self._delete(OLD_SNAPSHOTS, before, limit)

    async def _delete(self, statement: str, until: datetime, limit: int) -> int:
        async with self._pool.changing() as connection:
            count: int = await connection.fetchval(statement, until, limit)
        return count
