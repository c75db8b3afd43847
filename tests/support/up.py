"""`lakeward up` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from lakeward_components.ports import take
from tests.support.http import NOBODY

SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Up:
    """One run of the command."""

    process: subprocess.Popen[bytes]
    url: str
    output: Path

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def ready(self) -> None:
        wait(lambda: self.answers() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", verify=NOBODY).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def children(self) -> Sequence[int]:
        running = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in running if parent_of(pid) == self.process.pid]

    def child(self, name: str) -> int:
        (pid,) = (pid for pid in self.children() if Path(f"/proc/{pid}/comm").read_text().strip() == name)
        return pid

    def namespaces(self) -> httpx.Response:
        where = f"{self.url}/catalog/v1"
        config = httpx.get(f"{where}/config", params={"warehouse": "demo"}, verify=NOBODY).json()
        prefix = {**config["defaults"], **config["overrides"]}["prefix"]
        return httpx.get(f"{where}/{prefix}/namespaces", verify=NOBODY)


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None  # it has ended meanwhile


def wait(fact: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not fact():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def none_of(pids: Sequence[int]) -> Callable[[], bool]:
    return lambda: not any(Path(f"/proc/{pid}").exists() and not is_zombie(pid) for pid in pids)


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


Start = Callable[..., Up]


@contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Starts the command in `folder`/home; ends what is left of it."""
    runs: list[subprocess.Popen[bytes]] = []

    def begin(
        *before: str,
        home: Path = folder / "home",
        arguments: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> Up:
        port = take(given=None, last=None)
        foreign = ("LAKEKEEPER__", "LAKEWARD_", "ICEBERG_REST__")
        ours = {name: value for name, value in os.environ.items() if not name.upper().startswith(foreign)}
        # Its metrics take any port that is free: the one that is theirs unless somebody says otherwise may be another's.
        named = {"LAKEWARD_HOME": str(home), "LAKEKEEPER__LISTEN_PORT": str(port), "LAKEKEEPER__METRICS__PORT": "0"}
        output = folder / f"output-{len(runs)}"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", "lakeward_cli", "up", *arguments],
                env={**ours, **named, **(variables or {})},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        runs.append(process)
        return Up(process, f"http://127.0.0.1:{port}", output)

    try:
        yield begin
    finally:
        for process in runs:
            process.kill()
            process.wait()
