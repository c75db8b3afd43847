"""What a client and an HTTP server said to each other, byte for byte as it was on the wire.

with overheard(lakeward.url) as (url, exchanges):
    ...                                     # a client speaks to url
    exchanges.of("GET", ending="/tables/t") # what it asked, and what it was told
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.support.proxy import TO_SERVER, Direction, Line, proxy

_START_SECONDS = 30
_CONTINUE = re.compile(rb"HTTP/1\.1 100 [^\r]*\r\n(?:[^\r]+\r\n)*\r\n")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply.

    Attributes:
        method: of the request.
        path: its target without the query.
        asked: the request's headers, by lower-case name.
        status: of the reply.
        told: the reply's headers, by their names as they were written.
    """

    method: str
    path: str
    asked: Mapping[str, str]
    status: int
    told: Mapping[str, str]


class Exchanges:
    """Listens to a proxy.

    For clients that wait for each reply before they ask again on the connection: then what is sent after a reply begins a
    request, unless all that the reply said was to continue.
    """

    def __init__(self) -> None:
        self._heard: list[tuple[bytearray, bytearray]] = []
        self._current: dict[int, tuple[bytearray, bytearray]] = {}

    def __call__(self, connection: int, direction: Direction, data: bytes) -> None:
        """See `Line.overhear`."""
        current = self._current.get(connection)
        if direction is TO_SERVER:
            if current is not None and _CONTINUE.fullmatch(current[1]):
                current[1].clear()
            if current is None or current[1]:
                current = self._current[connection] = (bytearray(), bytearray())
                self._heard.append(current)
            current[0].extend(data)
        elif current is not None:
            current[1].extend(data)

    def of(self, method: str, *, ending: str) -> Sequence[Exchange]:
        """Those of a method whose paths end so, in order of their beginning."""
        every = [_read(asked, told) for asked, told in list(self._heard) if told]
        return [each for each in every if each.method == method and each.path.endswith(ending)]


def _read(asked: bytearray, told: bytearray) -> Exchange:
    request, asked_headers = _head(asked)
    reply, told_headers = _head(told)
    method, target, _ = request.split(" ")
    return Exchange(
        method=method,
        path=target.partition("?")[0],
        asked={name.lower(): value for name, value in asked_headers.items()},
        status=int(reply.split(" ")[1]),
        told=told_headers,
    )


def _head(message: bytearray) -> tuple[str, Mapping[str, str]]:
    first, *lines = message.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    return first, {name: value.strip() for name, _, value in fields}


@contextmanager
def overheard(url: str) -> Iterator[tuple[str, Exchanges]]:
    """A proxy before a server, on a thread of its own, and what passes it.

    Args:
        url: of the server, as clients are given it.

    Yields:
        The URL by way of the proxy, and what was said so far.
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    exchanges, ready, lines = Exchanges(), threading.Event(), list[Line]()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()
    host, port = parts.hostname, parts.port

    async def serve() -> None:
        async with proxy(host, port) as line:
            line.overhear = exchanges
            lines.append(line)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(_START_SECONDS), "the proxy does not listen"
        yield lines[0].instead_of(url), exchanges
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
