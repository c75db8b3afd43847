"""Lakeward and its components as real processes, in either composition, over one database."""

from __future__ import annotations

import dataclasses
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.meter import Usage, metered
from bench.pauses import FOLDER, Watch, slate
from lakeward_components import blocking, child, databases, folder, http, provision
from lakeward_components.child import Child
from lakeward_components.environment import TEST
from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.installations import Composition, environment, migrate, planned, running

_POSTGRES_SETTINGS: Final = {"max_connections": "200", "shared_buffers": "128MB"}
_DATABASE: Final = "bench"
_STOP_SECONDS: Final = 30.0
_HTTP_OK: Final = 200
_WATCHED: Final = "bench.watched"
# A page of a file that is mapped from a disk can have to wait for the disk: what measures pauses would make some.
_MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None


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
        watch: how long its processes stand still.
    """

    url: str
    composition: Composition
    processes: Mapping[str, int]
    stack: Stack = field(repr=False)
    watch: Watch = field(repr=False)

    def groups(self) -> dict[str, Sequence[int]]:
        """Process ids by group: ours as one, each component."""
        return {"Lakeward": tuple(self.processes.values()), **self.stack.groups()}

    def metered(self) -> AbstractContextManager[Usage]:
        """Measure a block: whose CPU time it was, and how long the processes stood still."""
        return metered(self.groups(), self.watch)


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
        settings = environment(database, nats)
        for hurried in (
            "LAKEKEEPER__TASK_POLL_INTERVAL",
            "LAKEWARD__PURGE_DELAY",
            "LAKEKEEPER__ENDPOINT_STAT_FLUSH_INTERVAL",
        ):
            del settings[hurried]  # tests don't wait; what is measured has the defaults
        blocking.run(migrate(settings))
        yield Stack(home, postgres, nats, s3, database, settings)


@contextmanager
def lakeward(parts: Stack, composition: Composition, *, module: str = _WATCHED) -> Iterator[Lakeward]:
    """Start Lakeward, watched; end it with the block.

    Args:
        parts: what it runs on.
        composition: how it is put together.
        module: that runs the command, and watches it.
    """
    home = parts.home / f"{composition}-{secrets.token_hex(3)}"
    with ExitStack() as ending:
        told = Path(ending.enter_context(TemporaryDirectory(prefix="lakeward-bench-", dir=_MEMORY)))
        planning = planned(composition, home, {**parts.environment, FOLDER: str(told)})
        for process in planning.processes.values():
            process.program = dataclasses.replace(process.program, module=module)
        installation = ending.enter_context(running(planning))
        processes = {name: process.pid for name, process in installation.processes.items()}
        slates = {name: ending.enter_context(slate(told / str(pid))) for name, pid in processes.items()}
        yield Lakeward(installation.url, composition, processes, parts, Watch(slates))


async def serves(url: str) -> bool:
    """Whether it says that it can serve."""
    return (await http.request("GET", f"{url}/health")).status == _HTTP_OK


@contextmanager
def command(name: str, arguments: Sequence[str], *, home: Path, environment: Mapping[str, str]) -> Iterator[Child]:
    """One `lakeward` command that runs until the block ends."""
    whole = [sys.executable, "-m", "lakeward_cli", *arguments]
    process = child.spawn(name, whole, folder=blocking.run(folder.hold(home / name)), environment=environment)
    try:
        yield process
    finally:
        blocking.run(process.stop(signal.SIGTERM, seconds=_STOP_SECONDS))
