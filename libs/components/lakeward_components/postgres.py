"""A Postgres of our own: durable, small and quiet.

Settings reach the server on its command line, so each start brings those of this version and of its port; the
configuration in the data folder stays as initdb made it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import quote, unquote, urlsplit

from lakeward_components import binaries, child, folder, identity, ports
from lakeward_components.child import Started
from lakeward_components.environment import Component
from lakeward_components.errors import ComponentMisconfigured
from lakeward_components.folder import HeldFolder
from lakeward_components.ports import LOOPBACK

USER: Final = "postgres"
_DATABASE: Final = "postgres"
_READY_SECONDS: Final = 60.0  # crash recovery may have much log to read
_INITDB_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 20.0
_SOCKET_PATH_BYTES: Final = 107  # sun_path of unix(7), without its closing zero

SMALL: Final[Mapping[str, str]] = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "max_wal_size": "512MB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "logging_collector": "off",
    "cluster_name": "lakeward",
}
"""Settings unless the caller says otherwise: a commit that was acknowledged survives a crash of the machine."""


@dataclass(frozen=True, slots=True)
class PostgresServer(Started):
    """A server that answers.

    Attributes:
        host: a name or an address.
        port: over TCP.
        user: may create databases.
        password: of that user.
        database: where `url` leads.
        socket_folder: of the Unix socket; None when there is none that we know of.
        programs: folder of psql, pgbench and their kind; None when there are none that we know of.
    """

    GENTLY: ClassVar[tuple[signal.Signals, ...]] = (
        signal.SIGINT,
        signal.SIGQUIT,
    )  # cuts the sessions, writes a checkpoint
    AT_ONCE: ClassVar[tuple[signal.Signals, ...]] = (signal.SIGQUIT,)
    STOP_SECONDS: ClassVar[float] = _STOP_SECONDS

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str = _DATABASE
    socket_folder: Path | None = None
    programs: Path | None = None

    @property
    def url(self) -> str:
        """`postgresql://user:password@host:port/database`, over TCP."""
        return self.url_of(self.database)

    def url_of(self, database: str) -> str:
        """The URL of another database of the server, over TCP."""
        return f"postgresql://{self._userinfo}@{self.host}:{self.port}/{quote(database, safe='')}"

    def socket_url_of(self, database: str) -> str | None:
        """The URL of a database over the Unix socket; None when there is no socket."""
        if self.socket_folder is None:
            return None
        where = quote(str(self.socket_folder), safe="/")
        return f"postgresql://{self._userinfo}@/{quote(database, safe='')}?host={where}&port={self.port}"

    @property
    def _userinfo(self) -> str:
        return f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"


def at(url: str) -> PostgresServer:
    """A server that somebody else runs.

    Raises:
        ComponentMisconfigured: not a `postgresql://user:password@host:port/database`.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgresql", "postgres"} or not parts.hostname or not parts.username:
        raise ComponentMisconfigured("a Postgres URL reads postgresql://user:password@host:port/database")
    return PostgresServer(
        host=parts.hostname,
        port=parts.port or 5432,
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
        database=unquote(parts.path.removeprefix("/")) or _DATABASE,
    )


@asynccontextmanager
async def running(
    path: Path, *, port: int | None = None, settings: Mapping[str, str] | None = None, programs: Path | None = None
) -> AsyncIterator[PostgresServer]:
    """`start`, and `stop` at the end."""
    server = await start(path, port=port, settings=settings, programs=programs)
    try:
        yield server
    finally:
        await server.stop()


async def start(
    path: Path, *, port: int | None = None, settings: Mapping[str, str] | None = None, programs: Path | None = None
) -> PostgresServer:
    """Start the server of a folder, made on first use; an earlier parent's crash is recovered from.

    Args:
        path: the component's own folder.
        port: of loopback, must be free; None takes the last one, or another when that is taken.
        settings: of the server, over those of `SMALL`.
        programs: folder with `initdb` and `postgres`; None finds them.

    Raises:
        ComponentUnavailable: no programs.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.POSTGRES)
    held = await folder.hold(path)
    try:
        return await _start(held, port=port, settings={**SMALL, **(settings or {})}, programs=programs)
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, port: int | None, settings: Mapping[str, str], programs: Path) -> PostgresServer:
    remembered = held.remembered()
    password = str(remembered.get("password") or secrets.token_urlsafe(24))
    chosen = ports.take(given=port, last=remembered.get("port"))
    held.remember({**remembered, "password": password, "port": chosen})
    data = held.path / "data"
    run_as = identity.for_folder(held.path, data=data)
    if not data.exists():
        synced = settings["fsync"] == "on"
        await _initialise(held, data=data, password=password, programs=programs, run_as=run_as, synced=synced)
    # We hold the folder, so no server of before lives; its pid may belong to any process by now.
    (data / "postmaster.pid").unlink(missing_ok=True)
    sockets = _socket_folder(held.path, port=chosen)
    running_settings = {
        **settings,
        "listen_addresses": LOOPBACK,
        "port": str(chosen),
        "unix_socket_directories": "" if sockets is None else str(sockets),
    }
    arguments = [part for name, value in running_settings.items() for part in ("-c", f"{name}={value}")]
    server = child.spawn(
        "postgres",
        [programs / "postgres", "-D", data, *arguments],
        folder=held,
        death_signal=signal.SIGQUIT,  # an immediate shutdown, which takes the server's own children along
        identity=run_as,
    )
    try:
        await server.until(lambda: _ready(data, pid=server.pid), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(signal.SIGQUIT, seconds=_STOP_SECONDS)
        raise
    return PostgresServer(
        host=LOOPBACK,
        port=chosen,
        user=USER,
        password=password,
        socket_folder=sockets,
        programs=programs,
        _server=server,
    )


async def _initialise(
    held: HeldFolder, *, data: Path, password: str, programs: Path, run_as: str, synced: bool
) -> None:
    # Made elsewhere and moved: a data folder that exists is a whole one, whenever we were killed.
    unfinished, password_file = held.path / "data.new", held.path / "initial-password"
    shutil.rmtree(unfinished, ignore_errors=True)
    password_file.unlink(missing_ok=True)
    password_file.touch(mode=0o600)
    password_file.write_text(password, encoding="ascii")
    owner = held.path.stat()
    os.chown(password_file, owner.st_uid, owner.st_gid)
    where = [f"--pgdata={unfinished}", f"--username={USER}", f"--pwfile={password_file}"]
    options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums"]
    if not synced:
        options.append("--no-sync")
    try:
        made = child.spawn("initdb", [programs / "initdb", *where, *options], folder=held, identity=run_as)
        await made.finish(seconds=_INITDB_SECONDS)
    finally:
        password_file.unlink(missing_ok=True)
    unfinished.rename(data)


def _socket_folder(path: Path, *, port: int) -> Path | None:
    sockets = path / "run"
    if len(os.fsencode(sockets / f".s.PGSQL.{port}")) > _SOCKET_PATH_BYTES:
        return None
    sockets.mkdir(mode=0o700, exist_ok=True)
    for left_behind in sockets.iterdir():
        left_behind.unlink()
    owner = path.stat()
    os.chown(sockets, owner.st_uid, owner.st_gid)
    return sockets


async def _ready(data: Path, *, pid: int) -> bool:
    # What pg_ctl reads too: the first line is the pid, the eighth says how far the server is.
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"  # noqa: PLR2004 - as said above
