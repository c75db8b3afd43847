"""One gzip member around a body that is already deflated.

A loaded table's metadata is stored as a raw deflate stream that ends in a full flush and has no final block. What stands before
and after it in a reply differs by request and is short. So the member is: header, stored block, the stream as it is, last stored
block, trailer. The trailer's CRC comes from the three parts' own by arithmetic over GF(2); nothing is inflated or deflated.
Several members in one body would be simpler, and break curl and httpx.
"""

from __future__ import annotations

import functools
import struct
import zlib
from typing import Final

_POLYNOMIAL: Final = 0xEDB88320
_HIGHEST: Final = 1 << 31
_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
_STORED_MAX: Final = 0xFFFF


def gzip_member(before: bytes, raw: bytes, after: bytes, *, crc32: int, size: int) -> bytes:
    """A gzip file of `before`, the text that `raw` inflates to, and `after`.

    Args:
        before: plain bytes.
        raw: deflate stream (RFC 1951) that ends byte-aligned, in a flush, without a final block.
        after: plain bytes.
        crc32: of the text that `raw` inflates to.
        size: bytes of that text.
    """
    checksum = zlib.crc32(after, concatenated_crc(zlib.crc32(before), crc32, size))
    length = (len(before) + size + len(after)) & 0xFFFFFFFF
    return b"".join(
        (_HEADER, _stored(before, last=False), raw, _stored(after, last=True), struct.pack("<II", checksum, length))
    )


def concatenated_crc(first: int, second: int, second_size: int) -> int:
    """The CRC-32 of two texts, one after the other.

    Args:
        first: CRC-32 of the first.
        second: CRC-32 of the second.
        second_size: bytes of the second.
    """
    return _multiply(_shift(second_size), first) ^ second


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


@functools.cache
def _doubled(power: int) -> int:
    """X to the 2^`power`."""
    if power == 0:
        return _HIGHEST >> 1
    half = _doubled(power - 1)
    return _multiply(half, half)


@functools.lru_cache(maxsize=4096)
def _shift(size: int) -> int:
    """What a CRC is multiplied by when `size` bytes follow: x to the 8 * `size`. Sizes repeat, since bodies do."""
    product = _HIGHEST
    power = 3
    while size:
        if size & 1:
            product = _multiply(_doubled(power), product)
        size >>= 1
        power += 1
    return product
