"""How many rows a Parquet file has: the third field of its footer, which is a struct of Thrift's compact protocol.

The fields before it are passed over. Source: Parquet's `FileMetaData` (parquet.thrift) and Thrift's compact protocol. Engines'
own readers load whole footers, in native code, which a stranger's file may end; this one reads a few bytes and only refuses.
"""

from __future__ import annotations

import asyncio
from typing import Final

from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.application.ports.measuring import Unreadable

_MAGIC: Final = b"PAR1"
_END: Final = 8  # the footer's length and the magic
_TAIL: Final = 32 * 1024
_FRONT: Final = 1024 * 1024  # of a footer: the columns stand before the number of rows
_DEPTH: Final = 16
_NUM_ROWS: Final = 3
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(14)
_INTEGERS: Final = frozenset({_I16, _I32, _I64})
_FIXED: Final = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
_LONG: Final = 15  # a list whose length stands by itself
_VARINT_BITS: Final = 70


async def rows(files: TableFiles, path: str, size: int) -> int:
    """Of one file of this size.

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
        footer = tail[-_END - length : -_END]
    else:
        footer = await files.part(path, size - _END - length, min(length, _FRONT))
    try:
        found = await asyncio.to_thread(lambda: _num_rows(_Compact(footer)))
    except (IndexError, ValueError) as error:
        raise Unreadable(f"the footer of {path} can't be read") from error
    if found < 0:
        raise Unreadable(f"the footer of {path} says {found} rows")
    return found


def _num_rows(compact: _Compact) -> int:
    field = 0
    while True:
        field, kind = compact.field(field)
        if kind == _STOP or field > _NUM_ROWS:
            raise ValueError("it does not say how many rows there are")
        if field == _NUM_ROWS and kind == _I64:
            return compact.integer()
        compact.skip(kind)


class _Compact:
    """Reads forward. Every method raises IndexError where the bytes end, ValueError for what can't be."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def field(self, last: int) -> tuple[int, int]:
        """The next field's number and type; a struct ends with the type 0."""
        byte = self._byte()
        step, kind = byte >> 4, byte & 15
        if kind == _STOP:
            return last, _STOP
        return (last + step if step else self.integer()), kind

    def integer(self) -> int:
        """A number, zigzag."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value of a field."""
        if depth > _DEPTH:
            raise ValueError("it is nested too deep")
        if kind in {_TRUE, _FALSE}:
            return  # the type is the value
        if kind in _INTEGERS:
            self._varint()
        elif kind in _FIXED:
            self._pass(_FIXED[kind])
        elif kind == _BINARY:
            self._pass(self._varint())
        else:
            self._skip_nested(kind, depth)

    def _skip_nested(self, kind: int, depth: int) -> None:
        if kind in {_LIST, _SET}:
            header = self._byte()
            count = header >> 4
            for _ in range(self._varint() if count == _LONG else count):
                self._skip_element(header & 15, depth)
        elif kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._skip_element(kinds >> 4, depth)
                self._skip_element(kinds & 15, depth)
        elif kind == _STRUCT:
            field, inner = self.field(0)
            while inner != _STOP:
                self.skip(inner, depth + 1)
                field, inner = self.field(field)
        else:
            raise ValueError(f"there is no type {kind}")

    def _skip_element(self, kind: int, depth: int) -> None:
        if kind in {_TRUE, _FALSE}:
            self._pass(1)
        else:
            self.skip(kind, depth + 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, _VARINT_BITS, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the bit that says that more follows
                return value
        raise ValueError("a number does not end")

    def _byte(self) -> int:
        byte = self._content[self._at]
        self._at += 1
        return byte

    def _pass(self, count: int) -> None:
        self._at += count
        if self._at > len(self._content):
            raise IndexError
