"""Reading tabulars: the point read of every load, by id, by location, and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.pages import Asked, place_of, shared_pages
from lakeward_catalog.adapters.postgres.places import at_or_above
from lakeward_catalog.adapters.postgres.rows import TABULAR, tabular_with_path
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_catalog.application.ports.stores import After, Listed, Located, Visibility
from lakeward_catalog.domain.model import Kind, NamespaceId, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.postgres.pools import Pool

BY_ID: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.tabular_id = $2
"""
BY_LOCATION: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and left({FOLDED}, {LOCATION_KEY_INDEXED}) = any($2::text[])
   and {FOLDED} = any($3::text[]) and t.location_key = any($4::text[])
 order by length(t.location_key) desc limit 1
"""
_LISTED: Final = "t.created_at, t.incarnation, t.name, t.tabular_id, t.protected"  # as `Listed` has them
PAGE: Final = f"""
select {_LISTED} from tabular t
 where t.warehouse_id = $1 and t.namespace_id = $2 and t.kind = $3 and t.state = 'live'
   and (t.created_at, t.incarnation) > ($4, $5)
 order by t.created_at, t.incarnation limit $6
"""
# Costs what the caller's grants cost where no container shows all: each is looked up, none is searched for. Of the two
# halves only one is run, since its condition is known before.
VISIBLE_PAGE: Final = f"""
with shown as materialized (
    select exists (
        select from namespace inside
          join namespace container on container.warehouse_id = inside.warehouse_id
               and container.namespace_id = any($7::uuid[])
               and (container.namespace_id = inside.namespace_id
                    or starts_with(inside.path_key, container.path_key || E'\\x1f'))
         where inside.warehouse_id = $1 and inside.namespace_id = $2) as whole)
select {_LISTED} from (
    (select {_LISTED} from tabular t
      where (select whole from shown)
        and t.warehouse_id = $1 and t.namespace_id = $2 and t.kind = $3 and t.state = 'live'
        and (t.created_at, t.incarnation) > ($4, $5)
      order by t.created_at, t.incarnation limit $6)
    union all
    (select {_LISTED} from unnest($8::uuid[]) as granted(incarnation)
       join tabular t on t.warehouse_id = $1 and t.incarnation = granted.incarnation
      where not (select whole from shown)
        and t.namespace_id = $2 and t.kind = $3 and t.state = 'live'
        and (t.created_at, t.incarnation) > ($4, $5)
      order by t.created_at, t.incarnation limit $6)
  ) t
 order by t.created_at, t.incarnation limit $6
"""


class PostgresTabulars:
    """`TabularStore` on Postgres."""

    def __init__(self, pool: Pool, locating: Locating, *, listings: Pool | None = None) -> None:
        """Read through `pool`, which leads to the primary, and pages through `listings`.

        Args:
            pool: best one whose sessions plan once; see `with_generic_plans`.
            locating: point reads.
            listings: may lag behind; None: `pool`.
        """
        self._pool: Final = pool
        self._listings: Final = listings or pool
        self._locating: Final = locating
        self._pages: Final = shared_pages(self._page)

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """See `TabularStore`."""
        return await self._locating.locate(warehouse_id, ident)

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """See `TabularStore`."""
        row = await self._pool.fetchrow(BY_ID, warehouse_id, tabular_id)
        return None if row is None else tabular_with_path(row)

    async def by_location(self, warehouse_id: WarehouseId, location: Location) -> Tabular | None:
        """See `TabularStore`."""
        row = await self._pool.fetchrow(BY_LOCATION, warehouse_id, *at_or_above(location))
        return None if row is None else tabular_with_path(row)

    async def list(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId,
        kind: Kind,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[Listed]:
        """See `TabularStore`."""
        page = (warehouse_id, namespace_id, kind.value, *place_of(after), limit)
        if visible.everything:
            return await self._pages(page)
        rows = await self._listings.fetch(VISIBLE_PAGE, *page, [*visible.containers], [*visible.objects])
        return [*map(Listed._make, rows)]

    async def _page(self, page: Asked) -> Sequence[Listed]:
        return [*map(Listed._make, await self._listings.fetch(PAGE, *page))]
