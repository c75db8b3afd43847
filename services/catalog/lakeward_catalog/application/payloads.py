"""JSON that a caller sent and nobody has read yet.

A caller may be a stranger, over gRPC as well as over HTTP. So a use case gets what came as it came, finds and decides first, and
only then has it read. What is large is read beside the event loop, which meanwhile serves others. Of a small document its name
is looked up before: who looks for what has the name finds the namespace in the same statement.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, read
from lakeward_servicekit.errors import Reason, Refusal

T = TypeVar("T")

MAX_BYTES: Final = 32 * 1024 * 1024  # the most that LAKEKEEPER__MAX_REQUEST_BODY_SIZE lets through the gateway
_LARGE: Final = 32 * 1024  # up to some milliseconds of work; a change of threads costs a tenth of one
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class _Named(msgspec.Struct):
    name: str = ""


class Payload:
    """A document as it came.

    Attributes:
        raw: its bytes.
    """

    __slots__ = ("_digest", "raw")

    def __init__(self, raw: bytes) -> None:
        """Take a document; nothing in it is looked at.

        Raises:
            Refusal: TOO_LARGE.
        """
        if len(raw) > MAX_BYTES:
            raise Refusal(
                Reason.REASON_TOO_LARGE,
                f"the document has {len(raw)} bytes; at most {MAX_BYTES} are taken",
                what="document",
                limit=str(MAX_BYTES),
            )
        self.raw: Final = raw
        self._digest: bytes | None = None

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def name(self) -> str:
        """Its `name`, from a look over a small document that makes a value of nothing else; "" where that tells none."""
        if len(self.raw) > _LARGE:
            return ""
        try:
            return msgspec.json.decode(self.raw, type=_Named).name
        except (
            msgspec.DecodeError,
            UnicodeDecodeError,
            RecursionError,
        ):  # reading it all tells the caller what is wrong
            return ""

    async def read(self, parse: Callable[[bytes], T]) -> T:
        """What it says. To be asked once the caller's right to have it read is known.

        Raises:
            Refusal: what `parse` raises.
        """
        return await beside(len(self.raw), partial(parse, self.raw))

    async def digest(self) -> bytes:
        """SHA-256 over the document with the members of every object in one order and no spaces.

        What is not JSON, or holds more than is ever read, will be refused, and is its own form until then.
        """
        if self._digest is None:
            self._digest = await beside(len(self), lambda: hashlib.sha256(_canonical(self.raw)).digest())
        return self._digest


async def beside(size: int, work: Callable[[], T]) -> T:
    """Do what takes time in proportion to so many bytes: for many in a thread, so that the event loop goes on."""
    return work() if size <= _LARGE else await asyncio.to_thread(work)


def _canonical(raw: bytes) -> bytes:
    if not raw:
        return b""
    try:
        return _ENCODER.encode(read(raw))
    except Invalid:
        return raw
