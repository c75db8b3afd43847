"""One small HTTP/1.1 request over loopback, enough to ask a server whether it is ready, or for a token."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's answer; status 0 when there was none."""

    status: int
    body: bytes = field(default=b"", repr=False)


async def request(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b"", seconds: float = 2.0
) -> Reply:
    """Send a request on a connection of its own.

    Args:
        method: GET, PUT and their kind.
        url: `http://host:port/path?query`.
        headers: besides Host, Connection and Content-Length.
        body: what goes with it.
        seconds: for all of it.

    Returns:
        The reply; status 0 when nobody listens, nobody answers in time, or what answers isn't HTTP.
    """
    with contextlib.suppress(OSError, TimeoutError, ValueError, IndexError, asyncio.IncompleteReadError):
        async with asyncio.timeout(seconds):
            return await _exchange(method, url, headers or {}, body)
    return Reply(0)


async def _exchange(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [
        f"{method} {target} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode("ascii") + body)
        await writer.drain()
        head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
        return Reply(int(head.split()[1]), answer)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
