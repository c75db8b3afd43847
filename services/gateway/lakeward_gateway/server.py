"""Serves an ASGI application over HTTP, until the block ends; then drains."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import uvicorn

from lakeward_gateway.asgi import Application
from lakeward_gateway.protocol import Protocol

DRAIN_SECONDS: Final = 20
_BACKLOG: Final = 2048
# Files that a process has open beside connections of clients: to its peers, its database, its stores.
_OTHER_FILES: Final = 1024

_log = logging.getLogger(__name__)


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


def _room_for(connections: int) -> int:
    """How many connections the system lets this process have, after its limit of open files was raised as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return connections
    # a quarter more are told that there is no room
    wanted = connections + connections // 4 + _OTHER_FILES
    if soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if raised > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    if soft >= wanted:
        return connections
    room = max((soft - min(_OTHER_FILES, soft // 2)) * 4 // 5, 1)
    _log.warning(
        "the limit of open files leaves room for fewer connections than are allowed",
        extra={"open_files": soft, "connections": room, "allowed": connections},
    )
    return room


@asynccontextmanager
async def serve(application: Application, *, listener: socket.socket) -> AsyncIterator[int]:
    """Serve until the block ends; then take no new connections, and let what is under way finish for 20 s.

    Args:
        application: the gateway.
        listener: bound and listening; closed at the end.

    Yields:
        The port.
    """
    connections = application.connections
    connections.total = min(connections.total, _room_for(connections.total))
    config = uvicorn.Config(
        cast("Any", application),
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
