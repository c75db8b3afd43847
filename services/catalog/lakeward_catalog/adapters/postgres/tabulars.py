"""Reading tabulars: the point read of every load, by id, by location, and pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.places import at_or_above
from lakeward_catalog.adapters.postgres.rows import TABULAR, located_tabular, searchable, tabular_with_path
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_catalog.application.ports.stores import After, Deleted, Listed, Located, ReadView, Visibility
from lakeward_catalog.domain.model import Kind, Namespace, NamespaceId, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.postgres.pools import Pool

LOCATE: Final = """
select k.n, w.row_version, n.row_version, n.namespace_id,
       t.incarnation, t.tabular_id, t.kind, t.state, t.name, t.location, t.metadata_id, t.metadata_location, t.protected,
       t.row_version, t.created_at, t.expires_at
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as k(warehouse_id, path_key, name_key, n)
  left join warehouse w on w.warehouse_id = k.warehouse_id
  left join namespace n on n.warehouse_id = w.warehouse_id and n.path_key = k.path_key
  left join tabular t on t.warehouse_id = n.warehouse_id and t.namespace_id = n.namespace_id
        and t.name_key = k.name_key and t.state in ('live', 'staged')
"""
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

_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
_NOTHING: Final = Located(None, None, None)


class Key(NamedTuple):
    """What a point read looks for: a warehouse and the comparison keys of a path."""

    warehouse_id: UUID
    path_key: str
    name_key: str


class PostgresTabulars:
    """`TabularStore` on Postgres. Concurrent calls of `locate` share statements, and equal ones a place in them."""

    def __init__(
        self,
        pool: Pool,
        containers: Containers,
        *,
        listings: Pool | None = None,
        most_kept: int = 50_000,
        most_items: int = 128,
        most_batches: int = 2,
    ) -> None:
        """Read through `pool`, which leads to the primary, and pages through `listings`.

        Args:
            pool: best one whose sessions plan once; see `with_generic_plans`.
            listings: may lag behind; None: `pool`.
            containers: what is on the way to a tabular; read through the same pool.
            most_kept: values kept in memory, about 1 KB each, so that rows that are read again need not be made into values
                again; what they are is read each time.
            most_items: different keys of a statement of `locate`.
            most_batches: such statements under way at a time.
        """
        self._pool: Final = pool
        self._listings: Final = listings or pool
        self._containers: Final = containers
        self._most_kept: Final = most_kept
        self._kept: Final[dict[UUID, Tabular]] = {}
        # Without patience: of more statements at a time, each would be shared by fewer.
        self._located: Final[Coalescer[Key, Located]] = Coalescer(
            self.locate_many, max_items=most_items, at_once=most_batches, patience=None, alike=True
        )

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """See `TabularStore`."""
        return await self._located(Key(warehouse_id, *ident.key))

    async def locate_many(self, keys: Sequence[Key]) -> Sequence[Located]:
        """What each key leads to, in the order of `keys`; one statement where the containers are known already."""
        above, paths, names = zip(*keys, strict=True)
        rows = await self._pool.fetch(LOCATE, above, [*map(searchable, paths)], [*map(searchable, names)])
        located = [_NOTHING] * len(keys)
        unread: list[asyncpg.Record] = []
        containers = self._containers
        for row in rows:
            index, warehouse_version, namespace_version = row[0] - 1, row[1], row[2]
            if warehouse_version is None:
                continue
            warehouse_id, namespace = above[index], None
            warehouse = containers.warehouse(warehouse_id, warehouse_version)
            if namespace_version is not None:
                namespace = containers.namespace(warehouse_id, row[3], namespace_version)
            if warehouse is None or (namespace is None and namespace_version is not None):
                unread.append(row)
            else:
                located[index] = Located(warehouse, namespace, self._tabular(row, warehouse_id, namespace))
        if unread:
            await self._finish(unread, above, located)
        return located

    async def _finish(self, rows: Sequence[asyncpg.Record], above: Sequence[UUID], located: list[Located]) -> None:
        """Fill in what rows lead to whose containers are new here."""
        warehouses, namespaces = await self._containers.read(
            {above[row[0] - 1] for row in rows},
            {(above[row[0] - 1], row[3]) for row in rows if row[3] is not None},
        )
        for row in rows:
            index = row[0] - 1
            warehouse_id = above[index]
            warehouse = warehouses.get(warehouse_id)
            namespace = namespaces.get((warehouse_id, row[3])) if warehouse is not None else None
            located[index] = Located(warehouse, namespace, self._tabular(row, warehouse_id, namespace))

    def _tabular(self, row: asyncpg.Record, warehouse_id: UUID, namespace: Namespace | None) -> Tabular | None:
        """From the columns of `LOCATE`."""
        incarnation = row[4]
        if namespace is None or incarnation is None:
            return None
        kept = self._kept.get(incarnation)
        if (
            kept is not None
            and kept.metadata_id == row[10]
            and kept.row_version == row[13]
            and kept.ident.namespace is namespace.ident
        ):
            return kept
        made = located_tabular(
            namespace.ident,
            warehouse_id,
            incarnation,
            row[5],
            row[6],
            row[7],
            namespace.namespace_id,
            row[8],
            row[9],
            row[10],
            row[11],
            row[12],
            row[13],
            row[14],
            row[15],
        )
        if kept is None and len(self._kept) >= self._most_kept:
            del self._kept[next(iter(self._kept))]
        self._kept[incarnation] = made
        return made

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
            rows = await self._listings.fetch(PAGE, *page)
        else:
            rows = await self._listings.fetch(VISIBLE_PAGE, *page, [*visible.containers], [*visible.objects])
        return [*map(Listed._make, rows)]

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


def place_of(after: After | None) -> tuple[datetime, UUID]:
    """Where a page starts, behind this place in the order of a listing; before everything for its first page."""
    return _FIRST if after is None else (after.created_at, after.id)
