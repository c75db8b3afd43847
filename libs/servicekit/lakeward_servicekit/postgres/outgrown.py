"""Tables that outgrew what Postgres knows of them are looked at again.

Postgres plans by what it counted at the last ANALYZE, and a session keeps the plan of a prepared statement until the next one.
Its own daemon comes once a minute at best: a statement that was planned for three rows, for which one index is as good as
another, is run for thousands meanwhile. ANALYZE makes every session plan anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from lakeward_servicekit.leases import keep_holding
from lakeward_servicekit.postgres.addresses import quoted
from lakeward_servicekit.postgres.leases import PostgresLeases

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lakeward_servicekit.leases import Lease
    from lakeward_servicekit.postgres.pools import Pool

COUNTER: Final = "outgrown-tables"
EVERY: Final = timedelta(seconds=2)
# By pages, which are counted when they are asked for: so a table is looked at again after each doubling. One that nobody ever
# looked at counts as outgrown. Who does not own a table may not analyse it, and would be warned each time.
_OUTGROWN: Final = """
select c.relname from pg_class c
 where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
   and pg_relation_size(c.oid) > case when c.reltuples < 0 then 0
       else 2 * greatest(c.relpages, 1)::bigint * current_setting('block_size')::integer end
"""


async def count_again(pool: Pool) -> list[str]:
    """Analyse the tables of a pool's schema that are more than twice as large as they were when that was last done.

    One that somebody else works at is left for the next time.

    Returns:
        Their names.

    Raises:
        Refusal: DATABASE_UNAVAILABLE and the like; see `Pool`.
    """
    async with pool.reading() as connection:
        names = [row[0] for row in await connection.fetch(_OUTGROWN)]
        for name in names:
            await connection.execute(f"analyze (skip_locked) {quoted(name)}")
    return names


async def keep_counting(_lease: Lease, *, pool: Pool, every: timedelta = EVERY) -> None:
    """Count again and again, until cancelled. Raises as `count_again` does."""
    while True:
        await count_again(pool)
        await asyncio.sleep(every.total_seconds())


@contextlib.asynccontextmanager
async def counting(pool: Pool) -> AsyncIterator[None]:
    """Have one process of all count the tables of a service, until the block ends; for services with no other loops."""
    work = functools.partial(keep_counting, pool=pool)
    task = asyncio.create_task(keep_holding(PostgresLeases(pool), COUNTER, work, holder=str(uuid4())))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
