"""Reading tabulars: the point read of every load, by id, by location, and pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.pages import Asked, place_of, shared_pages
from lakeward_catalog.adapters.postgres.places import at_or_above
from lakeward_catalog.adapters.postgres.rows import TABULAR, searchable, tabular_with_path
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_catalog.application.ports.stores import After, Deleted, Listed, Located, Match, ReadView, Visibility
from lakeward_catalog.domain.model import Kind, NamespaceId, Tabular, TabularId, TabularKey, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.postgres.pools import Pool

# The row and its document in one snapshot. What a view's body consists of is its own: no part is shared. A name has one row, so
# that is found before its kind is looked at: of which kind few are, Postgres would look through these instead.
VIEWS: Final = f"""
select k.n, b.everything_crcs, b.everything_sizes, b.everything_own, {TABULAR}, n.path
  from unnest($2::text[], $3::text[]) with ordinality as k(path_key, name_key, n)
  join namespace n on n.warehouse_id = $1 and n.path_key = k.path_key
  join tabular t on t.warehouse_id = n.warehouse_id and t.namespace_id = n.namespace_id
       and t.name_key = k.name_key and t.state in ('live', 'staged')
  join tabular_body b on b.warehouse_id = t.warehouse_id
       and b.metadata_id = case when t.state = 'live' and t.kind = 'view' then t.metadata_id end
"""
BY_ID: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.tabular_id = $2
"""
BY_IDS: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.tabular_id = any($2::uuid[])
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

_SHOWN: Final = """
   and (t.kind = any($3::text[]) or t.incarnation = any($4::uuid[]) or exists (
        select from unnest($5::text[], $6::uuid[]) as shown(kind, namespace_id)
          join namespace container on container.warehouse_id = n.warehouse_id
               and container.namespace_id = shown.namespace_id
         where shown.kind = t.kind and (container.namespace_id = n.namespace_id
               or starts_with(n.path_key, container.path_key || E'\\x1f'))))
"""
# A name is compared whole, and the path for words that are like the text. Every name of the warehouse is looked at: an index for
# this would cost each create more than it would spare a search.
SEARCH: Final = f"""
select t.kind, t.tabular_id, n.path, t.name, d.distance
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
       cross join lateral (
           select name_distance($2, t.name_key, replace(n.path_key, E'\\x1f', '.') || '.' || t.name_key) as distance) d
 where t.warehouse_id = $1 and t.state = 'live' and d.distance < 0.8 {_SHOWN}
 order by d.distance, n.path_key, t.name_key limit $7
"""
SEARCH_ID: Final = f"""
select t.kind, t.tabular_id, n.path, t.name, null::real
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.state = 'live' and (t.tabular_id = $2 or t.namespace_id = $2) {_SHOWN}
 order by (t.tabular_id = $2) desc, t.name_key limit $7
"""
COUNTS: Final = "select t.kind, count(*) from tabular t where t.warehouse_id = $1 and t.state = 'live' group by t.kind"
# What was dropped is little, and is read in its order by an index of its own; what does not show is passed over on the way.
DELETED: Final = f"""
select {TABULAR}, n.path, t.dropped_at
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.state = 'dropped' and ($2::uuid is null or t.namespace_id = $2)
   and (t.dropped_at, t.incarnation) > ($3, $4)
   and (t.kind = any($6::text[]) or t.incarnation = any($7::uuid[]) or exists (
        select from unnest($8::text[], $9::uuid[]) as shown(kind, namespace_id)
          join namespace container on container.warehouse_id = n.warehouse_id
               and container.namespace_id = shown.namespace_id
         where shown.kind = t.kind and (container.namespace_id = n.namespace_id
               or starts_with(n.path_key, container.path_key || E'\\x1f'))))
 order by t.dropped_at, t.incarnation limit $5
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

    async def views(self, warehouse_id: WarehouseId, idents: Sequence[TabularIdent]) -> Sequence[ReadView | None]:
        """See `TabularStore`."""
        paths, names = zip(*(ident.key for ident in idents), strict=True)
        rows = await self._pool.fetch(VIEWS, warehouse_id, [*map(searchable, paths)], [*map(searchable, names)])
        found: list[ReadView | None] = [None] * len(idents)
        for number, (crc32,), (size,), raw, *columns in rows:
            found[number - 1] = ReadView(tabular_with_path(columns), Deflated(raw, crc32, size))
        return found

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """See `TabularStore`."""
        row = await self._pool.fetchrow(BY_ID, warehouse_id, tabular_id)
        return None if row is None else tabular_with_path(row)

    async def by_ids(self, warehouse_id: WarehouseId, tabular_ids: Collection[TabularId]) -> Sequence[Tabular]:
        """See `TabularStore`."""
        rows = await self._pool.fetch(BY_IDS, warehouse_id, list(tabular_ids)) if tabular_ids else ()
        return [tabular_with_path(row) for row in rows]

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

    async def search(
        self, warehouse_id: WarehouseId, text: str | UUID, *, visible: Mapping[Kind, Visibility], limit: int
    ) -> Sequence[Match]:
        """See `TabularStore`."""
        sought = (SEARCH_ID, text) if isinstance(text, UUID) else (SEARCH, searchable(text))
        statement, value = sought
        rows = await self._listings.fetch(statement, warehouse_id, value, *shown_across(visible), limit)
        return [
            Match(
                TabularKey(Kind(kind), TabularId(tabular_id)),
                TabularIdent(NamespaceIdent(tuple(path)), name),
                distance,
            )
            for kind, tabular_id, path, name, distance in rows
        ]

    async def counts(self, warehouse_id: WarehouseId) -> Mapping[Kind, int]:
        """See `TabularStore`."""
        return {Kind(kind): count for kind, count in await self._listings.fetch(COUNTS, warehouse_id)}

    async def deleted(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId | None,
        *,
        visible: Mapping[Kind, Visibility],
        after: After | None,
        limit: int,
    ) -> Sequence[Deleted]:
        """See `TabularStore`."""
        rows = await self._listings.fetch(
            DELETED, warehouse_id, namespace_id, *place_of(after), limit, *shown_across(visible)
        )
        return [Deleted(tabular_with_path(columns), dropped_at) for *columns, dropped_at in rows]


def shown_across(visible: Mapping[Kind, Visibility]) -> tuple[list[str], list[UUID], list[str], list[UUID]]:
    """What of several kinds shows, as parameters: kinds that show whole, single incarnations, and containers beside kinds."""
    whole = [kind.value for kind, shown in visible.items() if shown.everything]
    single = [incarnation for shown in visible.values() for incarnation in shown.objects]
    within = [(kind.value, container) for kind, shown in visible.items() for container in shown.containers]
    return whole, single, [kind for kind, _ in within], [container for _, container in within]
