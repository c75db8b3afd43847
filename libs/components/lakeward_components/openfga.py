"""An OpenFGA server of our own, which keeps what it is told in memory, or in a database that it is given."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Collection, Mapping
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
_MIGRATED_SECONDS: Final = 60.0
_HTTP_OK: Final = 200
_HTTP_UNAUTHORIZED: Final = 401
_READY: Final = frozenset({_HTTP_OK})


@dataclass(frozen=True, slots=True)
class OpenFgaServer(Started):
    """A server that answers.

    Attributes:
        url: of its HTTP API.
        api_key: lets one in; "" where nobody is asked.
    """

    url: str
    api_key: str = field(default="", repr=False)


@asynccontextmanager
async def running(path: Path, *, programs: Path | None = None) -> AsyncIterator[OpenFgaServer]:
    """`start`, and `stop` at the end."""
    server = await start(path, programs=programs)
    try:
        yield server
    finally:
        await server.stop()


@dataclass(frozen=True, slots=True)
class Trusted:
    """An OIDC provider whose tokens a server takes, in place of a key.

    Attributes:
        audience: that they must have.
    """

    issuer: str
    audience: str


async def start(
    path: Path, *, programs: Path | None = None, database: str | None = None, trusted: Trusted | None = None
) -> OpenFgaServer:
    """Start the server of a folder.

    Args:
        path: the component's own folder.
        programs: folder with `openfga`; None finds it.
        database: URL of a Postgres database of its own, whose schema is made where it is missing; None: it forgets everything
            when it ends.
        trusted: whose tokens it takes; None: it takes its own key.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.OPENFGA)
    held = await folder.hold(path)
    try:
        return await _start(held, program=programs / "openfga", database=database, trusted=trusted)
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, program: Path, database: str | None, trusted: Trusted | None) -> OpenFgaServer:
    remembered = held.remembered()
    http, grpc = (ports.take(given=None, last=remembered.get(name)) for name in ("http", "grpc"))
    api_key = str(remembered.get("api_key") or secrets.token_urlsafe(24))
    held.remember({**remembered, "http": http, "grpc": grpc, "api_key": api_key})
    engine = "memory" if database is None else "postgres"
    command: list[str | Path] = [
        program,
        "run",
        f"--datastore-engine={engine}",
        f"--http-addr={LOOPBACK}:{http}",
        f"--grpc-addr={LOOPBACK}:{grpc}",
        "--playground-enabled=false",
        "--metrics-enabled=false",
        "--log-level=warn",
    ]
    # Neither the key nor a password stands in a list of processes.
    environment = {
        **_authentication(api_key, trusted),
        # Its own three seconds for a batch are little where tests share two cores.
        "OPENFGA_REQUEST_TIMEOUT": "60s",
        "TMPDIR": str(held.path),
        "HOME": str(held.path),
        **({} if database is None else {"OPENFGA_DATASTORE_URI": database}),
    }
    if database is not None:
        migration = child.spawn(
            "openfga", [program, "migrate", f"--datastore-engine={engine}"], folder=held, environment=environment
        )
        await migration.finish(seconds=_MIGRATED_SECONDS)
    server = child.spawn("openfga", command, folder=held, environment=environment)
    url = f"http://{LOOPBACK}:{http}"
    try:
        answers = _READY if trusted is None else {*_READY, _HTTP_UNAUTHORIZED}
        await server.until(lambda: _says(url, api_key, answers), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=Started.STOP_SECONDS)
        raise
    return OpenFgaServer(url, api_key, _server=server)


def _authentication(api_key: str, trusted: Trusted | None) -> Mapping[str, str]:
    if trusted is None:
        return {"OPENFGA_AUTHN_METHOD": "preshared", "OPENFGA_AUTHN_PRESHARED_KEYS": api_key}
    return {
        "OPENFGA_AUTHN_METHOD": "oidc",
        "OPENFGA_AUTHN_OIDC_ISSUER": trusted.issuer,
        "OPENFGA_AUTHN_OIDC_AUDIENCE": trusted.audience,
    }


async def _says(url: str, api_key: str, answers: Collection[int]) -> bool:
    return (await request("GET", f"{url}/stores", headers={"authorization": f"Bearer {api_key}"})).status in answers


async def ready(url: str, *, api_key: str) -> bool:
    """Whether the server lets this key in."""
    return await _says(url, api_key, _READY)
