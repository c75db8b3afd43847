"""How many rows a Parquet file has: the third field of its footer, which is a struct of Thrift's compact protocol.

The fields before it are passed over. Source: Parquet's `FileMetaData` (parquet.thrift) and Thrift's compact protocol. Engines'
own readers load whole footers, in native code, which a stranger's file may end; this one reads a few bytes and only refuses.
"""

from __future__ import annotations

import asyncio
from typing import Final

from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.adapters.formats.thrift import I64, STOP, Compact
from lakeward_catalog.application.ports.measuring import Unreadable

_MAGIC: Final = b"PAR1"
_END: Final = 8  # the footer's length and the magic
_TAIL: Final = 32 * 1024
_FRONT: Final = 1024 * 1024  # of a footer: the columns stand before the number of rows
_NUM_ROWS: Final = 3


async def rows(files: TableFiles, path: str, size: int) -> int:
    """Of one file of this size.

    Raises:
        Unreadable: it is no Parquet file, or encrypted.
        Refusal: those of the store.
    """
    beginning = await footer(files, path, size, most=_FRONT)
    try:
        found = await asyncio.to_thread(lambda: _num_rows(Compact(beginning)))
    except (IndexError, ValueError) as error:
        raise Unreadable(f"the footer of {path} can't be read") from error
    if found < 0:
        raise Unreadable(f"the footer of {path} says {found} rows")
    return found


async def footer(files: TableFiles, path: str, size: int, *, most: int) -> bytes:
    """The footer of a file of this size, without what ends it; of a longer one the first `most` bytes.

    Raises:
        Unreadable: it is no Parquet file, or encrypted.
        Refusal: those of the store.
    """
    tail = await files.part(path, max(0, size - _TAIL), min(size, _TAIL))
    if size < _END + len(_MAGIC) or tail[-len(_MAGIC) :] != _MAGIC:
        raise Unreadable(f"{path} is no Parquet file with a footer that can be read")
    length = int.from_bytes(tail[-_END : -len(_MAGIC)], "little")
    if length + _END > size:
        raise Unreadable(f"the footer of {path} would be longer than the file")
    if length + _END <= len(tail):
        return tail[-_END - length : -_END]
    return await files.part(path, size - _END - length, min(length, most))


def _num_rows(compact: Compact) -> int:
    field = 0
    while True:
        field, kind = compact.field(field)
        if kind == STOP or field > _NUM_ROWS:
            raise ValueError("it does not say how many rows there are")
        if field == _NUM_ROWS and kind == I64:
            return compact.integer()
        compact.skip(kind)
