"""Content encodings: what a client takes, what it may send, and how large that may get."""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

from lakeward_servicekit.deflated import Deflated, inflate
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.remembering import remembered

GZIP: Final = (b"content-encoding", b"gzip")
_GZIP_WINDOW: Final = 31
# Below this, the loop is not held up for longer than handing the work to a thread costs.
_THREAD_FROM: Final = 128 * 1024
# A reply shorter than one packet gains nothing from compression.
WORTHWHILE: Final = 1200
_LEVEL: Final = 1
# Real clients send one member. Each further one costs a copy of what follows, so a body of empty ones would cost its square.
_MEMBERS_MAX: Final = 16
# JSON that repeats itself deflates to a thirtieth; what deflates to less than a hundredth was made to.
_RATIO_FROM: Final = 1024 * 1024
_RATIO_MAX: Final = 100


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


async def inflated(part: Deflated) -> bytes:
    """The text of a stored part."""
    return inflate(part) if part.size < _THREAD_FROM else await asyncio.to_thread(inflate, part)


def is_gzip(coding: bytes) -> bool:
    """Whether a body with this Content-Encoding is gzip; else it is as it is.

    Raises:
        Refusal: UNSUPPORTED_MEDIA_TYPE, for another coding.
    """
    name = coding.strip().lower()
    if name in (b"", b"identity"):
        return False
    if name not in (b"gzip", b"x-gzip"):
        shown = coding.decode("latin-1")
        raise Refusal(
            Reason.REASON_UNSUPPORTED_MEDIA_TYPE,
            f"content-encoding is {shown!r}; a body may be gzipped or sent as it is",
            media_type=shown,
        )
    return True


class Inflating:
    """Inflates a gzip body as it arrives, in steps of a bounded size: what a step gives can be counted before the next."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._members = 1
        self._rest = b""
        self._fed = 0
        self._given = 0

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; the steps of those before have been made."""
        self._fed += len(piece)
        self._rest = piece

    def step(self, size: int) -> bytes:
        """What comes next of what was fed; empty where more has to be fed.

        Args:
            size: bytes at most; 64 KiB take 0.2 ms.

        Raises:
            Refusal: MALFORMED_DOCUMENT, for what is not gzip; TOO_LARGE, for what inflates beyond all measure.
        """
        try:
            text = self._next(size)
        except zlib.error as error:
            raise _not_gzip() from error
        self._given += len(text)
        if self._given > _RATIO_FROM and self._given > _RATIO_MAX * self._fed:
            raise Refusal(
                Reason.REASON_TOO_LARGE,
                f"the request body inflates to more than {_RATIO_MAX} times its size, as no document does; send it as it is",
                what="inflated request body",
                limit=str(_RATIO_MAX * self._fed),
            )
        return text

    def _next(self, size: int) -> bytes:
        while self._rest:
            if self._inflater.eof:
                self._members += 1
                if self._members > _MEMBERS_MAX:
                    raise _not_gzip()
                self._inflater = zlib.decompressobj(_GZIP_WINDOW)
            text = self._inflater.decompress(self._rest, size)
            self._rest = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            if text:
                return text
        return b""

    def finish(self) -> None:
        """Say that nothing more comes.

        Raises:
            Refusal: MALFORMED_DOCUMENT, where it breaks off.
        """
        if self._fed and not self._inflater.eof:
            raise _not_gzip()


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
