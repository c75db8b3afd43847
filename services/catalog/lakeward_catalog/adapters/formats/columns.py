"""Some columns of a Parquet file, of those that repeat nothing: texts and whole numbers, row group by row group.

Only their bytes are read, and a budget bounds how much that is, packed and unpacked. What unpacks it is told how much there is
room for, and refuses more. Pages of both versions are read, plain or over a dictionary, which is what writers make unless they
are told otherwise. Source: Parquet's parquet.thrift, Encodings.md and Compression.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cramjam

from lakeward_catalog.adapters.formats import parquet
from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.adapters.formats.thrift import Compact, Struct
from lakeward_catalog.application.ports.measuring import Unreadable

Value = int | bytes | None
Rows = Mapping[str, Sequence[Value]]

_FOOTER: Final = 4 * 1024 * 1024
_GROUPS: Final = 1_000
_INT32, _INT64, _BYTE_ARRAY = 1, 2, 6
_WIDTHS: Final = {_INT32: 4, _INT64: 8}
_REQUIRED, _REPEATED = 0, 2
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_PLAIN: Final = 0
_OVER_DICTIONARY: Final = frozenset({2, 8})
_RLE: Final = 3
_UNPACK: Final[Mapping[int, Callable[[bytes, bytearray], int]]] = {
    1: cramjam.snappy.decompress_raw_into,
    2: cramjam.gzip.decompress_into,
    4: cramjam.brotli.decompress_into,
    6: cramjam.zstd.decompress_into,
}
_MAX_BITS: Final = 32


class Budget:
    """How many more bytes and rows may be had."""

    def __init__(self, *, packed: int, unpacked: int, rows: int) -> None:
        self._left: Final = {"packed bytes": packed, "unpacked bytes": unpacked, "rows": rows}

    def take(self, *, packed: int = 0, unpacked: int = 0, rows: int = 0) -> None:
        """Use some of it up.

        Raises:
            Unreadable: there is not that much left.
        """
        for name, count in (("packed bytes", packed), ("unpacked bytes", unpacked), ("rows", rows)):
            if count < 0 or count > self._left[name]:
                raise Unreadable(f"it has more {name} than are read here")
            self._left[name] -= count


@dataclass(frozen=True)
class _Column:
    kind: int
    definition: int
    """How many optional things there are from the root to the value, itself included."""


@dataclass(frozen=True)
class _Chunk:
    column: _Column
    codec: int
    start: int
    size: int


async def columns(
    files: TableFiles, path: str, size: int, wanted: Collection[str], budget: Budget
) -> AsyncIterator[Rows]:
    """Values of columns, None where a row has none; each answer is a row group.

    Args:
        files: of the table.
        path: of a Parquet file.
        size: of it, in bytes.
        wanted: columns, as "add.path". One that the file does not have is left out.
        budget: is used up.

    Raises:
        Unreadable: it is no Parquet file, encrypted, over the budget, or has a column in a way that is not read here.
        Refusal: those of the store.
    """
    front = await parquet.footer(files, path, size, most=_FOOTER)
    try:
        told = await asyncio.to_thread(lambda: Compact(front).struct())
        known = _known(told[2], wanted)
        groups = [(_count(group[3]), _chunks(group[1], known)) for group in told[4][: _GROUPS + 1]]
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"the footer of {path} can't be read here") from error
    if len(groups) > _GROUPS:
        raise Unreadable(f"{path} has over {_GROUPS} row groups")
    for count, chunks in groups:
        budget.take(rows=count, packed=sum(chunk.size for chunk in chunks.values()))
        content = {}
        for name, chunk in chunks.items():
            if chunk.start + chunk.size > size:
                raise Unreadable(f"{path} is shorter than its footer says")
            content[name] = await files.whole(path, chunk.start + chunk.size, start=chunk.start)
        try:
            yield await asyncio.to_thread(_read, chunks, content, count, budget)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, cramjam.DecompressionError) as error:
            raise Unreadable(f"a column of {path} can't be read here") from error


@dataclass
class _Group:
    name: str | None
    """None where nothing that is wanted is in it."""
    children: int
    optional: int
    repeated: bool


def _known(schema: Sequence[Struct], wanted: Collection[str]) -> Mapping[str, _Column]:
    """Columns by their names. A name with a repeated part is none that is read here."""
    ways = {name[:end] for name in wanted for end, each in enumerate(name) if each == "."}
    found: dict[str, _Column] = {}
    within = [_Group("", _count(schema[0][5]), 0, repeated=False)]
    for element in schema[1:]:
        while not within[-1].children:
            within.pop()
        above = within[-1]
        above.children -= 1
        repetition = element.get(3, _REQUIRED)
        optional = above.optional + (repetition != _REQUIRED)
        repeated = above.repeated or repetition == _REPEATED
        name = None
        if above.name is not None:
            name = (f"{above.name}." if above.name else "") + element[4].decode()
        if children := _count(element.get(5, 0)):
            within.append(_Group(name if name in ways else None, children, optional, repeated))
        elif name is not None and name in wanted and not repeated:
            found[name] = _Column(element[1], optional)
    return found


def _chunks(chunks: Sequence[Struct], known: Mapping[str, _Column]) -> Mapping[str, _Chunk]:
    found = {}
    for chunk in chunks:
        told = chunk[3]
        name = b".".join(told[3]).decode()
        if name in known:
            starts = [_count(told[number]) for number in (9, 11) if told.get(number)]
            found[name] = _Chunk(known[name], told[4], min(starts), _count(told[7]))
    return found


def _count(number: int) -> int:
    if number < 0:
        raise ValueError("it is negative")
    return number


def _read(chunks: Mapping[str, _Chunk], content: Mapping[str, bytes], rows: int, budget: Budget) -> Rows:
    return {name: _values(chunk, content[name], rows, budget) for name, chunk in chunks.items()}


def _values(chunk: _Chunk, content: bytes, rows: int, budget: Budget) -> Sequence[Value]:
    compact = Compact(content)
    dictionary: Sequence[Value] = ()
    found: list[Value] = []
    while len(found) < rows:
        header = compact.struct()
        packed = content[compact.at : compact.at + _count(header[3])]
        compact.at += header[3]
        room = _count(header[2])
        budget.take(unpacked=room)
        if header[1] == _DICTIONARY:
            dictionary = _plain(_unpacked(packed, chunk.codec, room), chunk.column.kind, _within(header[7][1], rows))
        elif header[1] in {_DATA, _DATA_V2}:
            page = (_first if header[1] == _DATA else _second)(chunk, header, packed, rows - len(found))
            found += page.values(chunk.column, dictionary)
        # pages of other kinds hold no values
    return found


def _first(chunk: _Chunk, header: Struct, packed: bytes, left: int) -> _Page:
    told, body, levels = header[5], _unpacked(packed, chunk.codec, header[2]), None
    count = _within(told[1], left)
    if chunk.column.definition:
        if told[3] != _RLE:
            raise ValueError("levels are written otherwise")
        end = 4 + int.from_bytes(body[:4], "little")
        levels, body = _hybrid(body[4:end], chunk.column.definition.bit_length(), count), body[end:]
    return _Page(told[2], body, count, levels)


def _second(chunk: _Chunk, header: Struct, packed: bytes, left: int) -> _Page:
    told = header[8]
    count, end = _within(told[1], left), _count(told[5])
    body, levels = packed[end:], None
    if chunk.column.definition:
        levels = _hybrid(packed[:end], chunk.column.definition.bit_length(), count)
    if body and told.get(7, True):
        body = _unpacked(body, chunk.codec, header[2] - end)
    return _Page(told[4], body, count, levels)


def _within(count: int, left: int) -> int:
    if not 0 <= count <= left:
        raise ValueError("it has more values than the file has rows")
    return count


def _unpacked(packed: bytes, codec: int, room: int) -> bytes:
    if codec == 0:
        return packed
    into = bytearray(_count(room))
    return bytes(into[: _UNPACK[codec](packed, into)])


@dataclass(frozen=True)
class _Page:
    encoding: int
    body: bytes
    count: int
    levels: Sequence[int] | None
    """How much of the way to each value is there; None where all of it has to be."""

    def values(self, column: _Column, dictionary: Sequence[Value]) -> Sequence[Value]:
        present = self.count if self.levels is None else self.levels.count(column.definition)
        if self.encoding == _PLAIN:
            values = _plain(self.body, column.kind, present)
        elif self.encoding in _OVER_DICTIONARY:
            indexes = _hybrid(self.body[1:], self.body[0], present) if present else []
            values = [dictionary[index] for index in indexes]
        else:
            raise ValueError(f"values are written in the way {self.encoding}")
        if self.levels is None:
            return values
        each = iter(values)
        return [next(each) if level == column.definition else None for level in self.levels]


def _plain(body: bytes, kind: int, count: int) -> Sequence[Value]:
    if count > len(body):
        raise ValueError("it has more values than bytes")
    if kind in _WIDTHS:
        width = _WIDTHS[kind]
        if count * width > len(body):
            raise IndexError
        return [int.from_bytes(body[at : at + width], "little", signed=True) for at in range(0, count * width, width)]
    if kind != _BYTE_ARRAY:
        raise ValueError(f"values are of the type {kind}")
    found: list[Value] = []
    at = 0
    for _ in range(count):
        start = at + 4
        at = start + int.from_bytes(body[at:start], "little")
        if at > len(body):
            raise IndexError
        found.append(body[start:at])
    return found


def _hybrid(body: bytes, bits: int, count: int) -> list[int]:
    """Runs of one number, and numbers of so many bits each, eight at a time."""
    if not 0 <= bits <= _MAX_BITS:
        raise ValueError("numbers are too wide")
    compact, found = Compact(body), list[int]()
    mask = (1 << bits) - 1
    while len(found) < count:
        header = compact.varint()
        if header & 1:
            for _ in range(min(header >> 1, -(-(count - len(found)) // 8))):
                eight = int.from_bytes(compact.take(bits), "little")
                found += [eight >> shift & mask for shift in range(0, 8 * bits, bits)] if bits else [0] * 8
        else:
            repeated = int.from_bytes(compact.take(-(-bits // 8)), "little")
            found += [repeated] * min(header >> 1, count - len(found))
            if not header:
                raise ValueError("a run of nothing")
    return found[:count]
