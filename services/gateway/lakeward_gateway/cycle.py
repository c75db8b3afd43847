"""One request and its reply on a connection, with a short way for replies that are whole.

uvicorn's own way sends a reply as two messages, looks at each header with two regular expressions, and makes an event, a lambda
and a few copies for each request. It stays for whatever sends a reply in parts; the gateway's application has each reply whole.
"""

from __future__ import annotations

import asyncio
import http
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from lakeward_gateway.printed import PRINTED

if TYPE_CHECKING:
    from uvicorn.protocols.http.flow_control import FlowControl
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    from lakeward_gateway.http import Header

_STATUS: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in http.HTTPStatus}
_END: Final = b"\r\n"
_CLOSE_AND_END: Final = b"Connection: close\r\n\r\n"


class Replying(Protocol):
    """What a server gives an application as `send` that takes replies whole, too."""

    async def reply(self, status: int, headers: Sequence[Header], body: bytes, lines: bytes = b"") -> None:
        """Send a whole reply.

        Args:
            status: of HTTP.
            headers: names in lower case; with `lines` all that belong to this reply, with the body's length where it has one.
            body: left out where the request was a HEAD.
            lines: further headers, as `lines_of` printed them.
        """
        ...


class Wire(Protocol):
    """Where replies go."""

    def whole(self, head: bytes, body: bytes) -> None:
        """Send a reply's printed head, blank line included, and its body."""


class Cycle(RequestResponseCycle):
    """uvicorn's cycle of one request, made without what most requests never need.

    Args:
        scope: of ASGI.
        connection: which it came by.
        wire: where its reply goes.
        keep_alive: whether the connection goes on after it.
    """

    # what is so when a request begins
    disconnected = False
    more_body = True
    response_started = False
    response_complete = False
    chunked_encoding = None
    expected_content_length = 0

    def __init__(self, scope: Any, connection: HttpToolsProtocol, wire: Wire, *, keep_alive: bool) -> None:  # noqa: ANN401 - uvicorn's own type
        """Not uvicorn's: its arguments are taken from the connection, and its event is made light."""
        self.scope = scope
        self.transport = connection.transport
        self.flow: FlowControl = connection.flow
        self.logger = connection.logger
        self.access_logger = connection.access_logger
        self.access_log = connection.access_log
        self.default_headers = connection.server_state.default_headers
        self.message_event = _Signal()  # type: ignore[assignment]  # what of an event is used here
        self.on_response = connection.on_response_complete
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = connection.expect_100_continue
        self.body = bytearray()
        self._wire = wire

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - uvicorn's own type
        """ASGI's `send`: the cycle itself is given as that, so that an application finds `reply` beside it."""
        await self.send(message)

    async def run(self, app: Any) -> None:  # noqa: ANN401 - an ASGI application
        """Have the application answer; for one that fails or does not, uvicorn's own reply is sent."""
        try:
            await app(self.scope, self.receive, self)
            if self.response_complete or self.disconnected:
                return
            await self._fail(None)
        except Exception as error:  # noqa: BLE001 - the edge: the application answers its own faults, so this is one of this layer
            await self._fail(error)
        except BaseException:
            self.transport.close()
            raise
        finally:
            self.on_response = _nothing  # else the two would keep each other

    async def _fail(self, error: Exception | None) -> None:
        self.logger.error("a reply failed in the server itself", exc_info=error)
        if self.response_started:
            self.transport.close()
        else:
            await self.send_500_response()

    async def reply(self, status: int, headers: Sequence[Header], body: bytes, lines: bytes = b"") -> None:
        """See `Replying`."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        head = (
            (_STATUS.get(status) or b"HTTP/1.1 %d \r\n" % status)
            + lines_of([*self.default_headers, *headers])
            + lines
            + (_END if self.keep_alive else _CLOSE_AND_END)
        )
        self.response_started = True
        self.waiting_for_100_continue = False
        self._wire.whole(head, b"" if self.scope["method"] == "HEAD" else body)
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


def lines_of(headers: Sequence[Header]) -> bytes:
    """Headers as they are printed, a line each; names in lower case.

    Raises:
        ValueError: a value would end its line.
    """
    parts: list[bytes] = []
    for name, value in headers:
        parts += PRINTED[name], value, b"\r\n"
    lines = b"".join(parts)
    count = len(headers)
    if lines.count(b"\n") != count or lines.count(b"\r") != count or b"\0" in lines:
        raise ValueError("a header's value would end its line")
    return lines


def _nothing() -> None:
    """Nobody is to be told any more."""


class _Signal:
    """As much of an `asyncio.Event` as one waiter needs; making one costs a fifth."""

    __slots__ = ("_is_set", "_waiter")

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._is_set = True
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def clear(self) -> None:
        self._is_set = False

    async def wait(self) -> None:
        while not self._is_set:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
