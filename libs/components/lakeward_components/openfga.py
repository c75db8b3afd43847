"""An OpenFGA server of our own, which keeps what it is told in memory."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lakeward_components import binaries, child, folder, ports
from lakeward_components.child import Running
from lakeward_components.environment import Component
from lakeward_components.folder import HeldFolder
from lakeward_components.http import request
from lakeward_components.ports import LOOPBACK

_READY_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 10.0
_HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class OpenFgaServer:
    """A server that answers.

    Attributes:
        url: of its HTTP API.
        api_key: lets one in; "" where nobody is asked.
    """

    url: str
    api_key: str = field(default="", repr=False)
    _server: Running | None = field(default=None, repr=False, compare=False)

    @property
    def pid(self) -> int | None:
        """Of the server; None when it isn't our child."""
        return None if self._server is None else self._server.pid

    async def watch(self) -> None:
        """Return never while our child lives, nor when it isn't ours.

        Raises:
            ComponentFailed: it ended without being told to.
        """
        await (asyncio.Event().wait() if self._server is None else self._server.watch())

    async def stop(self, *, gracefully: bool = True) -> None:
        """End our child, with SIGKILL unless gracefully; nothing when it isn't ours."""
        if self._server is not None:
            await self._server.stop(*((signal.SIGTERM,) if gracefully else ()), seconds=_STOP_SECONDS)


@asynccontextmanager
async def running(path: Path, *, programs: Path | None = None) -> AsyncIterator[OpenFgaServer]:
    """`start`, and `stop` at the end."""
    server = await start(path, programs=programs)
    try:
        yield server
    finally:
        await server.stop()


async def start(path: Path, *, programs: Path | None = None) -> OpenFgaServer:
    """Start the server of a folder. It forgets everything when it ends.

    Args:
        path: the component's own folder.
        programs: folder with `openfga`; None finds it.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.OPENFGA)
    held = await folder.hold(path)
    try:
        return await _start(held, program=programs / "openfga")
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, program: Path) -> OpenFgaServer:
    remembered = held.remembered()
    http, grpc = (ports.take(given=None, last=remembered.get(name)) for name in ("http", "grpc"))
    api_key = str(remembered.get("api_key") or secrets.token_urlsafe(24))
    held.remember({**remembered, "http": http, "grpc": grpc, "api_key": api_key})
    command: list[str | Path] = [
        program,
        "run",
        "--datastore-engine=memory",
        f"--http-addr={LOOPBACK}:{http}",
        f"--grpc-addr={LOOPBACK}:{grpc}",
        "--playground-enabled=false",
        "--metrics-enabled=false",
        "--log-level=warn",
        "--authn-method=preshared",
    ]
    # The key stands in no list of processes.
    environment = {
        "OPENFGA_AUTHN_PRESHARED_KEYS": api_key,
        # Its own three seconds for a batch are little where tests share two cores.
        "OPENFGA_REQUEST_TIMEOUT": "60s",
        "TMPDIR": str(held.path),
        "HOME": str(held.path),
    }
    server = child.spawn("openfga", command, folder=held, environment=environment)
    url = f"http://{LOOPBACK}:{http}"
    try:
        await server.until(lambda: ready(url, api_key=api_key), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=_STOP_SECONDS)
        raise
    return OpenFgaServer(url, api_key, _server=server)


async def ready(url: str, *, api_key: str) -> bool:
    """Whether the server lets this key in."""
    return (await request("GET", f"{url}/stores", headers={"authorization": f"Bearer {api_key}"})).status == _HTTP_OK
