"""What is at a path: one point read for all who look at one moment, whatever they look for.

Every load passes here, and whoever opens a warehouse, a namespace or a name: the statement reads the row versions of the
containers on the way, and whole rows of these only where a version is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.rows import located_tabular, searchable
from lakeward_catalog.application.ports.stores import Located
from lakeward_catalog.domain.model import Namespace, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.postgres.pools import Pool

# Each step is looked up with the whole of its key, as `offset 0` says: of a join Postgres may compare a part of the key
# afterwards, which costs nothing where it takes the table for an almost empty one.
LOCATE: Final = """
select k.n, w.row_version, n.row_version, n.namespace_id, t.*
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as k(warehouse_id, path_key, name_key, n)
  left join lateral (
       select w.row_version from warehouse w where w.warehouse_id = k.warehouse_id offset 0) w on true
  left join lateral (
       select n.row_version, n.namespace_id from namespace n
        where n.warehouse_id = k.warehouse_id and n.path_key = k.path_key offset 0) n on true
  left join lateral (
       select t.incarnation, t.tabular_id, t.kind, t.state, t.name, t.location, t.metadata_id, t.metadata_location, t.protected,
              t.row_version, t.created_at, t.expires_at
         from tabular t
        where t.warehouse_id = k.warehouse_id and t.namespace_id = n.namespace_id and t.name_key = k.name_key
              and t.state in ('live', 'staged') offset 0) t on true
"""

_NOTHING: Final = Located(None, None, None)
# No namespace's path is empty, nor a tabular's name.
_NONE: Final = ""


class Key(NamedTuple):
    """What a point read looks for: a warehouse and the comparison keys of a path."""

    warehouse_id: UUID
    path_key: str
    name_key: str


class Locating:
    """Reads what is at paths. Concurrent calls share statements, and equal ones a place in them; none joins one that was sent."""

    def __init__(
        self,
        pool: Pool,
        containers: Containers,
        *,
        most_kept: int = 50_000,
        most_items: int = 128,
        most_batches: int = 2,
    ) -> None:
        """Read through `pool`, which leads to the primary.

        Args:
            pool: best one whose sessions plan once; see `with_generic_plans`.
            containers: what is on the way to a tabular; read through the same pool.
            most_kept: tabulars kept in memory, about 1 KB each, so that rows that are read again need not be made into values
                again; what they are is read each time.
            most_items: different keys of a statement.
            most_batches: statements under way at a time.
        """
        self._pool: Final = pool
        self._containers: Final = containers
        self._most_kept: Final = most_kept
        self._kept: Final[dict[UUID, Tabular]] = {}
        # Without patience: of more statements at a time, each would be shared by fewer.
        self._located: Final[Coalescer[Key, Located]] = Coalescer(
            self.locate_many, max_items=most_items, at_once=most_batches, patience=None, alike=True
        )

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """A warehouse, a namespace in it, and the live or staged tabular of a name in that."""
        return await self._located(Key(warehouse_id, *ident.key))

    async def namespace(self, warehouse_id: WarehouseId, ident: NamespaceIdent) -> Located:
        """A warehouse and a namespace in it."""
        return await self._located(Key(warehouse_id, ident.key, _NONE))

    async def warehouse(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """A warehouse."""
        return (await self._located(Key(warehouse_id, _NONE, _NONE))).warehouse

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
            await self._finish(unread, keys, located)
        return located

    async def _finish(self, rows: Sequence[asyncpg.Record], keys: Sequence[Key], located: list[Located]) -> None:
        """Fill in what rows lead to whose containers are new here.

        A namespace that has moved since is not at this path any more, and so nothing is there.
        """
        above = [key.warehouse_id for key in keys]
        warehouses, namespaces = await self._containers.read(
            {above[row[0] - 1] for row in rows},
            {(above[row[0] - 1], row[3]) for row in rows if row[3] is not None},
        )
        for row in rows:
            index = row[0] - 1
            warehouse_id = above[index]
            warehouse = warehouses.get(warehouse_id)
            namespace = namespaces.get((warehouse_id, row[3])) if warehouse is not None else None
            if namespace is not None and namespace.ident.key != keys[index].path_key:
                namespace = None
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
