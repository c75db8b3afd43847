"""Warehouses and namespaces on the way to something inside them, kept by row version.

Every load passes a warehouse and a namespace that hardly ever change. The statement on the way reads their row versions,
and only a version that is new is read whole.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final, Generic, Protocol, TypeVar
from uuid import UUID

from lakeward.catalog.adapters.postgres.rows import NAMESPACE, WAREHOUSE, namespace_of, warehouse_of
from lakeward.catalog.domain.model import Namespace, Warehouse
from lakeward.servicekit.postgres.pools import Pool

WAREHOUSES: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = any($1::uuid[])"
NAMESPACES: Final = f"""
select {NAMESPACE} from unnest($1::uuid[], $2::uuid[]) as k(warehouse_id, namespace_id)
  join namespace n on n.warehouse_id = k.warehouse_id and n.namespace_id = k.namespace_id
"""


class Versioned(Protocol):
    """A row with a version."""

    @property
    def row_version(self) -> int:
        """Grows with every change of the row."""
        ...


Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row", bound=Versioned)


class _Newest(Generic[Key, Row]):
    """The newest row that was read under each key, at most `most` of them; which one goes is of no importance."""

    def __init__(self, most: int) -> None:
        self._most: Final = most
        self._rows: dict[Key, Row] = {}

    def at(self, key: Key, row_version: int) -> Row | None:
        """The row, where it is kept in this version."""
        row = self._rows.get(key)
        return row if row is not None and row.row_version == row_version else None

    def keep(self, key: Key, row: Row) -> None:
        """Keep a row, unless a newer one is kept."""
        kept = self._rows.get(key)
        if kept is not None and kept.row_version > row.row_version:
            return
        if kept is None and len(self._rows) >= self._most:
            del self._rows[next(iter(self._rows))]
        self._rows[key] = row


class Containers:
    """Whole rows of warehouses and namespaces for row versions that a statement has just read."""

    def __init__(self, pool: Pool, *, most_warehouses: int = 1_000, most_namespaces: int = 20_000) -> None:
        """Read what is missing through `pool`; the bounds are rows kept in memory, about 1 KB each."""
        self._pool: Final = pool
        self._warehouses: Final = _Newest[UUID, Warehouse](most_warehouses)
        self._namespaces: Final = _Newest[tuple[UUID, UUID], Namespace](most_namespaces)

    def warehouse(self, warehouse_id: UUID, row_version: int) -> Warehouse | None:
        """The row, where this version of it is kept."""
        return self._warehouses.at(warehouse_id, row_version)

    def namespace(self, warehouse_id: UUID, namespace_id: UUID, row_version: int) -> Namespace | None:
        """The row, where this version of it is kept."""
        return self._namespaces.at((warehouse_id, namespace_id), row_version)

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
                self._warehouses.keep(warehouse.warehouse_id, warehouse)
        if namespace_ids:
            above, ids = zip(*namespace_ids, strict=True)
            for row in await self._pool.fetch(NAMESPACES, above, ids):
                namespace = namespace_of(row)
                key = (namespace.warehouse_id, namespace.namespace_id)
                namespaces[key] = namespace
                self._namespaces.keep(key, namespace)
        return warehouses, namespaces
