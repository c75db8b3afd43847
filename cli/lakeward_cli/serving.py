"""`lakeward serve`: all services in one process."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version

from lakeward_cli.composing import one_process
from lakeward_cli.settings import EverySetting
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_servicekit.observing import observed
from lakeward_servicekit.process import loaded, told_to_stop

_log = logging.getLogger(__name__)


async def serve_all(environ: Mapping[str, str], *, fd: int | None = None, worker: int = 0) -> None:
    """Host all services in this process until told to stop.

    Args:
        environ: settings.
        fd: a listener that was handed over; None: this process listens by itself.
        worker: which of several processes that share a listener this is, from 0.
    """
    settings = loaded(EverySetting, environ)
    server = settings.gateway.server
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            observed(settings.observability, service="all", version=version("lakeward-server"), worker=worker)
        )
        composition = await stack.enter_async_context(one_process(settings))
        listener = bound_socket(server.bind_ip, server.listen_port) if fd is None else socket.socket(fileno=fd)
        port = await stack.enter_async_context(serve_http(composition.application, listener=listener))
        _log.info("serving", extra={"bind_ip": server.bind_ip, "port": port})
        await told_to_stop()
