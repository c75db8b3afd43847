"""Reading tabulars: the point read of every load, by id, by location, and pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.pages import Asked, SharedPages, place_of
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
 cross join lateral (
       select * from namespace n where n.warehouse_id = $1 and n.path_key = k.path_key offset 0) n
 cross join lateral (
       select * from tabular t
        where t.warehouse_id = $1 and t.namespace_id = n.namespace_id and t.name_key = k.name_key
              and t.state in ('live', 'staged') offset 0) t
 cross join lateral (
       select * from tabular_body b
        where b.warehouse_id = $1
              and b.metadata_id = case when t.state = 'live' and t.kind = 'view' then t.metadata_id end offset 0) b
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
_LISTED: Final = "t.created_at, t.incarnation, t.name, t.tabular_id, t.protected, t.format"  # as `Listed` has them
PAGE: Final = f"""
select {_LISTED} from tabular t
 where t.warehouse_id = $1 and t.namespace_id = $2 and t.kind = $3 and t.state = 'live'
   and (t.created_at, t.incarnation) > ($4, $5)
 order by t.created_at, t.incarnation limit $6
"""
# Costs what the caller's grants cost where no container shows all: each is looked up by itself, as the offset says, and none is
# searched for among all tabulars. Of the two halves only one is run, since its condition is known before.
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
    (select {_LISTED} from unnest($8::uuid[]) as granted(incarnation),
            lateral (select * from tabular t where t.warehouse_id = $1 and t.incarnation = granted.incarnation offset 0) as t
      where not (select whole from shown)
        and t.namespace_id = $2 and t.kind = $3 and t.state = 'live'
        and (t.created_at, t.incarnation) > ($4, $5)
      order by t.created_at, t.incarnation limit $6)
  ) t
 order by t.created_at, t.incarnation limit $6
"""
# Generic tables are few beside others, so what finds them is an index of their own.
OF_FORMATS: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.kind = 'generic_table' and t.state = 'live' and t.incarnation > $2
   and lower(t.format) = any($3::text[])
 order by t.incarnation limit $4
"""

# Of so many tabulars of a page one must show, for the next page to be read whole as well.
_SIFTED: Final = 8
_SHOWN: Final = """
   and (t.kind = any($3::text[]) or t.incarnation = any($4::uuid[]) or exists (
        select from unnest($5::text[], $6::uuid[]) as shown(kind, namespace_id)
          join namespace container on container.warehouse_id = n.warehouse_id
               and container.namespace_id = shown.namespace_id
         where shown.kind = t.kind and (container.namespace_id = n.namespace_id
               or starts_with(n.path_key, container.path_key || E'\\x1f'))))
"""
# Four ways lead to what may be like the text ($2): names that begin with it, names that have something like it, names that have
# something like what follows its last dot ($9), and what is in namespaces whose path has. Each finds what shows as part of a
# whole, by an index of its own and at most so many ($8), which bounds what is then compared: where thousands begin alike, what is
# nearest by name is among those that begin with the text. What shows by itself is gone through. How much alike is enough is the
# session's `word_similarity_threshold`.
_FOUND: Final = """
select t.incarnation from tabular t
 where {} and t.state = 'live' and cardinality($3::text[]) + cardinality($5::text[]) > 0
   and (t.kind = any($3::text[]) or (t.kind, t.namespace_id) in (select shown.kind, shown.namespace_id from shown))
"""
_HERE: Final = "uuid_send({}.warehouse_id) = uuid_send($1::uuid)"
_BEGINNING: Final = """
       (t.warehouse_id::text) collate "C" = $1::uuid::text and t.name_key >= $2 and t.name_key < $2 || chr(1114111)
"""
SEARCH: Final = f"""
with shown as materialized (
    select granted.kind, n.namespace_id
      from unnest($5::text[], $6::uuid[]) as granted(kind, namespace_id)
      join namespace container on container.warehouse_id = $1 and container.namespace_id = granted.namespace_id
      join namespace n on n.warehouse_id = $1 and (
           n.namespace_id = container.namespace_id or starts_with(n.path_key, container.path_key || E'\\x1f'))),
beginning as materialized (
    {_FOUND.format(_BEGINNING)} order by t.name_key limit $8),
granted as materialized (
    select t.incarnation
      from unnest($4::uuid[]) as given(incarnation)
      join tabular t on t.warehouse_id = $1 and t.incarnation = given.incarnation and t.state = 'live'
      join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
     where name_is_like($2, n.path_key || E'\\x1f' || t.name_key)),
named as materialized ({_FOUND.format(f"{_HERE.format('t')} and name_is_like($2, t.name_key)")} limit $8),
last_part as materialized ({_FOUND.format(f"{_HERE.format('t')} and name_is_like($9, t.name_key)")} limit $8),
space as materialized (
    select n.namespace_id from namespace n where {_HERE.format("n")} and name_is_like($2, n.path_key) limit $8),
inside as materialized (
    select i.incarnation from space s cross join lateral (
        {_FOUND.format("t.warehouse_id = $1 and t.namespace_id = s.namespace_id")} limit $8) i limit $8)
select t.kind, t.tabular_id, n.path, t.name, d.distance
  from (table beginning union table granted union table named union table last_part union table inside) f
       join tabular t on t.warehouse_id = $1 and t.incarnation = f.incarnation
       join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
       cross join lateral (
           select name_distance($2, t.name_key, replace(n.path_key, E'\\x1f', '.') || '.' || t.name_key) as distance) d
 where d.distance < 0.8
 order by d.distance, name_likeness($2, t.name_key) desc, n.path_key, t.name_key limit $7
"""
# Statistics say little of how many are alike. A table is never read through for them, however short it was when that was counted.
ENOUGH: Final = """
select set_config('pg_trgm.word_similarity_threshold', $1, true), set_config('enable_seqscan', 'off', true)
"""
# Much like the text; where nothing is, like it at all: two letters that changed places in a short word.
_ALIKE: Final = ("0.6", "0.3")
_COMPARED: Final = 100
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


class _Page:
    """A page as everybody reads it, for those who read it together.

    Attributes:
        rows: nobody's to change.
    """

    __slots__ = ("_shown", "rows")

    def __init__(self, rows: Sequence[Listed]) -> None:
        """Of these rows."""
        self.rows: Final = rows
        self._shown: Final[dict[int, tuple[frozenset[UUID], Sequence[Listed]]]] = {}

    def shown(self, incarnations: frozenset[UUID]) -> Sequence[Listed]:
        """The rows that show to who sees these; once for all who have the very same set."""
        known = self._shown.get(id(incarnations))
        if known is None:
            # the set beside its rows, so that no other one has its identity meanwhile
            known = incarnations, [row for row in self.rows if row.incarnation in incarnations]
            self._shown[id(incarnations)] = known
        return known[1]


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
        self._pages: Final = SharedPages(self._page)

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
            return (await self._pages(page)).rows
        if not visible.containers and len(visible.objects) > limit:
            return await self._sifted(page, visible)
        return await self._visible_page(page, visible)

    async def _sifted(self, page: Asked, visible: Visibility) -> Sequence[Listed]:
        """What shows of pages as everybody reads them, while that is enough of them; and then what shows alone.

        Who sees thousands of tabulars mostly sees enough of those that stand together, and to look each up costs more.
        """
        *listing, created_at, incarnation, limit = page
        found: list[Listed] = []
        while True:
            read = await self._pages((*listing, created_at, incarnation, limit))
            rows, shown = read.rows, read.shown(visible.objects)
            found += shown
            if len(rows) < limit or len(found) >= limit:
                return found[:limit]
            created_at, incarnation = rows[-1].created_at, rows[-1].incarnation
            if len(shown) * _SIFTED < len(rows):
                rest = (*listing, created_at, incarnation, limit - len(found))
                return [*found, *await self._visible_page(rest, visible)]

    async def _visible_page(self, page: Asked, visible: Visibility) -> Sequence[Listed]:
        rows = await self._listings.fetch(VISIBLE_PAGE, *page, [*visible.containers], [*visible.objects])
        return [*map(Listed._make, rows)]

    async def _page(self, page: Asked) -> _Page:
        return _Page([*map(Listed._make, await self._listings.fetch(PAGE, *page))])

    async def of_formats(
        self, warehouse_id: WarehouseId, formats: Collection[str], *, after: UUID | None, limit: int
    ) -> Sequence[Tabular]:
        """See `TabularStore`."""
        behind = UUID(int=0) if after is None else after
        rows = await self._listings.fetch(OF_FORMATS, warehouse_id, behind, list(formats), limit)
        return [tabular_with_path(row) for row in rows]

    async def search(
        self, warehouse_id: WarehouseId, text: str | UUID, *, visible: Mapping[Kind, Visibility], limit: int
    ) -> Sequence[Match]:
        """See `TabularStore`."""
        shown = (*shown_across(visible), limit)
        rows: Sequence[asyncpg.Record]
        if isinstance(text, UUID):
            rows = await self._listings.fetch(SEARCH_ID, warehouse_id, text, *shown)
        else:
            rows = await self._alike(warehouse_id, searchable(text), shown)
        return [
            Match(
                TabularKey(Kind(kind), TabularId(tabular_id)),
                TabularIdent(NamespaceIdent(tuple(path)), name),
                distance,
            )
            for kind, tabular_id, path, name, distance in rows
        ]

    async def _alike(
        self, warehouse_id: WarehouseId, sought: str, shown: tuple[object, ...]
    ) -> Sequence[asyncpg.Record]:
        if not any(character.isalnum() for character in sought):
            return ()  # it has no trigram
        last = sought.rpartition(".")[2] if "." in sought else None
        async with self._listings.transaction(readonly=True) as connection:
            for enough in _ALIKE:
                await connection.execute(ENOUGH, enough)
                if rows := await connection.fetch(SEARCH, warehouse_id, sought, *shown, _COMPARED, last):
                    return rows
        return ()

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
