"""Counts of requests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from lakeward_catalog.application.ports.counting import Calls, Counted, Window
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_servicekit.postgres.pools import Pool

_NONE: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
# In one order, so that two gateways never wait for each other in a circle.
ADD: Final = f"""
insert into endpoint_count as kept (project_id, hour, route, status, warehouse_id, count, created_at, updated_at)
select p.project_id, date_trunc('hour', g.last_at, 'UTC') + interval '1 hour', g.route, g.status,
       coalesce(w.warehouse_id, n.warehouse_id, {_NONE}), sum(g.count), min(g.first_at),
       nullif(max(g.last_at), min(g.first_at))
  from unnest($1::text[], $2::smallint[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[],
              $8::timestamptz[])
       g(route, status, warehouse_id, name_key, project_id, count, first_at, last_at)
       left join warehouse w on w.warehouse_id = g.warehouse_id
       left join warehouse n on n.project_id = g.project_id and n.name_key = g.name_key
       join project p on p.project_id = coalesce(w.project_id, g.project_id)
 group by 1, 2, 3, 4, 5
 order by 1, 2, 3, 4, 5
    on conflict (project_id, hour, route, status, warehouse_id) do update
   set count = kept.count + excluded.count, updated_at = coalesce(excluded.updated_at, excluded.created_at)
"""
READ: Final = f"""
select c.hour, c.route, c.status, nullif(c.warehouse_id, {_NONE}), w.name, c.count, c.created_at, c.updated_at
  from endpoint_count c left join warehouse w on w.warehouse_id = c.warehouse_id and w.project_id = c.project_id
 where c.project_id = $1 and c.hour >= $2::timestamptz + interval '1 hour' and c.hour < $3::timestamptz + interval '1 hour'
   and ($4::uuid is null or c.warehouse_id = $4) and (not $5 or c.warehouse_id = {_NONE})
   and ($6::integer[] is null or c.status = any($6))
 order by c.hour, c.route, c.status, c.warehouse_id
"""


class PostgresCalls:
    """`CallStore` on Postgres."""

    def __init__(self, pool: Pool, *, listings: Pool | None = None) -> None:
        """Add through `pool`; read through `listings`, which may lag behind, where it is given."""
        self._pool: Final = pool
        self._listings: Final = listings or pool

    async def add(self, calls: Sequence[Calls]) -> None:
        """See `CallStore`."""
        rows = [
            (c.route, c.status, c.warehouse_id, c.name_key, c.project_id, c.count, c.first_at, c.last_at) for c in calls
        ]
        if rows:
            async with self._pool.changing() as connection:
                await connection.execute(ADD, *zip(*rows, strict=True))

    async def read(
        self,
        project_id: ProjectId,
        window: Window,
        *,
        of: WarehouseId | None,
        unmapped: bool,
        statuses: Collection[int],
    ) -> Sequence[Counted]:
        """See `CallStore`."""
        wanted = list(statuses) or None
        rows = await self._listings.fetch(READ, project_id, window.start, window.end, of, unmapped, wanted)
        return [Counted(*row) for row in rows]
