"""One connection: HTTP/1.1 as uvicorn's parser reads it, with bounds, and with refusals in the public envelope.

It overrides parts of uvicorn's protocol that no documentation promises, so the distribution bounds uvicorn's version from above:
a newer one is taken in when tests/integration/gateway has passed with it.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any, Final, cast
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lakeward_gateway.connections import Connections
from lakeward_gateway.cycle import Cycle
from lakeward_gateway.errors import envelope
from lakeward_gateway.http import JSON_TYPE, Receive, Scope, Send, encode
from lakeward_gateway.printed import printed
from lakeward_servicekit.starts import Starts
from lakeward_servicekit.system import request_id

# Longer than the pools of JVM clients keep a connection, so that the client closes first and never writes into a closed one.
_KEEP_ALIVE_SECONDS: Final = 75
_MAX_HEAD_BYTES: Final = 64 * 1024
_MAX_HEADERS: Final = 256
# Requests that wait behind one under way on their connection.
_MAX_PIPELINED: Final = 16
_HEAD_SECONDS: Final = 15.0
_WATCH_SECONDS: Final = 5.0
# For the rest of a body that was refused, or of a connection.
_LEFTOVER_SECONDS: Final = 10.0
_TELLING_SECONDS: Final = 2.0
_HEAD_BEGINS: Final = b"HTTP/1.1 "
_CONTINUE_BEGINS: Final = b"HTTP/1.1 1"
# Beyond this, copying costs more than a second write.
_JOINED_MAX: Final = 64 * 1024
_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
_UNREADABLE: Final = "Invalid HTTP request received."
_UPGRADE: Final = re.compile(rb"(\r?\n)upgrade:", re.IGNORECASE)


class _BeyondBoundsError(Exception):
    """A request's line and headers are larger than any client's are, or too many requests wait."""


class _JoiningTransport:
    """A transport that keeps the head of a reply until its body comes, and sends both at once.

    uvicorn writes them one after the other, and each write is a system call and a packet. Every head passes here, uvicorn's own
    replies and refusals too, so here is where header names are put as they are printed.
    """

    __slots__ = ("_head", "_transport", "_written")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport: Final = transport
        self._head: bytes | None = None
        self._written = 0

    @property
    def unsent(self) -> int:
        """Bytes that wait for the client to take them."""
        return self._transport.get_write_buffer_size()

    @property
    def sent(self) -> int:
        """Bytes that it has taken."""
        return self._written - self.unsent

    def write(self, data: bytes) -> None:
        self._written += len(data)
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

    def whole(self, head: bytes, body: bytes) -> None:
        """Send a reply whose head is printed already."""
        self._written += len(head) + len(body)
        if len(body) <= _JOINED_MAX:
            self._transport.write(head + body if body else head)
            return
        self._transport.write(head)
        self._transport.write(body)

    def flush(self) -> None:
        """Send what is kept: the reply has no body."""
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._head = None
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with bounds on a request's head, and refusals of broken requests in the public envelope.

    The application has `connections`, which says whether there is room for one more, and `starts`: when its requests begin.
    """

    # uvicorn sets and takes back a timer for every request, to end idle connections, which costs a fifth of a load. A look at the
    # connection now and then does as well.
    _head_bytes = 0
    _in_head = True
    _awaits_head = True
    _refused = False
    _since = 0.0
    _sent = 0
    _watch: asyncio.TimerHandle | None = None
    _joining: _JoiningTransport
    was_used = False

    @property
    def _connections(self) -> Connections:
        connections: Connections = cast("Any", self.config.app).connections
        return connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """A client connected."""
        super().connection_made(transport)
        self._joining = _JoiningTransport(transport)
        self.transport = cast("asyncio.Transport", self._joining)
        self._since = self.loop.time()
        why = self._connections.admit(self, self.client[0] if self.client else None)
        if why is None:
            self._watch = self.loop.call_later(_WATCH_SECONDS, self._look)
        elif self._connections.tell():
            self._refused = True
            self.app = cast("Any", _Refusing(why))
            self._watch = self.loop.call_later(_TELLING_SECONDS, self._joining.abort)
        else:
            self._joining.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended, on whichever side."""
        if self._watch is not None:
            self._watch.cancel()
        if self._refused:
            self._connections.told()
        else:
            self._connections.remove(self)
        super().connection_lost(exc)

    @property
    def idle_since(self) -> float | None:
        """When the connection last did something, on the loop's clock; None while a request waits for its answer."""
        cycle: RequestResponseCycle | None = self.cycle
        busy = (cycle is not None and not cycle.response_complete) or self._joining.unsent
        return None if busy else self._since

    def give_way(self) -> None:
        """Close: nothing is under way."""
        self.transport.close()

    def _look(self) -> None:
        """Close a connection that has been idle, or has sent no more than a part of a request, for too long."""
        since = self.idle_since
        sent, self._sent = self._sent, self._joining.sent
        if self._joining.unsent and sent == self._sent:
            self._joining.abort()  # nothing of a reply was taken since the last look
        elif since is not None and self.loop.time() - since > self._allowed():
            self._joining.close()
        else:
            self._watch = self.loop.call_later(_WATCH_SECONDS, self._look)

    def _allowed(self) -> float:
        if self._in_head:
            return _HEAD_SECONDS
        return _KEEP_ALIVE_SECONDS if self._awaits_head else _LEFTOVER_SECONDS

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._awaits_head and (b"pgrade:" in data or b"PGRADE:" in data):
            data = _without_upgrade(data)
        parser = self.parser
        assert parser is not None, "it goes with the connection"
        # as uvicorn does, which looks for a timer that is never set here, and for websockets
        try:
            parser.feed_data(data)
        except httptools.HttpParserError:
            self.logger.warning(_UNREADABLE)
            self.send_400_response(_UNREADABLE)
        except httptools.HttpParserUpgrade:
            self._unsupported_upgrade_warning()

    def on_message_begin(self) -> None:
        """A request begins."""
        if len(self.pipeline) >= _MAX_PIPELINED:
            raise _BeyondBoundsError
        self._head_bytes = 0
        self._in_head = True
        self._since = self.loop.time()
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_headers_complete(self) -> None:
        """A request's head is complete: uvicorn's own steps, without those for what is not served here."""
        self._in_head = False
        self._awaits_head = False
        parser = self.parser
        assert parser is not None, "it is what calls"
        version, path, query = parser.get_http_version(), self.url, b""
        if path.startswith(b"/") and b"#" not in path:
            path, _, query = path.partition(b"?")
        else:  # "http://host/path"
            parsed = httptools.parse_url(path)
            path, query = parsed.path, parsed.query or b""
        before: RequestResponseCycle | None = self.cycle  # uvicorn's type leaves out that there is none at first
        self.cycle = cycle = Cycle(
            {
                "type": "http",
                "asgi": _ASGI,
                "http_version": version,
                "server": self.server,
                "client": self.client,
                "scheme": self.scheme,
                "root_path": "",
                "headers": self.headers,
                "method": parser.get_method().decode("ascii"),
                "path": unquote(path.decode("ascii")) if b"%" in path else path.decode("ascii"),
                "raw_path": path,
                "query_string": query,
            },
            self,
            self._joining,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
        )
        if before is None or before.response_complete:
            self._start_asgi_task(cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 - an ASGI application
        assert isinstance(cycle, Cycle)
        starts: Starts = cast("Any", self.config.app).starts
        if starts.now():
            self._begin(cycle, app)
        else:
            starts.later(partial(self._begin, cycle, app))

    def _begin(self, cycle: Cycle, app: Any) -> None:  # noqa: ANN401 - an ASGI application
        task = self.loop.create_task(cycle.run(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_message_complete(self) -> None:
        """A request's body is complete."""
        self._awaits_head = True
        self.was_used = True
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.more_body = False
            cycle.message_event.set()

    def on_response_complete(self) -> None:
        """A reply was written; the next request may be served."""
        joining, flow = self._joining, self.flow
        joining.flush()
        self.server_state.total_requests += 1
        if joining.is_closing():
            return
        self._since = self.loop.time()
        if flow.read_paused:
            flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def on_url(self, url: bytes) -> None:
        """A part of the request's line came."""
        self._head_bytes += len(url)
        if self._head_bytes > _MAX_HEAD_BYTES:
            raise _BeyondBoundsError
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header came."""
        self._head_bytes += len(name) + len(value)
        headers = self.headers
        if self._head_bytes > _MAX_HEAD_BYTES or len(headers) >= _MAX_HEADERS:
            raise _BeyondBoundsError
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        headers.append((name, value))

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, and close."""
        del msg
        body = encode(
            envelope(
                "the request is not HTTP that can be read, or its head is larger than 64 KiB or has more than 256 headers, or "
                "more than 16 requests wait on this connection",
                type="BadRequestException",
                code=400,
            )
        )
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncache-control: private\r\n"
            b"x-request-id: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (request_id().encode(), len(body), body)
        )
        self.transport.close()


class _Refusing:
    """An application that tells a connection that there is no room for it, and ends it."""

    def __init__(self, why: str) -> None:
        self._why: Final = why

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        body = encode(envelope(self._why, type="TooManyRequestsException", code=429))
        headers = [
            JSON_TYPE,
            (b"cache-control", b"private"),
            (b"retry-after", b"1"),
            (b"x-request-id", request_id().encode()),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 429, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _without_upgrade(data: bytes) -> bytes:
    """The bytes with a head's Upgrade header under a name that nobody heeds.

    Java's client asks for HTTP/2 so, with bodies too. The parser takes whatever follows such a head for another protocol, and
    the body would be lost.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(rb"\1x-grade:", head) + end + rest
