"""Serves an ASGI application over HTTP, until the block ends; then drains."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import uvicorn

from lakeward.gateway.protocol import Protocol

DRAIN_SECONDS: Final = 20
_BACKLOG: Final = 2048


class _Server(uvicorn.Server):
    """A server that leaves signals to the process that runs it, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one, and "::" takes IPv4 too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    except OSError:
        listener.close()
        raise
    return listener


@asynccontextmanager
async def serve(application: Any, *, listener: socket.socket) -> AsyncIterator[int]:  # noqa: ANN401 - any ASGI application
    """Serve until the block ends; then take no new connections, and let what is under way finish for 20 s.

    Args:
        application: of ASGI.
        listener: bound and listening; closed at the end.

    Yields:
        The port.
    """
    config = uvicorn.Config(
        application,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        backlog=_BACKLOG,
    )
    server = _Server(config)
    port: int = listener.getsockname()[1]
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        listens = asyncio.create_task(server.listens.wait())
        await asyncio.wait({serving, listens}, return_when=asyncio.FIRST_COMPLETED)
        listens.cancel()
        if serving.done():
            serving.result()
        yield port
    finally:
        server.should_exit = True
        await serving
        listener.close()
