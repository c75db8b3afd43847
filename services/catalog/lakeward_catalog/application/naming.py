"""Which ids names have, for questions about rights."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from uuid import UUID

from lakeward_catalog.application.ports.stores import TabularStore
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """A namespace, or a tabular of a kind in it.

    Attributes:
        tabular: its name and kind; None for the namespace itself.
    """

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    tabular: tuple[str, Kind] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NameLookups:
    """Finds what has a name. Nothing is decided of it: only who asks authz about it next is told, and no client."""

    tabulars: TabularStore

    async def __call__(self, names: Sequence[Name | None]) -> Sequence[UUID | None]:
        """The id that people call each by, in their order; None where nothing has the name. Few statements for many names."""
        found = dict.fromkeys(name for name in names if name is not None)
        ids = dict(zip(found, await asyncio.gather(*map(self._find, found)), strict=True))
        return [None if name is None else ids[name] for name in names]

    async def _find(self, name: Name) -> UUID | None:
        # nothing is called "", so that of a namespace's own name the namespace alone is found
        called, kind = name.tabular or ("", None)
        located = await self.tabulars.locate(name.warehouse_id, TabularIdent(name.namespace, called))
        if kind is None:
            return None if located.namespace is None else located.namespace.namespace_id
        return located.tabular.tabular_id if located.tabular is not None and located.tabular.kind is kind else None
