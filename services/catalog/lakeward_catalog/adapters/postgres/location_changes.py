"""The places of a warehouse while a change takes one: held by a lock, looked at for what lies there."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.adapters.postgres.places import (
    FOLDS,
    LOCK_EXCLUSIVE,
    LOCK_SHARED,
    at_or_above,
    at_or_inside,
    locations_lock,
)
from lakeward_catalog.adapters.postgres.rows import TABULAR, tabular_with_path
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_catalog.domain.model import Incarnation, Tabular, WarehouseId
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Connection

OVERLAPPING: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and left({FOLDED}, {LOCATION_KEY_INDEXED}) = any($2::text[])
   and {FOLDED} = any($3::text[]) and ({FOLDS} or t.location_key = any($4::text[]))
   and t.incarnation is distinct from $5
 limit 1
"""
ENCLOSED: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1
   and left({FOLDED}, {LOCATION_KEY_INDEXED}) >= $2 and left({FOLDED}, {LOCATION_KEY_INDEXED}) <= $3
   and {FOLDED} >= $4 and {FOLDED} < $5
   and ({FOLDS} or (t.location_key >= $6 and t.location_key < $7))
   and t.incarnation is distinct from $8
 limit 1
"""
PURGE_PENDING: Final = f"""
select exists (
    select from task
     where warehouse_id = $1 and queue = 'tabular_purge' and state in ('waiting', 'running')
       and left({FOLDED}, {LOCATION_KEY_INDEXED}) = any($2::text[]) and {FOLDED} = any($3::text[])
       and ({FOLDS} or location_key = any($4::text[]))
    union all
    select from task
     where warehouse_id = $1 and queue = 'tabular_purge' and state in ('waiting', 'running')
       and left({FOLDED}, {LOCATION_KEY_INDEXED}) >= $5 and left({FOLDED}, {LOCATION_KEY_INDEXED}) <= $6
       and {FOLDED} >= $7 and {FOLDED} < $8
       and ({FOLDS} or (location_key >= $9 and location_key < $10)))
"""


class PostgresLocationChanges:
    """`LocationChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection) -> None:
        """Look through `connection`, whose transaction someone else ends."""
        self._connection: Final = connection

    async def lock(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
        """See `LocationChanges`."""
        statement = LOCK_EXCLUSIVE if exclusively else LOCK_SHARED
        await self._connection.execute(statement, locations_lock(warehouse_id))

    async def overlapping(
        self, warehouse_id: WarehouseId, location: Location, *, enclosed_too: bool, but_not: Incarnation | None = None
    ) -> Tabular | None:
        """See `LocationChanges`."""
        row = await self._connection.fetchrow(OVERLAPPING, warehouse_id, *at_or_above(location), but_not)
        if row is None and enclosed_too:
            row = await self._connection.fetchrow(ENCLOSED, warehouse_id, *at_or_inside(location), but_not)
        return None if row is None else tabular_with_path(row)

    async def purge_pending(self, warehouse_id: WarehouseId, location: Location) -> bool:
        """See `LocationChanges`."""
        pending: bool = await self._connection.fetchval(
            PURGE_PENDING, warehouse_id, *at_or_above(location), *at_or_inside(location)
        )
        return pending
