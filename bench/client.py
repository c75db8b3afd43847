"""A small HTTP/1.1 client that keeps its connection: it must cost little, because it shares the machine with the server."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import msgspec

_BODILESS: Final = frozenset({204, 304})
_LARGEST_HEAD: Final = 64 * 1024
_BUFFER: Final = 1 << 20


class BadReplyError(Exception):
    """A reply of another kind than was asked for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, its body as it came over the wire.

    Attributes:
        headers: by lower-case name.
    """

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> bytes:
        """Inflated."""
        return gzip.decompress(self.raw) if self.headers.get("content-encoding") == "gzip" else self.raw

    def json(self) -> Any:  # noqa: ANN401 - whatever the document is
        """The document."""
        return msgspec.json.decode(self.body)

    def expect(self, *statuses: int) -> Reply:
        """This reply, where its status is one of these.

        Raises:
            BadReplyError: it is another; with what the server said.
        """
        if self.status not in statuses:
            raise BadReplyError(f"the server answered {self.status}: {self.body[:500].decode(errors='replace')}")
        return self


class Connection:
    """One connection, one request at a time.

    async with Connection("http://127.0.0.1:8181") as connection:
        reply = await connection.get("/health")
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None) -> None:
        where = urlsplit(url)
        self._host: Final = where.hostname or "127.0.0.1"
        self._port: Final = where.port or 80
        every = {"host": f"{self._host}:{self._port}", "accept-encoding": "gzip", **(headers or {})}
        self._headers: Final = every
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        await self._connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=_BUFFER)
        return self._reader, self._writer

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        return await self.request("GET", path, headers=headers)

    async def post(self, path: str, document: object, headers: Mapping[str, str] | None = None) -> Reply:
        return await self.request("POST", path, body=msgspec.json.encode(document), headers=headers)

    async def request(
        self, method: str, path: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Send a request and read its reply to the last byte."""
        reader, writer = (self._reader, self._writer) if self._reader and self._writer else await self._connect()
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in {**self._headers, **(headers or {})}.items()]
        if body or method == "POST":
            lines += ["content-type: application/json", f"content-length: {len(body)}"]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ", 2)[1])
        received = dict(_header(line) for line in head[1:] if line)
        raw = b""
        if status not in _BODILESS:
            raw = await reader.readexactly(int(received["content-length"]))
        if received.get("connection", "").lower() == "close":
            writer.close()
            self._reader = self._writer = None
        return Reply(status, received, raw)


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()
