"""HTTP/1.1 connections on the event loop: one exchange at a time, nothing followed, nothing guessed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, cast

import httptools

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

CONNECT_SECONDS: Final = 5.0
_MAX_HEADER_BYTES: Final = 64 * 1024


class BadReply(ConnectionError):  # noqa: N818 - it says what the reply is
    """A reply that is not HTTP, was cut short, or is larger than was asked for."""


class TooLarge(BadReply):
    """A reply whose body is over the limit.

    Attributes:
        size: what the server announced; None where it announced nothing.
    """

    def __init__(self, limit: int, size: int | None) -> None:
        """Refuse a body over `limit` bytes."""
        super().__init__(f"the reply is over {limit} bytes")
        self.size: Final = size


class Connection(asyncio.Protocol):
    """One connection. `open_connection` makes it; who takes it from a pool asks `usable` first."""

    def __init__(self) -> None:
        """Wait to be connected."""
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._reply: asyncio.Future[tuple[int, bytes]] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._body = bytearray()
        self._limit = 0
        self._header_bytes = 0
        self._received = 0
        self._reusable = True

    @property
    def usable(self) -> bool:
        """Whether another exchange may begin."""
        return self._reusable and self._transport is not None and not self._transport.is_closing()

    async def exchange(self, head: bytes, body: bytes, *, limit: int, seconds: float) -> tuple[int, bytes]:
        """Send one request and take its reply.

        Args:
            head: request line and headers, with the empty line that ends them.
            body: may be empty.
            limit: most bytes of the reply's body.
            seconds: for all of it.

        Raises:
            OSError: the connection failed; `BadReply` among them.
            TimeoutError: no whole reply in time.
        """
        assert self._transport is not None
        assert self._reply is None
        self._parser = httptools.HttpResponseParser(self)
        self._body, self._limit, self._header_bytes, self._received = bytearray(), limit, 0, 0
        loop = asyncio.get_running_loop()
        self._reply = loop.create_future()
        # `asyncio.timeout` costs as much as writing the request.
        late = loop.call_later(seconds, self._fail, TimeoutError(f"no reply within {seconds:g} s"))
        try:
            self._transport.write(head + body if len(body) < _MAX_HEADER_BYTES else head)
            if len(body) >= _MAX_HEADER_BYTES:
                await self._writable.wait()
                self._transport.write(body)
            return await self._reply
        except BaseException:
            self.close()  # half a reply may be on its way
            raise
        finally:
            late.cancel()
            self._reply = None

    def close(self) -> None:
        """Drop the connection."""
        self._reusable = False
        if self._transport is not None:
            self._transport.abort()

    # ---- asyncio's side ----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: connected."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes of a reply."""
        if self._reply is None or self._reply.done():
            self.close()  # nobody asked
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            inner = error.__context__
            self._fail(inner if isinstance(inner, BadReply) else BadReply("the reply is not HTTP"))
            return
        # What is no body: a head that does not end, interim replies without end, chunks of nothing but framing. The parser
        # keeps what it has of a header or a reason, and tells of neither before its end.
        if self._received - len(self._body) > _MAX_HEADER_BYTES + len(self._body):
            self._fail(BadReply(f"the reply has over {_MAX_HEADER_BYTES} bytes that are no body"))

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: gone."""
        self._reusable = False
        self._writable.set()
        self._fail(
            exc if isinstance(exc, OSError) else ConnectionResetError("the connection was closed before a reply")
        )

    def pause_writing(self) -> None:
        """asyncio: the peer is slow."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """asyncio: the peer caught up."""
        self._writable.set()

    # ---- the parser's side -------------------------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        """httptools: one header."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _MAX_HEADER_BYTES:
            raise BadReply(f"the reply's headers are over {_MAX_HEADER_BYTES} bytes")
        if name.lower() == b"content-length" and value.strip().isdigit() and int(value) > self._limit:
            raise TooLarge(self._limit, int(value))

    def on_body(self, body: bytes) -> None:
        """httptools: a part of the body."""
        if len(self._body) + len(body) > self._limit:
            raise TooLarge(self._limit, None)
        self._body += body

    def on_message_complete(self) -> None:
        """httptools: the reply is whole."""
        status = self._parser.get_status_code()
        if status < 200:  # noqa: PLR2004 - an interim reply; the final one follows
            return
        if not self._parser.should_keep_alive():
            self._reusable = False
        if self._reply is not None and not self._reply.done():
            self._reply.set_result((status, bytes(self._body)))

    def _fail(self, error: BaseException) -> None:
        self._reusable = False
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
        if self._transport is not None:
            self._transport.abort()


async def open_connection(address: str, port: int, *, tls: ssl.SSLContext | None, host: str) -> Connection:
    """Connect to an address; with `tls`, to a server whose certificate is for `host`.

    Raises:
        OSError: it can't be reached, or the certificate is not accepted.
        TimeoutError: not within `CONNECT_SECONDS`.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_SECONDS):
        _, connection = await loop.create_connection(
            Connection, address, port, ssl=tls, server_hostname=host if tls is not None else None
        )
    return connection


def head_of(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    """Request line and headers.

    Raises:
        ValueError: one of them holds a line break, which would make it two.
    """
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a line break in a request's head")
    return "\r\n".join((*lines, "", "")).encode("latin-1")
