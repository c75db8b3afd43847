"""Content encodings: what a client takes, what it may send, and how large that may get."""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

from lakeward.servicekit.errors import Reason, Refusal
from lakeward.servicekit.remembering import remembered

GZIP: Final = (b"content-encoding", b"gzip")
_GZIP_WINDOW: Final = 31
_RAW_WINDOW: Final = -15
# Below this, the loop is not held up for longer than handing the work to a thread costs.
_THREAD_FROM: Final = 128 * 1024
# A reply shorter than one packet gains nothing from compression.
WORTHWHILE: Final = 1200
_LEVEL: Final = 1
# Real clients send one member. Each further one costs a copy of what follows, so a body of empty ones would cost its square.
_MEMBERS_MAX: Final = 16


@remembered(entries=256, longest=128)
def takes_gzip(accept_encoding: bytes) -> bool:
    """Whether an Accept-Encoding header lets a reply be gzipped."""
    accepted: dict[str, bool] = {}
    for entry in accept_encoding.decode("latin-1").lower().split(","):
        coding, *parameters = (part.strip() for part in entry.split(";"))
        weights = (parameter[2:] for parameter in parameters if parameter.startswith("q="))
        accepted[coding] = all(weight.strip("0.") for weight in weights)
    return accepted.get("gzip", accepted.get("x-gzip", accepted.get("*", False)))


async def gzipped(body: bytes) -> bytes:
    """The body as gzip; for bodies of at least `WORTHWHILE` bytes."""
    if len(body) < _THREAD_FROM:
        return _gzip(body)
    return await asyncio.to_thread(_gzip, body)


def _gzip(body: bytes) -> bytes:
    return zlib.compress(body, _LEVEL, _GZIP_WINDOW)


async def inflated(raw: bytes, *, size: int) -> bytes:
    """The text of a raw deflate stream that has no final block.

    Args:
        raw: the stream.
        size: bytes of the text.
    """
    if size < _THREAD_FROM:
        return _inflate_raw(raw, size)
    return await asyncio.to_thread(_inflate_raw, raw, size)


def _inflate_raw(raw: bytes, size: int) -> bytes:
    text = zlib.decompressobj(_RAW_WINDOW).decompress(raw, size + 1)
    assert len(text) == size, "a stored body has another length than it was stored with"
    return text


async def decoded(body: bytes, coding: bytes, *, limit: int) -> bytes:
    """A request's body without its content encoding.

    Args:
        body: as it came.
        coding: the Content-Encoding header.
        limit: bytes that it may have once inflated; nothing beyond them is ever inflated.

    Raises:
        Refusal: UNSUPPORTED_MEDIA_TYPE, for another coding than gzip; TOO_LARGE; MALFORMED_DOCUMENT, for what is not gzip.
    """
    name = coding.strip().lower()
    if name in (b"", b"identity"):
        return body
    if name not in (b"gzip", b"x-gzip"):
        shown = coding.decode("latin-1")
        raise Refusal(
            Reason.REASON_UNSUPPORTED_MEDIA_TYPE,
            f"content-encoding is {shown!r}; a body may be gzipped or sent as it is",
            media_type=shown,
        )
    if len(body) < _THREAD_FROM // 8:
        return _gunzip(body, limit)
    return await asyncio.to_thread(_gunzip, body, limit)


def _gunzip(body: bytes, limit: int) -> bytes:
    pieces: list[bytes] = []
    room = limit
    rest = body
    while rest:
        if len(pieces) == _MEMBERS_MAX:
            raise _not_gzip()
        inflater = zlib.decompressobj(_GZIP_WINDOW)
        try:
            piece = inflater.decompress(rest, room + 1)
        except zlib.error as error:
            raise _not_gzip() from error
        if len(piece) > room:
            raise too_large(limit)
        if not inflater.eof:
            raise _not_gzip()
        pieces.append(piece)
        room -= len(piece)
        rest = inflater.unused_data
    return b"".join(pieces)


def _not_gzip() -> Refusal:
    return Refusal(
        Reason.REASON_MALFORMED_DOCUMENT,
        "the body is said to be gzip and is not, or breaks off, or has too many members; send one gzip member",
        path="",
    )


def too_large(limit: int) -> Refusal:
    """A body beyond the limit."""
    return Refusal(
        Reason.REASON_TOO_LARGE,
        f"the request body is larger than {limit} bytes; send less, or split the request",
        what="request body",
        limit=str(limit),
    )
