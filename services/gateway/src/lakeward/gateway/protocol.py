"""One connection: HTTP/1.1 as uvicorn's parser reads it, with bounds, and with refusals in the public envelope.

It overrides parts of uvicorn's protocol that no documentation promises, so the distribution bounds uvicorn's version from above:
a newer one is taken in when tests/integration/gateway has passed with it.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lakeward.gateway.http import encode
from lakeward.gateway.ids import uuid7
from lakeward.gateway.printed import printed

# Longer than the pools of JVM clients keep a connection, so that the client closes first and never writes into a closed one.
_KEEP_ALIVE_SECONDS: Final = 75
_MAX_HEAD_BYTES: Final = 64 * 1024
_HEAD_SECONDS: Final = 30.0
_WATCH_SECONDS: Final = 10.0
_HEAD_BEGINS: Final = b"HTTP/1.1 "
_CONTINUE_BEGINS: Final = b"HTTP/1.1 1"
# Beyond this, copying costs more than a second write.
_JOINED_MAX: Final = 64 * 1024
_UPGRADE: Final = re.compile(rb"(\r?\n)upgrade:", re.IGNORECASE)


class _HeadTooLargeError(Exception):
    """A request's line and headers are larger than any client's are."""


class _JoiningTransport:
    """A transport that keeps the head of a reply until its body comes, and sends both at once.

    uvicorn writes them one after the other, and each write is a system call and a packet. Every head passes here, uvicorn's own
    replies and refusals too, so here is where header names are put as they are printed.
    """

    __slots__ = ("_head", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport: Final = transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        head = self._head
        if head is not None:
            self._head = None
            if len(data) <= _JOINED_MAX:
                self._transport.write(head + data)
                return
            self._transport.write(head)
        elif data.startswith(_HEAD_BEGINS) and not data.startswith(_CONTINUE_BEGINS):
            self._head = printed(data)
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send what is kept: the reply has no body."""
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with bounds on a request's head, and refusals of broken requests in the public envelope."""

    # uvicorn sets and takes back a timer for every request, to end idle connections, which costs a fifth of a load. A look at the
    # connection now and then does as well.
    _head_bytes = 0
    _in_head = True
    _awaits_head = True
    _since = 0.0
    _watch: asyncio.TimerHandle | None = None
    _joining: _JoiningTransport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """A client connected."""
        super().connection_made(transport)
        self._joining = _JoiningTransport(transport)
        self.transport = cast("asyncio.Transport", self._joining)
        self._since = self.loop.time()
        self._watch = self.loop.call_later(_WATCH_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended, on whichever side."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close a connection that has been idle, or has sent no more than half a head, for too long."""
        cycle: RequestResponseCycle | None = self.cycle
        busy = cycle is not None and not cycle.response_complete
        allowed = _HEAD_SECONDS if self._in_head else _KEEP_ALIVE_SECONDS
        if not busy and self.loop.time() - self._since > allowed:
            self.transport.close()
        else:
            self._watch = self.loop.call_later(_WATCH_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._awaits_head and (b"pgrade:" in data or b"PGRADE:" in data):
            data = _without_upgrade(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head_bytes = 0
        self._in_head = True
        self._since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A request's head is complete."""
        self._in_head = False
        self._awaits_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """A request's body is complete."""
        self._awaits_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A reply was written; the next request may be served."""
        self._joining.flush()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self._since = self.loop.time()
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def on_url(self, url: bytes) -> None:
        """A part of the request's line came."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header came."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > _MAX_HEAD_BYTES:
            raise _HeadTooLargeError

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, and close."""
        del msg
        document = {
            "error": {
                "message": "the request is not HTTP that can be read, or its head is larger than 64 KiB",
                "type": "BadRequestException",
                "code": 400,
                "stack": [],
            }
        }
        body = encode(document)
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncache-control: private\r\n"
            b"x-request-id: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (uuid7().encode(), len(body), body)
        )
        self.transport.close()


def _without_upgrade(data: bytes) -> bytes:
    """The bytes with a head's Upgrade header under a name that nobody heeds.

    Java's client asks for HTTP/2 so, with bodies too. The parser takes whatever follows such a head for another protocol, and
    the body would be lost.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(rb"\1x-grade:", head) + end + rest
