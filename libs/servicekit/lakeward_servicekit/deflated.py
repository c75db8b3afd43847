"""Compressed text that can stand side by side with other such text, and in a gzip file, without being inflated.

A part is a raw deflate stream (RFC 1951) that ends in a full flush, on a byte, and has no final block. So parts can be joined by
putting one behind the other, and a gzip file is a header, parts, a last block and a trailer. The CRC-32 of what stands behind
each other comes from the parts' own by arithmetic over GF(2).
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Sequence
from typing import Final

import msgspec

_LEVEL: Final = 1  # parts are written once a commit and read from a cache; level 1 is the cheap end of both
_POLYNOMIAL: Final = 0xEDB88320
_HIGHEST: Final = 1 << 31
_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
_STORED_MAX: Final = 0xFFFF


class Deflated(msgspec.Struct, frozen=True, gc=False):
    """A part: `crc32` and `size` are those of the text that `raw` inflates to."""

    raw: bytes
    crc32: int
    size: int


EMPTY: Final = Deflated(b"", 0, 0)


def deflate(text: bytes) -> Deflated:
    """Compress one part."""
    if not text:
        return EMPTY
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return Deflated(compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH), zlib.crc32(text), len(text))


def inflate(part: Deflated) -> bytes:
    """The text of a part; never more than a byte beyond what the part says is inflated.

    Raises:
        ValueError: the bytes are not what `deflate` made.
    """
    text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(part.raw, part.size + 1)
    if len(text) != part.size or zlib.crc32(text) != part.crc32:
        raise ValueError("a part does not inflate to what is said of it")
    return text


def join(*runs: Sequence[Deflated]) -> Deflated:
    """One part whose text is the parts' texts in order.

    Args:
        runs: parts, which follow each other. What the CRCs of a run amount to is remembered from its beginning on, so what stays
            the same from one text to the next should be a run of its own.
    """
    parts = [part for run in runs for part in run]
    if len(parts) == 1:
        return parts[0]
    crc, size = 0, 0
    for run in runs:
        run_crc, run_size = 0, 0
        for part in run:
            run_crc = _joined_before(run_crc, part.crc32, part.size) if run_size else part.crc32
            run_size += part.size
        crc = joined_crc32(crc, run_crc, run_size) if size else run_crc
        size += run_size
    return Deflated(b"".join([part.raw for part in parts]), crc, size)


def gzip_file(part: Deflated, *, before: bytes = b"", after: bytes = b"") -> bytes:
    """A gzip file of one member: plain bytes, the part's text, plain bytes.

    Several members in one file would be simpler, and break curl and httpx.
    """
    whole = joined_crc32(zlib.crc32(before), part.crc32, part.size) if before else part.crc32
    checksum = zlib.crc32(after, whole)
    length = (len(before) + part.size + len(after)) & 0xFFFFFFFF
    trailer = struct.pack("<II", checksum, length)
    first = _stored(before, last=False) if before else b""
    return b"".join((_HEADER, first, part.raw, _stored(after, last=True), trailer))


def joined_crc32(first: int, second: int, second_size: int) -> int:
    """The CRC-32 of two texts, one after the other.

    Source: a CRC is a remainder modulo a polynomial over GF(2); appending n zero bytes multiplies it by x^(8n).

    Args:
        first: CRC-32 of the first.
        second: CRC-32 of the second.
        second_size: bytes of the second.
    """
    return _multiply(_shift(second_size), first) ^ second


_joined_before: Final = functools.lru_cache(maxsize=1 << 14)(joined_crc32)


def _stored(content: bytes, *, last: bool) -> bytes:
    """Stored blocks of deflate; at least one, so that `last` can end the stream."""
    size = len(content)
    if size <= _STORED_MAX:
        return struct.pack("<BHH", last, size, size ^ 0xFFFF) + content
    pieces = [content[at : at + _STORED_MAX] for at in range(0, size, _STORED_MAX)]
    final = len(pieces) - 1
    return b"".join(
        struct.pack("<BHH", last and index == final, len(piece), len(piece) ^ 0xFFFF) + piece
        for index, piece in enumerate(pieces)
    )


def _multiply(left: int, right: int) -> int:
    """The product of two polynomials over GF(2), modulo CRC-32's, bits reflected."""
    product = 0
    mask = _HIGHEST
    while left:
        if left & mask:
            product ^= right
            left ^= mask
        mask >>= 1
        right = (right >> 1) ^ _POLYNOMIAL if right & 1 else right >> 1
    return product


def _squares() -> tuple[int, ...]:
    powers = [_HIGHEST >> 1]  # x^1
    for _ in range(63):
        powers.append(_multiply(powers[-1], powers[-1]))
    return tuple(powers)


_SQUARES: Final = _squares()  # x^(2^k)


# The parts of a table stay the same from commit to commit, and so do their sizes.
@functools.lru_cache(maxsize=1 << 16)
def _shift(size: int) -> int:
    """What a CRC is multiplied by when `size` bytes follow: x to the 8 * `size`."""
    power, k = _HIGHEST, 3
    while size:
        if size & 1:
            power = _multiply(_SQUARES[k], power)
        size >>= 1
        k += 1
    return power
