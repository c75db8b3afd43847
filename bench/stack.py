"""Lakeward and its components as real processes, in either composition, over one database."""

from __future__ import annotations

import base64
import enum
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_components import blocking, child, databases, folder, http, provision
from lakeward_components.child import Child
from lakeward_components.environment import TEST
from lakeward_components.nats import NatsServer
from lakeward_components.ports import LOOPBACK, take
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store

SERVICES: Final = ("authz", "vending", "catalog", "gateway")
_POSTGRES_SETTINGS: Final = {"max_connections": "200", "shared_buffers": "128MB"}
_DATABASE: Final = "bench"
_READY_SECONDS: Final = 60.0
_MIGRATED_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 30.0
_HTTP_OK: Final = 200


class Composition(enum.StrEnum):
    """How the services are put together."""

    ONE_PROCESS = "one process"
    FOUR_PROCESSES = "four processes"


@dataclass(frozen=True, slots=True)
class Stack:
    """Components that answer, and a migrated database.

    Attributes:
        home: where everything of this run is kept.
        database: its URL, over TCP.
        environment: of every process of Lakeward.
    """

    home: Path
    postgres: PostgresServer
    nats: NatsServer
    s3: S3Store
    database: str
    environment: Mapping[str, str] = field(repr=False)

    def groups(self) -> dict[str, Sequence[int]]:
        """Process ids of the components that are ours, by name."""
        pids = {"Postgres": self.postgres.pid, "store": self.s3.pid, "NATS": self.nats.pid}
        return {name: (pid,) for name, pid in pids.items() if pid is not None}


@dataclass(frozen=True, slots=True)
class Lakeward:
    """A Lakeward that serves.

    Attributes:
        url: `http://host:port`, without a closing slash.
        processes: ids by name.
        stack: what it runs on.
    """

    url: str
    composition: Composition
    processes: Mapping[str, int]
    stack: Stack = field(repr=False)

    def groups(self) -> dict[str, Sequence[int]]:
        """Process ids by group: ours as one, each component."""
        return {"Lakeward": tuple(self.processes.values()), **self.stack.groups()}


@contextmanager
def stack(home: Path) -> Iterator[Stack]:
    """Start the components and migrate a fresh database; end them with the block."""
    with ExitStack() as ending:
        postgres = blocking.run(provision.postgres_server(home / "postgres", names=TEST, settings=_POSTGRES_SETTINGS))
        ending.callback(lambda: blocking.run(postgres.stop(gracefully=False)))
        nats = blocking.run(provision.nats_server(home / "nats", names=TEST))
        ending.callback(lambda: blocking.run(nats.stop(gracefully=False)))
        s3 = blocking.run(provision.s3_store(home / "s3", names=TEST))
        ending.callback(lambda: blocking.run(s3.stop(gracefully=False)))
        database = blocking.run(databases.create(postgres, f"{_DATABASE}_{secrets.token_hex(4)}"))
        environment = _environment(database, nats)
        _migrate(home / "migrate", environment)
        yield Stack(home, postgres, nats, s3, database, environment)


@contextmanager
def lakeward(parts: Stack, composition: Composition) -> Iterator[Lakeward]:
    """Start Lakeward; end it with the block."""
    with ExitStack() as ending:
        port = take(given=None, last=None)
        public = {**parts.environment, "LAKEKEEPER__BIND_IP": LOOPBACK, "LAKEKEEPER__LISTEN_PORT": str(port)}
        run = f"{composition.name.lower()}-{secrets.token_hex(3)}"
        started = [
            ending.enter_context(_process(parts.home / run / name, arguments, {**public, **own}))
            for name, arguments, own in _processes(composition, avoid=port)
        ]
        url = f"http://{LOOPBACK}:{port}"
        blocking.run(started[-1].until(lambda: serves(url), seconds=_READY_SECONDS))
        yield Lakeward(url, composition, {process.name: process.pid for process in started}, parts)


async def serves(url: str) -> bool:
    """Whether it says that it can serve."""
    return (await http.request("GET", f"{url}/health")).status == _HTTP_OK


def foreign_removed(environment: Mapping[str, str]) -> dict[str, str]:
    """Ours, without settings that somebody's shell carries."""
    foreign = ("LAKEKEEPER__", "LAKEWARD__", "ICEBERG_REST__")
    return {name: value for name, value in environment.items() if not name.upper().startswith(foreign)}


@contextmanager
def command(name: str, arguments: Sequence[str], *, home: Path, environment: Mapping[str, str]) -> Iterator[Child]:
    """One `lakeward` command that runs until the block ends."""
    with _process(home / name, tuple(arguments), environment) as process:
        yield process


def _processes(composition: Composition, *, avoid: int) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, str]]]:
    """Name, arguments and own variables of each process; the one that answers the public comes last."""
    if composition is Composition.ONE_PROCESS:
        yield "lakeward", ("serve",), {}
        return
    joints = _joints(avoid=avoid)
    keys = {service: Ed25519PrivateKey.generate() for service in SERVICES}
    peers = ",".join(f"{service}:{_text(key.public_key().public_bytes_raw())}" for service, key in keys.items())
    for service, key in keys.items():
        proof = {"LAKEWARD__WORKLOAD__PRIVATE_KEY": _text(key.private_bytes_raw()), "LAKEWARD__WORKLOAD__PEERS": peers}
        yield service, ("serve", service), {**joints, **proof}


def _joints(*, avoid: int) -> Mapping[str, str]:
    taken, settings = [avoid], {}
    for service in SERVICES[:-1]:
        taken.append(take(given=None, last=None, avoid=taken))
        for what in ("LISTEN", "ADDRESS"):
            settings[f"LAKEWARD__{service.upper()}__{what}"] = f"{LOOPBACK}:{taken[-1]}"
    return settings


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _environment(database: str, nats: NatsServer) -> Mapping[str, str]:
    user = {"LAKEKEEPER__NATS_USER": nats.user, "LAKEKEEPER__NATS_PASSWORD": nats.password} if nats.user else {}
    return {
        **foreign_removed(os.environ),
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__PG_ENCRYPTION_KEY": secrets.token_urlsafe(24),
        "LAKEKEEPER__NATS_ADDRESS": f"nats://{nats.host}:{nats.port}",
        "LAKEKEEPER__NATS_TOPIC": "bench",
        **user,
    }


def _migrate(home: Path, environment: Mapping[str, str]) -> None:
    held = blocking.run(folder.hold(home))
    try:
        blocking.run(_spawn("migrate", ("migrate",), held, environment).finish(seconds=_MIGRATED_SECONDS))
    finally:
        held.release()


@contextmanager
def _process(home: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[Child]:
    process = _spawn(home.name, arguments, blocking.run(folder.hold(home)), environment)
    try:
        yield process
    finally:
        blocking.run(process.stop(signal.SIGTERM, seconds=_STOP_SECONDS))


def _spawn(name: str, arguments: tuple[str, ...], held: folder.HeldFolder, environment: Mapping[str, str]) -> Child:
    whole = [sys.executable, "-m", "lakeward_cli", *arguments]
    return child.spawn(name, whole, folder=held, environment=environment)
