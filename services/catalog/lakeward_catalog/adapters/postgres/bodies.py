"""Metadata bodies: as rows, and read.

A form of a document is a row's arrays of parts: where a part is shared its id stands there and its bytes in `body_chunk`;
own parts lie one behind another in one value. The form for references is null where it is the whole document.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.model import MetadataId, WarehouseId
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.postgres.pools import Pool

# The shared parts are read in the body's own snapshot: a commit between two statements would take them away.
EVERYTHING: Final = """
select b.everything_ids, b.everything_crcs, b.everything_sizes, b.everything_lengths, b.everything_own,
       case when cardinality(array_remove(b.everything_ids, null)) > 0 then array(
           select c.raw from unnest(b.everything_ids) with ordinality as part(chunk_id, place)
             join body_chunk c on c.warehouse_id = b.warehouse_id and c.incarnation = b.incarnation
                  and c.chunk_id = part.chunk_id
            order by part.place) end
  from tabular_body b where b.warehouse_id = $1 and b.metadata_id = $2
"""
REFERENCES: Final = """
select f.ids, f.crcs, f.sizes, f.lengths, f.own,
       case when cardinality(array_remove(f.ids, null)) > 0 then array(
           select c.raw from unnest(f.ids) with ordinality as part(chunk_id, place)
             join body_chunk c on c.warehouse_id = b.warehouse_id and c.incarnation = b.incarnation
                  and c.chunk_id = part.chunk_id
            order by part.place) end
  from tabular_body b cross join lateral (
       select b.refs_ids, b.refs_crcs, b.refs_sizes, b.refs_lengths, b.refs_own where b.refs_ids is not null
       union all
       select b.everything_ids, b.everything_crcs, b.everything_sizes, b.everything_lengths, b.everything_own
        where b.refs_ids is null
       ) f(ids, crcs, sizes, lengths, own)
 where b.warehouse_id = $1 and b.metadata_id = $2
"""


class PostgresBodies:
    """`BodyStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, which leads to the primary."""
        self._pool = pool

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        """See `BodyStore`."""
        row = await self._pool.fetchrow(REFERENCES if references else EVERYTHING, warehouse_id, metadata_id)
        if row is None:
            raise LookupError(f"metadata {metadata_id} is not current")
        return _parts(*row)


@dataclasses.dataclass(frozen=True, slots=True)
class BodyRow:
    """A body's columns, and its shared parts.

    Attributes:
        forms: ids, CRCs, sizes, lengths and own bytes of the whole document, then of the form for references.
        chunks: shared parts' bytes by id.
    """

    forms: tuple[object, ...]
    chunks: dict[UUID, bytes]

    @classmethod
    def of(cls, body: Body) -> BodyRow:
        """What is stored of a body."""
        same = body.references == body.everything
        forms = (*_columns(body.everything), *((None,) * 5 if same else _columns(body.references)))
        parts = body.everything if same else (*body.everything, *body.references)
        return cls(forms, {part.chunk_id: part.part.raw for part in parts if part.chunk_id is not None})


def _columns(parts: Sequence[BodyPart]) -> tuple[object, ...]:
    ids: list[UUID | None] = []
    crcs: list[int] = []
    sizes: list[int] = []
    lengths: list[int] = []
    own: list[bytes] = []
    for part in parts:
        text = part.part
        raw = text.raw if part.chunk_id is None else b""
        ids.append(part.chunk_id)
        crcs.append(text.crc32)
        sizes.append(text.size)
        lengths.append(len(raw))
        own.append(raw)
    return ids, crcs, sizes, lengths, b"".join(own)


def _parts(  # noqa: PLR0917 - the columns of the statements above
    ids: Sequence[UUID | None],
    crcs: Sequence[int],
    sizes: Sequence[int],
    lengths: Sequence[int],
    own: bytes,
    shared: Sequence[bytes] | None,
) -> tuple[BodyPart, ...]:
    chunks = iter(shared or ())
    parts: list[BodyPart] = []
    start = 0
    for chunk_id, crc32, size, length in zip(ids, crcs, sizes, lengths, strict=True):
        if chunk_id is None:
            raw = own[start : start + length]
            start += length
        else:
            raw = next(chunks)
        parts.append(BodyPart(chunk_id, Deflated(raw, crc32, size)))
    return tuple(parts)
