"""How much the queues hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from lakeward_catalog.application.tasks.depths import Depth
from lakeward_catalog.domain.tasks import Queue
from lakeward_servicekit.postgres.pools import Pool

DEPTHS: Final = """
select queue, case when state <> 'waiting' then state when due_at <= $1 then 'due' else 'scheduled' end as state, count(*),
       min(due_at)
  from task group by 1, 2
"""


class PostgresTaskDepths:
    """`Depths` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool: Final = pool

    async def depths(self, *, now: datetime) -> Sequence[Depth]:
        """See `Depths`."""
        known = {queue.value: queue for queue in Queue}
        rows = await self._pool.fetch(DEPTHS, now)
        # a later release may have queues that this one does not know
        return [Depth(known[queue], state, count, since) for queue, state, count, since in rows if queue in known]
