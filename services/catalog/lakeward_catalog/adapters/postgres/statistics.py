"""What lived in warehouses, hour by hour."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from lakeward_catalog.application.ports.upkeep import Hour
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.postgres.pools import Pool

HOURS: Final = """
select hour, tables, views, generic_tables, counted_at from warehouse_statistic
 where warehouse_id = $1 and hour < $2 order by hour desc limit $3
"""


class PostgresStatistics:
    """`StatisticsStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, which may lag behind."""
        self._pool: Final = pool

    async def hours(self, warehouse_id: WarehouseId, *, before: datetime, limit: int) -> Sequence[Hour]:
        """See `StatisticsStore`."""
        return [Hour(*row) for row in await self._pool.fetch(HOURS, warehouse_id, before, limit)]
