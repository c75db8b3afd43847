"""Metadata documents by the commit that made them: stored parts, compressed text, plain text and parsed form.

What a metadata id names never changes, so every form is cached by it alone, and nothing here is ever invalidated. The caches are
bounded by bytes; what is pushed out is read again.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.ports.stores import BodyStore
from lakeward_catalog.domain.bodies import Body, joined, text_of
from lakeward_catalog.domain.iceberg.reading import parse_table
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import MetadataId, WarehouseId
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.keeping import Kept, Once
from lakeward_servicekit.telemetry.caches import told

# Parsed metadata weighs about this many times its JSON.
_PARSED_FACTOR: Final = 3
# How many commits' predecessors stay parsed: others that began before such a commit may still be about to read them, and lose.
_REPLACED: Final = 64


class Documents:
    """Reads metadata documents through caches.

    Args:
        bodies: where they are kept.
        text_bytes: budget for plain and compressed text, each.
        parsed_bytes: budget for parsed metadata. A commit that has to parse what it builds on costs as much as the whole table,
            so one of tens of thousands of snapshots must fit.
    """

    def __init__(self, bodies: BodyStore, *, text_bytes: int = 32 << 20, parsed_bytes: int = 128 << 20) -> None:
        """Start empty; see the class."""
        self._bodies = bodies
        self._plain: Final = Kept[tuple[MetadataId, bool], bytes](size=text_bytes)
        self._deflated: Final = told("documents", Kept[tuple[MetadataId, bool], Deflated](size=text_bytes))
        self._parsed: Final = told("parsed_documents", Kept[MetadataId, TableMetadata](size=parsed_bytes))
        self._replaced: Final = deque[MetadataId]()
        self._reading: Final = Once[tuple[MetadataId, bool], Deflated]()

    async def deflated(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Deflated:
        """The compressed text.

        Raises:
            LookupError: a later commit has replaced it; read the row again.
        """
        key = (metadata_id, references)
        cached = self._deflated.look(key)
        if cached is not None:
            self._deflated.used(key)
            self._deflated.hits += 1
            return cached
        self._deflated.misses += 1
        return await self._reading(key, lambda: self._read(warehouse_id, metadata_id, references=references))

    async def plain(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> bytes:
        """The text.

        Raises:
            LookupError: as `deflated`.
        """
        key = (metadata_id, references)
        text = self._plain.get(key)
        if text is None:
            deflated = await self.deflated(warehouse_id, metadata_id, references=references)
            text = await beside(deflated.size, lambda: text_of(deflated))
            self._plain.put(key, text, size=len(text))
        return text

    async def table(self, warehouse_id: WarehouseId, metadata_id: MetadataId) -> TableMetadata:
        """The parsed metadata.

        Raises:
            LookupError: as `deflated`.
        """
        metadata = self._parsed.get(metadata_id)
        if metadata is not None:
            self._parsed.hits += 1
        else:
            self._parsed.misses += 1
            text = await self.plain(warehouse_id, metadata_id, references=False)
            metadata = await beside(len(text), lambda: parse_table(text))
            self._parsed.put(metadata_id, metadata, size=len(text) * _PARSED_FACTOR)
        return metadata

    def keep(
        self,
        metadata_id: MetadataId,
        body: Body,
        parsed: TableMetadata | None = None,
        *,
        instead_of: MetadataId | None = None,
    ) -> None:
        """Remember what a commit just wrote: its reply shows it, and the next commit to a table builds on it.

        What it replaced is nobody's base any more. It is let go some commits later: values are many small objects, which would
        stay until their bytes were too many, and the garbage collector would look at all of them.
        """
        text = body.whole
        self._deflated.put((metadata_id, False), text, size=len(text.raw))
        if parsed is not None:
            self._parsed.put(metadata_id, parsed, size=text.size * _PARSED_FACTOR)
        if instead_of is not None:
            self._replaced.append(instead_of)
            if len(self._replaced) > _REPLACED:
                self._parsed.discard(self._replaced.popleft())

    async def _read(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Deflated:
        parts = await self._bodies.body(warehouse_id, metadata_id, references=references)
        text = joined(parts)
        self._deflated.put((metadata_id, references), text, size=len(text.raw))
        return text
