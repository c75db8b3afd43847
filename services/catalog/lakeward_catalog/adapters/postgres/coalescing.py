"""Point reads that arrive together share a statement, and equal ones a place in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from lakeward_catalog.adapters.postgres.tabulars import Key
from lakeward_catalog.application.ports.stores import After, Listed, Located, TabularStore, Visibility
from lakeward_catalog.domain.model import Kind, NamespaceId, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.coalescing import Coalescer


class BatchingTabulars(TabularStore, Protocol):
    """A store that answers many point reads at once."""

    async def locate_many(self, keys: Sequence[Key]) -> Sequence[Located]:
        """What each key leads to, in the order of `keys`; as of a time after the call."""
        ...


class CoalescingTabulars:
    """`TabularStore` whose concurrent `locate` calls share statements; what else is asked goes straight through."""

    def __init__(self, store: BatchingTabulars, *, most_items: int = 128, most_batches: int = 2) -> None:
        """Send at most `most_items` different keys in a batch, and at most `most_batches` batches at a time."""
        self._store: Final = store
        self._located: Final = Coalescer(
            store.locate_many, max_items=most_items, at_once=most_batches, patience=None, alike=True
        )

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """See `TabularStore`."""
        return await self._located(Key(warehouse_id, *ident.key))

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """See `TabularStore`."""
        return await self._store.by_id(warehouse_id, tabular_id)

    async def by_location(self, warehouse_id: WarehouseId, location: Location) -> Tabular | None:
        """See `TabularStore`."""
        return await self._store.by_location(warehouse_id, location)

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
        return await self._store.list(warehouse_id, namespace_id, kind, visible=visible, after=after, limit=limit)
