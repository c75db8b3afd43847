"""`lakeward serve --workers N`: the parent binds, and hands the listener to children that host everything.

The parent serves nothing. A child that ends by itself is started again after a pause; when the parent is told to stop it
tells the children and waits; when it is killed they die with it.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping
from typing import Final

from lakeward_components.child import SELF, launched
from lakeward_gateway.server import bound_socket
from lakeward_gateway.settings import PublicSettings
from lakeward_servicekit.process import loaded, told_to_stop

_log = logging.getLogger(__name__)
_RESTART_SECONDS: Final = 1.0


async def serve_many(workers: int, environ: Mapping[str, str]) -> None:
    """Serve with `workers` processes until told to stop."""
    settings = loaded(PublicSettings, environ)
    listener = bound_socket(settings.bind_ip, settings.listen_port)
    listener.set_inheritable(True)
    stopping = asyncio.Event()
    children = [
        asyncio.create_task(_keep_running(index, listener.fileno(), environ, stopping)) for index in range(workers)
    ]
    try:
        await told_to_stop()
    finally:
        stopping.set()
        await asyncio.gather(*children)
        listener.close()


async def _keep_running(index: int, fd: int, environ: Mapping[str, str], stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        child = await asyncio.create_subprocess_exec(*_command(fd, index), pass_fds=(fd,), env=dict(environ))
        _log.info("started a worker", extra={"worker": index, "pid": child.pid})
        ended, told = asyncio.create_task(child.wait()), asyncio.create_task(stopping.wait())
        await asyncio.wait([ended, told], return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if ended.done():
            _log.error("a worker ended by itself", extra={"worker": index, "status": child.returncode})
            await asyncio.wait([asyncio.ensure_future(stopping.wait())], timeout=_RESTART_SECONDS)
            continue
        child.send_signal(signal.SIGTERM)
        await ended


def _command(fd: int, index: int) -> list[str]:
    serve = [sys.executable, "-m", "lakeward_cli", "serve", "--fd", str(fd), "--worker", str(index)]
    return launched(serve, death_signal=signal.SIGTERM, identity=SELF)
