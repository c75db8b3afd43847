"""How a metadata document is kept: as parts of raw deflate that can stand side by side in one stream.

A part is compressed text that ends in a full flush and has no final block (RFC 1951), so parts can be joined, and a joined
stream can be put into a gzip member, without inflating anything. A document with many snapshots shares the parts of the old
ones with the documents before it: a commit compresses and stores the head and the newest snapshots alone.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_servicekit.errors import Reason, Refusal

MAX_TEXT: Final = 64 * 1024 * 1024
_LEVEL: Final = 1  # parts are written once per commit and read from cache; level 1 is the cheap end of both
_POLYNOMIAL: Final = 0xEDB88320


@dataclasses.dataclass(frozen=True, slots=True)
class Deflated:
    """Compressed text: `raw` has no final block and ends on a byte; `crc32` and `size` are the text's."""

    raw: bytes
    crc32: int
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class BodyPart:
    """A part of a metadata body.

    Attributes:
        chunk_id: the shared part that holds it; None where it belongs to this body alone.
        part: the compressed text.
    """

    chunk_id: UUID | None
    part: Deflated


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """A metadata document as it is stored, whole and with the snapshots of references alone.

    Attributes:
        everything: the whole document, part by part, in order.
        references: the document for `snapshots=refs`; equal to `everything` for views and small tables.
    """

    everything: tuple[BodyPart, ...]
    references: tuple[BodyPart, ...]


EMPTY: Final = Deflated(b"", 0, 0)


def deflate(text: bytes) -> Deflated:
    """Compress one part."""
    if not text:
        return EMPTY
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return Deflated(compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH), zlib.crc32(text), len(text))


def check_size(part: Deflated) -> None:
    """Whether a text is within the limit.

    Raises:
        Refusal: TOO_LARGE.
    """
    if part.size > MAX_TEXT:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the metadata is {part.size} bytes; at most {MAX_TEXT} are served",
            what="metadata",
            limit=str(MAX_TEXT),
        )


def inflate(part: Deflated) -> bytes:
    """The text of a part.

    Raises:
        Refusal: TOO_LARGE; the part says it is beyond the limit, or inflates beyond what it says.
        ValueError: the bytes are not what `deflate` made.
    """
    check_size(part)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    text = inflater.decompress(part.raw, part.size + 1)
    if len(text) != part.size or zlib.crc32(text) != part.crc32:
        raise ValueError("a metadata body does not inflate to what its row says")
    return text


def join(parts: Sequence[Deflated]) -> Deflated:
    """One part whose text is the parts' texts in order."""
    if len(parts) == 1:
        return parts[0]
    crc = 0
    for part in parts:
        crc = combine_crc32(crc, part.crc32, part.size)
    return Deflated(b"".join([part.raw for part in parts]), crc, sum(part.size for part in parts))


def gzip_file(part: Deflated) -> bytes:
    """A whole gzip file with the part's text; nothing is compressed again."""
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    final_empty_block = b"\x03\x00"
    trailer = part.crc32.to_bytes(4, "little") + (part.size & 0xFFFFFFFF).to_bytes(4, "little")
    return header + part.raw + final_empty_block + trailer


def combine_crc32(first: int, second: int, second_size: int) -> int:
    """The CRC-32 of two texts in a row, from each one's CRC and the second's length.

    Source: a CRC is a remainder modulo a polynomial over GF(2); appending n zero bytes multiplies it by x^(8n).
    """
    if second_size == 0:
        return first
    return _multiply(_power_of_x(8 * second_size), first) ^ second


def _multiply(left: int, right: int) -> int:
    """Left * right modulo the CRC's polynomial, in its reflected bit order."""
    product, mask = 0, 1 << 31
    while True:
        if left & mask:
            product ^= right
            if not left & (mask - 1):
                return product
        mask >>= 1
        right = (right >> 1) ^ _POLYNOMIAL if right & 1 else right >> 1
        if not mask:
            return product


def _squares() -> tuple[int, ...]:
    powers = [1 << 30]  # x^1
    for _ in range(63):
        powers.append(_multiply(powers[-1], powers[-1]))
    return tuple(powers)


_SQUARES: Final = _squares()  # x^(2^k)


# The parts of a table stay the same from commit to commit, and so do their sizes.
@functools.lru_cache(maxsize=1 << 16)
def _power_of_x(exponent: int) -> int:
    power, k = 1 << 31, 0  # x^0
    while exponent:
        if exponent & 1:
            power = _multiply(_SQUARES[k], power)
        exponent >>= 1
        k += 1
    return power
