"""Lakeward as real processes that a test may kill, starve and start again.

async with installed(Composition.FOUR_PROCESSES, tmp_path, environment(database, nats)) as installation:
    await installation.kill("catalog")
    await installation.start("catalog")
    await installation.ready()

Processes are our children: each is ended by its own pid, at the latest with the block, and dies with us.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import enum
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_cli import migrating
from lakeward_components import blocking, child, folder
from lakeward_components.child import Child
from lakeward_components.nats import NatsServer
from lakeward_components.ports import LOOPBACK, take
from tests.support.http import NOBODY

SERVICES: Final = ("authz", "vending", "catalog", "gateway")
LISTENING: Final = ("authz", "vending", "catalog")
ROOT: Final = Path(__file__).resolve().parents[2]
_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 30.0
# To ask costs both sides some milliseconds, which a server that starts had better have for itself.
_POLL_SECONDS: Final = 0.05
_FOREIGN: Final = ("LAKEKEEPER__", "LAKEWARD__", "ICEBERG_REST__")


class Composition(enum.StrEnum):
    """How the services are put together."""

    ONE_PROCESS = "one_process"
    FOUR_PROCESSES = "four_processes"


def compositions() -> list[Composition]:
    """Those that `LAKEWARD_TEST_COMPOSITIONS` names; all, where it names none."""
    named = os.environ.get("LAKEWARD_TEST_COMPOSITIONS")
    return [Composition(name.strip()) for name in named.split(",")] if named else list(Composition)


@dataclass(frozen=True, slots=True)
class Program:
    """What a process runs.

    Attributes:
        module: of Python.
        arguments: of its command line.
        environment: the whole of it.
        python: the interpreter.
    """

    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    python: str = sys.executable


class Process:
    """One process of an installation; its log goes on when it is started again."""

    def __init__(self, name: str, home: Path, program: Program) -> None:
        self.name: Final = name
        self.program = program
        self._home: Final = home / name
        self._child: Child | None = None

    @property
    def log(self) -> Path:
        return self._home / "server.log"

    @property
    def pid(self) -> int:
        assert self._child is not None, f"{self.name} does not run"
        return self._child.pid

    @property
    def runs(self) -> bool:
        return self._child is not None and self._child.exit_status is None

    async def start(self) -> None:
        """Start; it serves some time later. Again while it runs is a no-op."""
        if self.runs:
            return
        await self.kill()
        self._child = child.spawn(
            self.name,
            [self.program.python, "-m", self.program.module, *self.program.arguments],
            folder=await folder.hold(self._home),
            environment=self.program.environment,
        )

    async def kill(self) -> None:
        """SIGKILL, where it still runs."""
        if self._child is not None:
            await self._child.stop(seconds=_STOP_SECONDS)
            self._child = None

    async def stop(self) -> int | None:
        """SIGTERM, then wait; the exit status."""
        if self._child is None:
            return None
        process, self._child = self._child, None
        await process.stop(signal.SIGTERM, seconds=_STOP_SECONDS)
        return process.exit_status

    async def ended(self, *, seconds: float = _STOP_SECONDS) -> int:
        """Wait until it has ended by itself; the exit status, negative for a signal.

        Raises:
            TimeoutError: it still runs.
        """
        assert self._child is not None
        async with asyncio.timeout(seconds):
            while self._child.exit_status is None:
                await asyncio.sleep(0.01)
        return self._child.exit_status

    async def until_serving(self, http: httpx.AsyncClient, *, beside: Iterable[Process]) -> None:
        """Wait until /health says 200, while none of the others ends."""
        assert self._child is not None

        async def serves() -> bool:
            for other in beside:
                if not other.runs:
                    raise AssertionError(f"{other.name} ended while {self.name} started: {other.log_tail()}")
            with contextlib.suppress(httpx.TransportError):
                return (await http.get("/health", timeout=5)).status_code == httpx.codes.OK
            return False

        await self._child.until(serves, seconds=_READY_SECONDS, poll=_POLL_SECONDS)

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


class Installation:
    """A Lakeward of one composition.

    Attributes:
        url: of the public server, `http://host:port`.
        addresses: of the gRPC listeners by service; empty in one process.
        keys: each service's workload key; empty in one process.
        processes: by name: "lakeward", or the four services.
    """

    def __init__(
        self,
        composition: Composition,
        *,
        url: str,
        addresses: Mapping[str, str],
        keys: Mapping[str, Ed25519PrivateKey],
        processes: Mapping[str, Process],
    ) -> None:
        self.composition: Final = composition
        self.url: Final = url
        self.addresses: Final = addresses
        self.keys: Final = keys
        self.processes: Final = processes

    @property
    def public(self) -> Process:
        """The process that listens for HTTP."""
        return self.processes.get("gateway") or self.processes["lakeward"]

    def hosting(self, service: str) -> Process:
        """The process that a service runs in."""
        return self.processes.get(service) or self.processes["lakeward"]

    async def ready(self) -> None:
        """Wait until the public server says that it can serve."""
        others = [process for process in self.processes.values() if process is not self.public]
        async with httpx.AsyncClient(verify=NOBODY, base_url=self.url) as http:
            await self.public.until_serving(http, beside=others)

    async def start(self, *services: str) -> None:
        """Start what does not run, and wait until all of it serves."""
        for name in services or tuple(self.processes):
            await self.hosting(name).start()
        await self.ready()

    async def kill(self, service: str) -> None:
        """SIGKILL for the process that hosts a service."""
        await self.hosting(service).kill()

    async def end(self) -> None:
        """SIGKILL for all that runs, last first."""
        for process in reversed(list(self.processes.values())):
            await process.kill()

    def logs(self) -> Mapping[str, str]:
        """What each process wrote, by name."""
        return {
            name: process.log.read_text(encoding="utf-8", errors="replace") if process.log.exists() else ""
            for name, process in self.processes.items()
        }


def foreign_removed(variables: Mapping[str, str]) -> dict[str, str]:
    """Without settings of Lakeward that somebody's shell carries."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(_FOREIGN)}


def environment(
    database: str, nats: NatsServer | None = None, *, nats_address: str | None = None, **settings: str
) -> dict[str, str]:
    """The whole environment of a process: ours without a developer's own settings, and what every composition needs.

    Args:
        database: URL of Postgres.
        nats: where events go; None: nowhere.
        nats_address: the way there, where it is not the direct one.
        **settings: further variables, by their whole names.
    """
    inherited = foreign_removed(os.environ)
    events: dict[str, str] = {}
    if nats is not None:
        events = {
            "LAKEKEEPER__NATS_ADDRESS": nats_address or f"nats://{nats.host}:{nats.port}",
            "LAKEKEEPER__NATS_TOPIC": f"t{secrets.token_hex(6)}",
            **({"LAKEKEEPER__NATS_USER": nats.user, "LAKEKEEPER__NATS_PASSWORD": nats.password} if nats.user else {}),
        }
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), inherited.get("PYTHONPATH")))),
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__PG_ENCRYPTION_KEY": secrets.token_urlsafe(24),
        "LAKEKEEPER__METRICS__PORT": "0",
        "LAKEKEEPER__TASK_POLL_INTERVAL": "1s",
        "LAKEWARD__PURGE_DELAY": "1s",
        "LAKEKEEPER__ENDPOINT_STAT_FLUSH_INTERVAL": "1s",
        **events,
        **settings,
    }


def planned(
    composition: Composition,
    home: Path,
    settings: Mapping[str, str],
    *,
    own: Mapping[str, Mapping[str, str]] | None = None,
    unset: Mapping[str, Collection[str]] | None = None,
) -> Installation:
    """An installation of which nothing runs yet.

    Args:
        composition: how the services are put together.
        home: where logs go.
        settings: the whole environment of every process.
        own: further variables of single services, by service.
        unset: variables that single services go without.
    """
    port = take(given=None, last=None)
    taken, joints = [port], {}
    addresses: dict[str, str] = {}
    keys: dict[str, Ed25519PrivateKey] = {}
    shared = {**settings, "LAKEKEEPER__BIND_IP": LOOPBACK, "LAKEKEEPER__LISTEN_PORT": str(port)}
    if composition is Composition.ONE_PROCESS:
        processes = {"lakeward": Process("lakeward", home, Program("lakeward_cli", ("serve",), shared))}
        return Installation(
            composition, url=f"http://{LOOPBACK}:{port}", addresses=addresses, keys=keys, processes=processes
        )
    for service in LISTENING:
        taken.append(take(given=None, last=None, avoid=taken))
        addresses[service] = f"{LOOPBACK}:{taken[-1]}"
        joints[f"LAKEWARD__{service.upper()}__LISTEN"] = addresses[service]
        joints[f"LAKEWARD__{service.upper()}__ADDRESS"] = addresses[service]
    keys = {service: Ed25519PrivateKey.generate() for service in SERVICES}
    joints["LAKEWARD__WORKLOAD__PEERS"] = ",".join(
        f"{service}:{_text(key.public_key().public_bytes_raw())}" for service, key in keys.items()
    )
    processes = {}
    for service, key in keys.items():
        proof = {"LAKEWARD__WORKLOAD__PRIVATE_KEY": _text(key.private_bytes_raw())}
        variables = {**shared, **joints, **proof, **(own or {}).get(service, {})}
        for name in (unset or {}).get(service, ()):
            del variables[name]
        processes[service] = Process(service, home, Program("lakeward_cli", ("serve", service), variables))
    return Installation(
        composition, url=f"http://{LOOPBACK}:{port}", addresses=addresses, keys=keys, processes=processes
    )


@asynccontextmanager
async def started(installation: Installation) -> AsyncIterator[Installation]:
    """Start it, and end all of its processes with the block; the last lines of their logs go into a failure to start."""
    try:
        await installation.start()
        yield installation
    finally:
        await installation.end()


@contextmanager
def running(installation: Installation) -> Iterator[Installation]:
    """The same for code without an event loop."""
    try:
        blocking.run(installation.start())
        yield installation
    finally:
        blocking.run(installation.end())


@asynccontextmanager
async def installed(
    composition: Composition,
    home: Path,
    settings: Mapping[str, str],
    *,
    own: Mapping[str, Mapping[str, str]] | None = None,
    unset: Mapping[str, Collection[str]] | None = None,
) -> AsyncIterator[Installation]:
    """Migrate, start, and end it with the block; see `planned`."""
    await migrate(settings)
    async with started(planned(composition, home, settings, own=own, unset=unset)) as installation:
        yield installation


async def migrate(settings: Mapping[str, str]) -> None:
    """Bring the schemas of all services into the database, and the model into OpenFGA: what `lakeward migrate` does."""
    await migrating.migrate(settings)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
