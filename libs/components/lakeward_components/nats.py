"""A NATS server of our own, with JetStream on files."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from lakeward_components import binaries, child, folder, ports
from lakeward_components.child import Started
from lakeward_components.environment import Component
from lakeward_components.errors import ComponentMisconfigured
from lakeward_components.folder import HeldFolder
from lakeward_components.ports import LOOPBACK

USER: Final = "lakeward"
_READY_SECONDS: Final = 30.0
_GREETING_SECONDS: Final = 2.0
# A bound, not a reservation; but what streams are promised at most counts against it in full, written or not.
_FILE_STORE_BYTES: Final = 256 << 30
_MEMORY_STORE_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class NatsServer(Started):
    """A server that answers; JetStream is on.

    Attributes:
        host: a name or an address.
        port: of the client protocol.
        user: may do everything; empty where the server asks for nobody's name.
        password: of that user.
    """

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """`nats://user:password@host:port`."""
        userinfo = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.user else ""
        return f"nats://{userinfo}{self.host}:{self.port}"


def at(url: str) -> NatsServer:
    """A server that somebody else runs.

    Raises:
        ComponentMisconfigured: not a `nats://user:password@host:port`.
    """
    parts = urlsplit(url)
    if parts.scheme != "nats" or not parts.hostname:
        raise ComponentMisconfigured("a NATS URL reads nats://user:password@host:port")
    return NatsServer(parts.hostname, parts.port or 4222, unquote(parts.username or ""), unquote(parts.password or ""))


@asynccontextmanager
async def running(path: Path, *, port: int | None = None, programs: Path | None = None) -> AsyncIterator[NatsServer]:
    """`start`, and `stop` at the end."""
    server = await start(path, port=port, programs=programs)
    try:
        yield server
    finally:
        await server.stop()


async def start(path: Path, *, port: int | None = None, programs: Path | None = None) -> NatsServer:
    """Start the server of a folder, made on first use; streams of an earlier run are there.

    Streams are synced to disk every two minutes, as NATS does by default: an acknowledged message survives the death
    of the server, not that of the machine.

    Args:
        path: the component's own folder.
        port: of loopback, must be free; None takes the last one, or another when that is taken.
        programs: folder with `nats-server`; None finds it.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.NATS)
    held = await folder.hold(path)
    try:
        return await _start(held, port=port, program=programs / "nats-server")
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, port: int | None, program: Path) -> NatsServer:
    remembered = held.remembered()
    password = str(remembered.get("password") or secrets.token_urlsafe(24))
    chosen = ports.take(given=port, last=remembered.get("port"))
    held.remember({**remembered, "password": password, "port": chosen})
    name = new_name()
    store = held.path / "jetstream"
    store.mkdir(mode=0o700, exist_ok=True)
    configuration = settings(name, listen=f"{LOOPBACK}:{chosen}", password=password, store=str(store))
    file = held.write("nats.conf", json.dumps(configuration, indent=1))
    server = child.spawn("nats-server", [program, "-c", file], folder=held)
    try:
        await server.until(lambda: ready(LOOPBACK, chosen, name=name), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=Started.STOP_SECONDS)
        raise
    return NatsServer(LOOPBACK, chosen, USER, password, _server=server)


def new_name() -> str:
    """A server's name for one start, so that whoever else answers on its port is not taken for it."""
    return f"lakeward-{secrets.token_hex(8)}"


def settings(name: str, *, listen: str, password: str, store: str) -> dict[str, object]:
    """The server's configuration, of whose language JSON is a form.

    Args:
        name: of the server, told to whoever connects.
        listen: `address:port`.
        password: of the one user.
        store: folder of the streams.
    """
    return {
        "server_name": name,
        "listen": listen,
        "jetstream": {"store_dir": store, "max_file_store": _FILE_STORE_BYTES, "max_memory_store": _MEMORY_STORE_BYTES},
        "authorization": {"users": [{"user": USER, "password": password}]},
    }


async def ready(host: str, port: int, *, name: str) -> bool:
    """Whether the server of this name answers there, with JetStream recovered."""
    # The server opens its client port last, when JetStream is there, and greets with INFO and a JSON object.
    with contextlib.suppress(OSError, TimeoutError, ValueError):
        async with asyncio.timeout(_GREETING_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                greeting = json.loads((await reader.readline()).removeprefix(b"INFO "))
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
            return bool(greeting.get("jetstream")) and greeting.get("server_name") == name
    return False
