"""Table metadata as a stored body: a head of its own, and shared parts for the snapshots that no longer change.

A chunk of snapshots that is full becomes a shared part, named by a hash of its text. The next commit's body names the same part,
so it is compressed once, stored once and sent once, however many commits follow.
"""

from __future__ import annotations

import hashlib
import itertools
import weakref
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.iceberg.history import Chunk
from lakeward_catalog.domain.iceberg.table import END, MIDDLE, TableMetadata
from lakeward_servicekit.deflated import deflate

_shared: weakref.WeakKeyDictionary[Chunk[Any], dict[bool, BodyPart]] = weakref.WeakKeyDictionary()


def body_of(metadata: TableMetadata) -> Body:
    """The body of a table's metadata. Costs what is new in it, once its chunks were seen."""
    segments = metadata.segments()
    head = BodyPart(None, deflate(segments.head))
    everything = _parts(head, segments.snapshots, segments.snapshot_log)
    referenced = {ref.snapshot_id for ref in metadata.refs.values()}
    if len(referenced) == len(metadata.snapshots):
        return Body(everything, everything)
    return Body(everything, _parts(head, metadata.snapshots.only(referenced).chunks, segments.snapshot_log))


def shared_ids(metadata: TableMetadata) -> frozenset[UUID]:
    """The ids of the shared parts of a body's whole form."""
    return frozenset(
        part.chunk_id
        for history in (metadata.snapshots, metadata.snapshot_log)
        for part in _of_chunks(history.chunks)
        if isinstance(part, BodyPart) and part.chunk_id is not None
    )


def _parts(head: BodyPart, snapshots: Sequence[Chunk[Any]], snapshot_log: Sequence[Chunk[Any]]) -> tuple[BodyPart, ...]:
    parts: list[BodyPart] = [head]
    text: list[bytes] = []
    for piece in itertools.chain(_of_chunks(snapshots), (MIDDLE,), _of_chunks(snapshot_log), (END,)):
        if isinstance(piece, bytes):
            text.append(piece)
            continue
        if text:
            parts.append(BodyPart(None, deflate(b"".join(text))))
            text.clear()
        parts.append(piece)
    parts.append(BodyPart(None, deflate(b"".join(text))))
    return tuple(parts)


def _of_chunks(chunks: Sequence[Chunk[Any]]) -> Iterator[bytes | BodyPart]:
    first = True
    for chunk in chunks:
        if chunk.full:
            yield _shared_part(chunk, first=first)
        else:
            yield chunk.encoded if first else b"," + chunk.encoded
        first = False


def _shared_part(chunk: Chunk[Any], *, first: bool) -> BodyPart:
    made = _shared.setdefault(chunk, {})
    part = made.get(first)
    if part is None:
        text = chunk.encoded if first else b"," + chunk.encoded
        part = BodyPart(UUID(bytes=hashlib.sha256(text).digest()[:16]), deflate(text))
        made[first] = part
    return part
