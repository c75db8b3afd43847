"""Warehouses and namespaces on the way to something inside them, kept by row version.

Every load passes a warehouse and a namespace that hardly ever change. The statement on the way reads their row versions,
and only a version that is new is read whole.

A signature within a scope reads nothing. It takes a warehouse from here for as long as a statement has shown it a moment ago, so
that one that another process deactivates or changes is not served from memory for long.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.rows import NAMESPACE, WAREHOUSE, namespace_of, warehouse_of
from lakeward_catalog.domain.model import Namespace, Warehouse
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.telemetry.caches import told

WAREHOUSES: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = any($1::uuid[])"
NAMESPACES: Final = f"""
select {NAMESPACE} from unnest($1::uuid[], $2::uuid[]) as k(warehouse_id, namespace_id)
 cross join lateral (
       select * from namespace n where n.warehouse_id = k.warehouse_id and n.namespace_id = k.namespace_id offset 0) n
"""


# Half a minute, as long as what was vended is given again.
_TRUSTED_SECONDS: Final = 30.0


@dataclasses.dataclass(slots=True)
class _Shown:
    """A warehouse, and when a statement last showed that this is its current version."""

    warehouse: Warehouse
    at: float


class Containers:
    """Whole rows of warehouses and namespaces for row versions that a statement has just read."""

    def __init__(
        self,
        pool: Pool,
        *,
        most_warehouses: int = 1_000,
        most_namespaces: int = 20_000,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read what is missing through `pool`.

        Args:
            pool: leads to the primary.
            most_warehouses: rows kept in memory, about 1 KB each.
            most_namespaces: the same.
            now: seconds of a clock that is never set.
        """
        self._pool: Final = pool
        self._now: Final = now
        self._warehouses: Final = told("warehouse", Kept[UUID, _Shown](most_warehouses))
        self._namespaces: Final = told("namespace", Kept[tuple[UUID, UUID], Namespace](most_namespaces))

    def warehouse(self, warehouse_id: UUID, row_version: int) -> Warehouse | None:
        """The row, where this version of it is kept: a statement has just shown that it is the current one."""
        shown = self._warehouses.look(warehouse_id)
        if shown is None or shown.warehouse.row_version != row_version:
            self._warehouses.misses += 1
            return None
        self._warehouses.hits += 1
        shown.at = self._now()
        return shown.warehouse

    def remembered(self, warehouse_id: UUID, row_version: int) -> Warehouse | None:
        """The row, where this version of it is kept and was shown to be the current one less than half a minute ago."""
        shown = self._warehouses.look(warehouse_id)
        if shown is None or shown.warehouse.row_version != row_version:
            return None
        return shown.warehouse if self._now() - shown.at < _TRUSTED_SECONDS else None

    def keep(self, warehouse: Warehouse) -> None:
        """Keep a row that a statement has just read, unless a newer one is kept."""
        kept = self._warehouses.look(warehouse.warehouse_id)
        if kept is None or kept.warehouse.row_version <= warehouse.row_version:
            self._warehouses.put(warehouse.warehouse_id, _Shown(warehouse, self._now()))

    def namespace(self, warehouse_id: UUID, namespace_id: UUID, row_version: int) -> Namespace | None:
        """The row, where this version of it is kept."""
        row = self._namespaces.look((warehouse_id, namespace_id))
        if row is None or row.row_version != row_version:
            self._namespaces.misses += 1
            return None
        self._namespaces.hits += 1
        return row

    async def read(
        self, warehouse_ids: Collection[UUID], namespace_ids: Collection[tuple[UUID, UUID]]
    ) -> tuple[dict[UUID, Warehouse], dict[tuple[UUID, UUID], Namespace]]:
        """Read rows whole and keep them.

        Args:
            warehouse_ids: whose rows.
            namespace_ids: (warehouse, namespace) of whose rows.

        Returns:
            Warehouses by id and namespaces by (warehouse, namespace). One that went since is missing.
        """
        warehouses: dict[UUID, Warehouse] = {}
        namespaces: dict[tuple[UUID, UUID], Namespace] = {}
        if warehouse_ids:
            for row in await self._pool.fetch(WAREHOUSES, list(warehouse_ids)):
                warehouse = warehouse_of(row)
                warehouses[warehouse.warehouse_id] = warehouse
                self.keep(warehouse)
        if namespace_ids:
            above, ids = zip(*namespace_ids, strict=True)
            for row in await self._pool.fetch(NAMESPACES, above, ids):
                namespace = namespace_of(row)
                key = (namespace.warehouse_id, namespace.namespace_id)
                namespaces[key] = namespace
                kept = self._namespaces.look(key)
                if kept is None or kept.row_version <= namespace.row_version:
                    self._namespaces.put(key, namespace)
        return warehouses, namespaces
