"""Reading namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.pages import Asked, place_of
from lakeward_catalog.adapters.postgres.rows import NAMESPACE, WAREHOUSE, namespace_of, warehouse_of
from lakeward_catalog.application.ports.stores import After, ListedNamespace, Visibility
from lakeward_catalog.domain.model import Namespace, NamespaceId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.shared_reads import SharedReads

FIND_BY_ID: Final = f"""
select {WAREHOUSE}, {NAMESPACE}
  from warehouse w left join namespace n on n.warehouse_id = w.warehouse_id and n.namespace_id = $2
 where w.warehouse_id = $1
"""
_LISTED: Final = "n.created_at, n.namespace_id, n.path, n.protected"  # as `ListedNamespace` has them
TOP_PAGE: Final = f"""
select {_LISTED} from namespace n
 where n.warehouse_id = $1 and n.parent_id is null and (n.created_at, n.namespace_id) > ($2, $3)
 order by n.created_at, n.namespace_id limit $4
"""
CHILDREN_PAGE: Final = f"""
select {_LISTED} from namespace n
 where n.warehouse_id = $1 and n.parent_id = $5 and (n.created_at, n.namespace_id) > ($2, $3)
 order by n.created_at, n.namespace_id limit $4
"""
VISIBLE_TOP_PAGE: Final = f"""
select {_LISTED} from unnest($5::uuid[]) as granted(namespace_id)
  join namespace n on n.warehouse_id = $1 and n.namespace_id = granted.namespace_id
 where n.parent_id is null and (n.created_at, n.namespace_id) > ($2, $3)
 order by n.created_at, n.namespace_id limit $4
"""
VISIBLE_CHILDREN_PAGE: Final = f"""
with shown as materialized (
    select exists (
        select from namespace inside
          join namespace container on container.warehouse_id = inside.warehouse_id
               and container.namespace_id = any($6::uuid[])
               and (container.namespace_id = inside.namespace_id
                    or starts_with(inside.path_key, container.path_key || E'\\x1f'))
         where inside.warehouse_id = $1 and inside.namespace_id = $5) as whole)
select {_LISTED} from (
    (select {_LISTED} from namespace n
      where (select whole from shown)
        and n.warehouse_id = $1 and n.parent_id = $5 and (n.created_at, n.namespace_id) > ($2, $3)
      order by n.created_at, n.namespace_id limit $4)
    union all
    (select {_LISTED} from unnest($7::uuid[]) as granted(namespace_id)
       join namespace n on n.warehouse_id = $1 and n.namespace_id = granted.namespace_id
      where not (select whole from shown)
        and n.parent_id = $5 and (n.created_at, n.namespace_id) > ($2, $3)
      order by n.created_at, n.namespace_id limit $4)
  ) n
 order by n.created_at, n.namespace_id
"""

_WAREHOUSE_COLUMNS: Final = WAREHOUSE.count(",") + 1
_TOP: Final = 4  # arguments of `TOP_PAGE`


class PostgresNamespaces:
    """`NamespaceStore` on Postgres."""

    def __init__(self, pool: Pool, locating: Locating, *, listings: Pool | None = None) -> None:
        """Read through `pool` and `locating`, which lead to the primary, and pages through `listings`, which may lag behind."""
        self._pool: Final = pool
        self._locating: Final = locating
        self._listings: Final = listings or pool
        self._pages: Final = SharedReads[Asked, Sequence[ListedNamespace]](self._page)

    async def find(self, warehouse_id: WarehouseId, ident: NamespaceIdent) -> tuple[Warehouse | None, Namespace | None]:
        """See `NamespaceStore`."""
        located = await self._locating.namespace(warehouse_id, ident)
        return located.warehouse, located.namespace

    async def find_by_id(
        self, warehouse_id: WarehouseId, namespace_id: NamespaceId
    ) -> tuple[Warehouse | None, Namespace | None]:
        """See `NamespaceStore`."""
        return _found(await self._pool.fetchrow(FIND_BY_ID, warehouse_id, namespace_id))

    async def children(
        self,
        warehouse_id: WarehouseId,
        parent: NamespaceId | None,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[ListedNamespace]:
        """See `NamespaceStore`."""
        page = (warehouse_id, *place_of(after), limit)
        if visible.everything:
            return await self._pages(page if parent is None else (*page, parent))
        shown = [*(visible.containers | visible.objects)]
        if parent is None:
            rows = await self._listings.fetch(VISIBLE_TOP_PAGE, *page, shown)
        else:
            rows = await self._listings.fetch(VISIBLE_CHILDREN_PAGE, *page, parent, [*visible.containers], shown)
        return [*map(ListedNamespace._make, rows)]

    async def _page(self, page: Asked) -> Sequence[ListedNamespace]:
        statement = TOP_PAGE if len(page) == _TOP else CHILDREN_PAGE
        return [*map(ListedNamespace._make, await self._listings.fetch(statement, *page))]


def _found(row: asyncpg.Record | None) -> tuple[Warehouse | None, Namespace | None]:
    """From the columns of `WAREHOUSE` and `NAMESPACE`."""
    if row is None:
        return None, None
    columns = tuple(row)
    warehouse, namespace = columns[:_WAREHOUSE_COLUMNS], columns[_WAREHOUSE_COLUMNS:]
    return warehouse_of(warehouse), None if namespace[0] is None else namespace_of(namespace)
