"""Reads request bodies, within the limits of one, of one client's, and of all together."""

from __future__ import annotations

import asyncio
import dataclasses
import io
from collections.abc import Mapping
from typing import Final

from lakeward_gateway.callers import Callers
from lakeward_gateway.encoding import Inflating, is_gzip, too_large
from lakeward_gateway.forwarded import Proxies
from lakeward_gateway.http import Message, Receive
from lakeward_gateway.memory import SMALL, BodyMemory, Holding
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.starts import Starts

_LENGTH_DIGITS_MAX: Final = 18
# Bytes that a thread inflates at once.
_LARGE_STEP: Final = 256 * 1024
# Threads that inflate beside the loop; each that is about to do Python's part keeps the loop from doing its own.
_INFLATED_AT_ONCE: Final = 2
# A body whose sender has been waited for longer than this, its bytes counted in, drips.
_GRACE_SECONDS: Final = 5.0
_SLOWEST_BYTES_PER_SECOND: Final = 1024.0
# So many may take that long, in all and of one client, while there is room; further ones have a second, and go faster.
_SLOW_BODIES: Final = 1024
_SLOW_BODIES_OF_ONE: Final = 256
_HURRIED_SECONDS: Final = 1.0
_HURRIED_BYTES_PER_SECOND: Final = 1024.0 * 1024.0


class ClientGone(Exception):  # noqa: N818 - what happened, not whose fault it is
    """The client closed the connection before its request was complete."""


class LateBody(Refusal):
    """A body did not arrive in time."""

    def __init__(self, what: str) -> None:
        """What did not happen, as "arrive within 30 s"."""
        super().__init__(
            Reason.REASON_DEADLINE_EXCEEDED,
            f"the request's body did not {what}; nothing was done, send it again",
        )


@dataclasses.dataclass(slots=True)
class Arriving:
    """A request whose head has been read.

    Attributes:
        headers: by lower-case name.
        context: who says to be calling.
        peer: address of the connection's other end; None where it has none.
        holding: what it holds of the room for bodies.
    """

    headers: Mapping[bytes, bytes]
    context: context_pb2.RequestContext
    peer: str | None
    holding: Holding


class Bodies:
    """Reads bodies. What is left unread after a refusal, the server below reads and drops once the reply is sent.

    Args:
        limit: bytes of one body, as sent and once inflated.
        memory: the room for all of them.
        callers: knows who calls; asked before a body outgrows a few KB.
        proxies: tells clients apart behind them.
        starts: when what takes the loop's time goes on.
    """

    def __init__(self, *, limit: int, memory: BodyMemory, callers: Callers, proxies: Proxies, starts: Starts) -> None:
        """See the class."""
        self._starts: Final = starts
        self._inflating: Final = asyncio.Semaphore(_INFLATED_AT_ONCE)
        self._limit: Final = limit
        self._usual: Final = min(limit, SMALL)
        self._memory: Final = memory
        self._callers: Final = callers
        self._proxies: Final = proxies
        self._slow: Final = _SlowBodies(memory, starts)

    def holding(self) -> Holding:
        """What a request holds of the room for bodies: nothing yet. It is released when the request has its answer."""
        return self._memory.holding()

    async def read(self, receive: Receive, arriving: Arriving) -> bytes:
        """A request's body, inflated. It is held until `arriving.holding` is released.

        Raises:
            Refusal: TOO_LARGE, OVERLOADED, UNSUPPORTED_MEDIA_TYPE, MALFORMED_DOCUMENT, and for a body that outgrows a few KB
                what the catalog says to an unknown caller.
            LateBody: it drips.
            ClientGone: nobody waits for an answer.
        """
        headers = arriving.headers
        _check_media_type(headers)
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > _LENGTH_DIGITS_MAX or int(declared) > self._limit):
            raise too_large(self._limit)
        coding = headers.get(b"content-encoding")
        gzipped = coding is not None and is_gzip(coding)
        message = await receive()
        if not gzipped and message["type"] == "http.request" and not message.get("more_body", False):
            first: bytes = message.get("body", b"")
            if len(first) <= self._usual:
                arriving.holding.take(len(first))
                return first  # the usual request comes in one piece
        return await self._gather(message, receive, arriving, Inflating() if gzipped else None)

    async def _gather(
        self, message: Message, receive: Receive, arriving: Arriving, inflating: Inflating | None
    ) -> bytes:
        """A body in pieces, the first of them in `message`."""
        text = io.BytesIO()
        size = 0
        reading: _Reading | None = None
        try:
            while True:
                piece = _piece_of(message)
                size += len(piece)
                if size > self._limit:
                    raise too_large(self._limit)
                if inflating is None:
                    await self._hold(piece, text, arriving)
                else:
                    inflating.feed(piece)
                    await self._inflate(inflating, text, arriving)
                if not message.get("more_body", False):
                    break
                if reading is None:
                    reading = self._slow.begin(self._client(arriving))
                message = await reading.next(receive, size)
        finally:
            if reading is not None:
                reading.end()
        if inflating is not None:
            inflating.finish()
        return text.getvalue()

    async def _inflate(self, inflating: Inflating, text: io.BytesIO, arriving: Arriving) -> None:
        """All that was fed; what a thread inflates is counted before, since many may wait for what theirs have made."""
        holding = arriving.holding
        while not holding.is_large:
            await self._starts.turn()
            part = inflating.step(SMALL)
            if not part:
                return
            await self._hold(part, text, arriving)
        while True:
            room = min(_LARGE_STEP, self._limit - holding.size)
            holding.take(room)
            async with self._inflating:
                size = await asyncio.to_thread(_inflate_into, text, inflating, room or 1)
            if size > room:
                raise too_large(self._limit)
            holding.give_back(room - size)
            if not size:
                return

    async def _hold(self, part: bytes, text: io.BytesIO, arriving: Arriving) -> None:
        holding = arriving.holding
        size = holding.size + len(part)
        if size > self._limit:
            raise too_large(self._limit)
        if size > SMALL and not holding.is_large:
            await self._callers.vouch(arriving.context)
            holding.enlarge(self._client(arriving))
        holding.take(len(part))
        text.write(part)

    def _client(self, arriving: Arriving) -> str:
        return self._proxies.client_of(arriving.peer, arriving.headers)


class _SlowBodies:
    """Bodies that did not come in one piece, and how long each is waited for."""

    def __init__(self, memory: BodyMemory, starts: Starts) -> None:
        self._memory: Final = memory
        self.starts: Final = starts
        self._count = 0
        self._by_client: Final[dict[str, int]] = {}

    def begin(self, client: str) -> _Reading:
        self._count += 1
        self._by_client[client] = self._by_client.get(client, 0) + 1
        hurried = self._count > _SLOW_BODIES or self._by_client[client] > _SLOW_BODIES_OF_ONE
        return _Reading(self, client, hurried=hurried)

    def end(self, client: str) -> None:
        self._count -= 1
        left = self._by_client[client] - 1
        if left:
            self._by_client[client] = left
        else:
            del self._by_client[client]

    @property
    def scarce(self) -> bool:
        return self._memory.scarce


class _Reading:
    """One body that did not come in one piece."""

    def __init__(self, among: _SlowBodies, client: str, *, hurried: bool) -> None:
        self._among: Final = among
        self._client: Final = client
        self._hurried: Final = hurried
        self._loop: Final = asyncio.get_running_loop()
        self._waited = 0.0  # for the sender; what we took ourselves between its pieces is not its fault

    async def next(self, receive: Receive, size: int) -> Message:
        """What comes next, unless it takes too long after so many bytes."""
        hurried = self._hurried or self._among.scarce
        if hurried:
            allowed = _HURRIED_SECONDS + size / _HURRIED_BYTES_PER_SECOND
        else:
            allowed = _GRACE_SECONDS + size / _SLOWEST_BYTES_PER_SECOND
        began = self._loop.time()
        try:
            async with asyncio.timeout(allowed - self._waited):
                return await receive()
        except TimeoutError:
            await self._among.starts.turn()  # those that came at one moment are late at one moment
            if hurried:
                raise Refusal(
                    Reason.REASON_OVERLOADED,
                    "request bodies that arrive slowly take all places for them, and this one was not complete after "
                    f"{allowed:.0f} s; send it again in one go",
                ) from None
            raise LateBody(f"arrive at {_SLOWEST_BYTES_PER_SECOND:g} bytes a second or more") from None
        finally:
            self._waited += self._loop.time() - began

    def end(self) -> None:
        self._among.end(self._client)


def _inflate_into(text: io.BytesIO, inflating: Inflating, room: int) -> int:
    return text.write(inflating.step(room))


def _piece_of(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientGone
    piece: bytes = message.get("body", b"")
    return piece


def _check_media_type(headers: Mapping[bytes, bytes]) -> None:
    sent = headers.get(b"content-type")
    if sent is None or sent == b"application/json":
        return
    media_type = sent.partition(b";")[0].strip().lower()
    if media_type == b"application/json" or (media_type.startswith(b"application/") and media_type.endswith(b"+json")):
        return
    shown = sent.decode("latin-1")
    raise Refusal(
        Reason.REASON_UNSUPPORTED_MEDIA_TYPE,
        f"content-type is {shown!r}; send application/json",
        media_type=shown,
    )
