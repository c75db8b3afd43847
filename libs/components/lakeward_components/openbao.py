"""An OpenBao server of our own, unsealed, which keeps what it is told in memory."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lakeward_components import binaries, child, folder, ports
from lakeward_components.child import Started
from lakeward_components.environment import Component
from lakeward_components.folder import HeldFolder
from lakeward_components.http import request
from lakeward_components.ports import LOOPBACK

_READY_SECONDS: Final = 30.0
_HTTP_OK: Final = 200
_CA_NAME: Final = "vault-ca.pem"


@dataclass(frozen=True, slots=True)
class OpenBaoServer(Started):
    """A server that answers.

    Attributes:
        url: of its API.
        token: may do everything.
        ca_file: PEM that its certificate is verified with; None where it speaks cleartext.
    """

    url: str
    token: str = field(repr=False)
    ca_file: Path | None = None


@asynccontextmanager
async def running(path: Path, *, programs: Path | None = None, tls: bool = False) -> AsyncIterator[OpenBaoServer]:
    """`start`, and `stop` at the end."""
    server = await start(path, programs=programs, tls=tls)
    try:
        yield server
    finally:
        await server.stop()


async def start(path: Path, *, programs: Path | None = None, tls: bool = False) -> OpenBaoServer:
    """Start the server of a folder. It forgets everything when it ends.

    Args:
        path: the component's own folder.
        programs: folder with `bao`; None finds it.
        tls: whether it speaks TLS alone, with a certificate of its own making.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.OPENBAO)
    held = await folder.hold(path)
    try:
        return await _start(held, program=programs / "bao", tls=tls)
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, program: Path, tls: bool) -> OpenBaoServer:
    remembered = held.remembered()
    # it takes the port above its own for other nodes
    port = ports.take(given=None, last=remembered.get("port"), twin_offset=1)
    token = str(remembered.get("token") or secrets.token_urlsafe(24))
    held.remember({**remembered, "port": port, "token": token})
    command: list[str | Path] = [
        program,
        "server",
        "-dev-tls" if tls else "-dev",
        f"-dev-listen-address={LOOPBACK}:{port}",
        "-dev-no-store-token",
        "-log-level=warn",
        *([f"-dev-tls-cert-dir={held.path}"] if tls else []),
    ]
    # The token stands in no list of processes.
    environment = {"BAO_DEV_ROOT_TOKEN_ID": token, "TMPDIR": str(held.path), "HOME": str(held.path)}
    server = child.spawn("openbao", command, folder=held, environment=environment)
    url = f"{'https' if tls else 'http'}://{LOOPBACK}:{port}"
    try:
        await server.until(lambda: _ready(port, tls=tls), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=Started.STOP_SECONDS)
        raise
    return OpenBaoServer(url, token, held.path / _CA_NAME if tls else None, _server=server)


async def _ready(port: int, *, tls: bool) -> bool:
    """Whether it is unsealed; of one that speaks TLS, whether it listens, which it does once it is."""
    if tls:
        return not ports.is_free(port)
    return (await request("GET", f"http://{LOOPBACK}:{port}/v1/sys/health")).status == _HTTP_OK
