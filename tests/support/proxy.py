"""A TCP proxy that fails on demand: before Postgres, NATS, or an object store.

async with proxy(host, port) as line:
    url = line.instead_of(server_url)
    line.cut_next(after=17, direction=TO_CLIENT)   # the next connection ends after 17 bytes of the reply
    line.pause() ... line.resume()                 # bytes wait; nobody is told
    await line.refuse() ... await line.accept()    # nobody listens: connection refused
    line.cut_all()                                 # every open connection, now
    line.overhear = heard                          # told of what passes
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
import struct
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from lakeward_components.ports import take

_CHUNK = 1 << 16
_CLOSE_SECONDS = 5


class Direction(enum.Enum):
    TO_SERVER = "to_server"
    TO_CLIENT = "to_client"


TO_SERVER, TO_CLIENT = Direction.TO_SERVER, Direction.TO_CLIENT


@dataclass(frozen=True, slots=True)
class Cut:
    """When a connection ends.

    Attributes:
        after: bytes that still pass in the direction; the next one does not. With 0, none does.
        direction: the one that is counted.
        abruptly: with a reset; otherwise with a close, as if the other side had ended in order.
    """

    after: int
    direction: Direction
    abruptly: bool = True


# Told the number of a connection, from 1, a direction, and what is about to pass in it.
Overhear = Callable[[int, Direction, bytes], None]


class Line:
    """One proxy. Its address stays the same through `refuse` and `accept`."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.host = "127.0.0.1"
        self.port = 0
        self.connections = 0
        self.passed: Counter[Direction] = Counter()
        self.overhear: Overhear | None = None
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._next: deque[Cut | None] = deque()
        self._each: Cut | None = None
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def open_now(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def instead_of(self, url: str) -> str:
        """The URL with our address in place of the server's; userinfo, path and query stay."""
        parts = urlsplit(url)
        userinfo, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{userinfo}{at}{self.host}:{self.port}"))

    def cut_next(self, *, after: int, direction: Direction, abruptly: bool = True, skip: int = 0) -> None:
        """Cut the next new connection once, after `skip` others that pass whole."""
        self._next.extend([None] * skip)
        self._next.append(Cut(after, direction, abruptly))

    def cut_each(self, cut: Cut | None) -> None:
        """Cut every new connection so; None stops that."""
        self._each = cut

    def cut_all(self, *, abruptly: bool = True) -> None:
        """Cut all open connections, now."""
        for connection in list(self._open):
            connection.cut(abruptly=abruptly)

    def pause(self) -> None:
        """Let nothing pass in either direction, and keep connections open."""
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    async def accept(self) -> None:
        """Listen; again a no-op."""
        if self._server is None:
            # Leased, so that it is still there for us after a while of refusing.
            self.port = self.port or take(given=None, last=None)
            self._server = await asyncio.start_server(self._serve, self.host, self.port, reuse_address=True)

    async def refuse(self, *, cut: bool = True) -> None:
        """Stop listening, and cut what is open unless told otherwise."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if cut:
            self.cut_all()

    async def close(self) -> None:
        await self.refuse()
        tasks = list(self._tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)  # what was cut ends by itself
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        number = self.connections
        cut = self._next.popleft() if self._next else self._each
        try:
            upstream = await asyncio.open_connection(*self._upstream)
        except OSError:
            _end(writer, abruptly=True)
            return
        except asyncio.CancelledError:  # the line is closed, and nobody else knows of this one yet
            _end(writer, abruptly=True)
            raise
        connection = _Connection(self, number, cut, (reader, writer), upstream)
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)

    async def flowing(self) -> None:
        await self._flowing.wait()


class _Connection:
    def __init__(
        self,
        line: Line,
        number: int,
        cut: Cut | None,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._line = line
        self._number = number
        self._cut = cut
        self._client = client
        self._server = server
        self._left = {cut.direction: cut.after} if cut is not None else {}
        self._ended = asyncio.Event()

    async def run(self) -> None:
        passing = asyncio.create_task(self._pass_both())
        ended = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait([passing, ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            passing.cancel()
            ended.cancel()
            await asyncio.gather(passing, ended, return_exceptions=True)
            self.cut(abruptly=False)

    async def _pass_both(self) -> None:
        await asyncio.gather(
            self._pump(self._client[0], self._server[1], TO_SERVER),
            self._pump(self._server[0], self._client[1], TO_CLIENT),
        )

    def cut(self, *, abruptly: bool) -> None:
        for _, writer in (self._client, self._server):
            _end(writer, abruptly=abruptly)
        self._ended.set()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction) -> None:
        try:
            await self._pass(reader, writer, direction)
        except OSError:
            self.cut(abruptly=True)  # one side broke it off, so the other learns that too

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction) -> None:
        while data := await reader.read(_CHUNK):
            await self._line.flowing()
            left = self._left.get(direction)
            passing = data if left is None else data[:left]
            if self._line.overhear is not None:
                self._line.overhear(self._number, direction, passing)
            writer.write(passing)
            await writer.drain()
            self._line.passed[direction] += len(passing)
            if left is not None:
                self._left[direction] = left - len(passing)
                if len(passing) < len(data):
                    assert self._cut is not None
                    self.cut(abruptly=self._cut.abruptly)
                    return
        await self._line.flowing()
        with contextlib.suppress(OSError):
            writer.write_eof()  # a half-closed connection still carries the other half


def _end(writer: asyncio.StreamWriter, *, abruptly: bool) -> None:
    connection: socket.socket | None = writer.get_extra_info("socket")
    if abruptly and connection is not None and not writer.is_closing():
        # No lingering: the kernel drops what is unsent and resets.
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()


@asynccontextmanager
async def proxy(host: str, port: int) -> AsyncIterator[Line]:
    """A proxy before the server at host and port, on a free port of loopback."""
    line = Line((host, port))
    await line.accept()
    try:
        yield line
    finally:
        await line.close()
