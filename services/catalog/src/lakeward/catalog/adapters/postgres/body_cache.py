"""Bodies that were read stay in memory, within a bound of bytes. A body never changes under its id, so none is ever stale."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward.catalog.application.ports import BodyStore
from lakeward.catalog.domain.bodies import BodyPart
from lakeward.catalog.domain.model import MetadataId, WarehouseId

_OVERHEAD: Final = 400  # bytes of the objects around a part


class CachedBodies:
    """`BodyStore` that keeps what it read; callers that miss the same body share one read."""

    def __init__(self, store: BodyStore, *, most_bytes: int) -> None:
        """Keep at most `most_bytes` of compressed parts; a body that is larger than an eighth of that is not kept."""
        self._store: Final = store
        self._most_bytes: Final = most_bytes
        self._kept: Final[OrderedDict[tuple[UUID, bool], Sequence[BodyPart]]] = OrderedDict()
        self._bytes = 0
        self._reads: Final[dict[tuple[UUID, bool], asyncio.Task[Sequence[BodyPart]]]] = {}

    @property
    def kept_bytes(self) -> int:
        """How much is kept now."""
        return self._bytes

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        """See `BodyStore`."""
        key = (metadata_id, references)
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        read = self._reads.get(key)
        if read is None:
            read = asyncio.create_task(self._read(warehouse_id, metadata_id, references=references))
            self._reads[key] = read
            read.add_done_callback(lambda task: self._end(key, task))
        # One caller that is cancelled takes the read from nobody else.
        return await asyncio.shield(read)

    async def _read(
        self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool
    ) -> Sequence[BodyPart]:
        parts = await self._store.body(warehouse_id, metadata_id, references=references)
        other = self._kept.get((metadata_id, not references))
        if other is not None and other == parts:  # both forms are one document: one copy of it
            self._keep((metadata_id, references), other, weight=_OVERHEAD)
            return other
        self._keep((metadata_id, references), parts, weight=_weight(parts))
        return parts

    def _keep(self, key: tuple[UUID, bool], parts: Sequence[BodyPart], *, weight: int) -> None:
        if weight * 8 > self._most_bytes or key in self._kept:
            return
        self._kept[key] = parts
        self._bytes += weight
        while self._bytes > self._most_bytes:
            (metadata_id, references), gone = self._kept.popitem(last=False)
            shared = self._kept.get((metadata_id, not references)) is gone
            self._bytes -= _OVERHEAD if shared else _weight(gone)

    def _end(self, key: tuple[UUID, bool], read: asyncio.Task[Sequence[BodyPart]]) -> None:
        del self._reads[key]
        if not read.cancelled():
            read.exception()  # callers that were cancelled don't ask; it is no unhandled failure


def _weight(parts: Sequence[BodyPart]) -> int:
    return sum(len(part.part.raw) + _OVERHEAD for part in parts)
