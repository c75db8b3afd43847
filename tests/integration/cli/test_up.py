"""`lakeward up`, as who types `make run` meets it: a process of its own, with everything that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lakeward_components.ports import take

pytestmark = pytest.mark.integration

SECONDS = 60.0
READABLE = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


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
            return httpx.get(f"{self.url}/health").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def children(self) -> Sequence[int]:
        running = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in running if parent_of(pid) == self.process.pid]

    def child(self, name: str) -> int:
        (pid,) = (pid for pid in self.children() if Path(f"/proc/{pid}/comm").read_text().strip() == name)
        return pid

    def namespaces(self) -> httpx.Response:
        config = httpx.get(f"{self.url}/catalog/v1/config", params={"warehouse": "demo"}).json()
        prefix = {**config["defaults"], **config["overrides"]}["prefix"]
        return httpx.get(f"{self.url}/catalog/v1/{prefix}/namespaces")


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


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command in `tmp_path`/home; ends what is left of it."""
    runs: list[subprocess.Popen[bytes]] = []

    def begin(*before: str, home: Path = tmp_path / "home") -> Up:
        port = take(given=None, last=None)
        foreign = ("LAKEKEEPER__", "LAKEWARD_", "ICEBERG_REST__")
        ours = {name: value for name, value in os.environ.items() if not name.upper().startswith(foreign)}
        output = tmp_path / f"output-{len(runs)}"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", "lakeward_cli", "up"],
                env={**ours, "LAKEWARD_HOME": str(home), "LAKEKEEPER__LISTEN_PORT": str(port)},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        runs.append(process)
        return Up(process, f"http://127.0.0.1:{port}", output)

    yield begin
    for process in runs:
        process.kill()
        process.wait()


def test_the_first_start_has_a_demo_warehouse_and_ctrl_c_ends_all_that_it_started(start: Start) -> None:
    up = start()
    up.ready()
    children = up.children()
    assert len(children) >= 3, "Postgres, NATS and the store"
    assert up.namespaces().json()["namespaces"] == [["default"]]
    for shown in ("load_catalog", "spark-sql", "ATTACH 'demo'", "curl"):
        assert shown in up.said()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=SECONDS) == 0, up.said()
    wait(none_of(children))


def test_after_a_kill_no_child_lives_and_the_next_start_has_everything(start: Start) -> None:
    up = start()
    up.ready()
    path = up.namespaces().request.url
    httpx.post(path, json={"namespace": ["kept"]}).raise_for_status()
    children = up.children()
    up.process.kill()
    up.process.wait()
    wait(none_of(children))
    again = start()
    again.ready()
    assert again.namespaces().json()["namespaces"] == [["default"], ["kept"]]


def test_a_component_that_dies_ends_it_with_a_word_of_which_and_why(start: Start) -> None:
    up = start()
    up.ready()
    children = up.children()
    os.kill(up.child("weed"), signal.SIGKILL)
    assert up.process.wait(timeout=SECONDS) == 69
    assert "weed ended with status -9" in up.said()
    wait(none_of(children))


def test_a_second_one_in_the_same_home_is_told_who_has_it(start: Start) -> None:
    first = start()
    first.ready()
    second = start()
    assert second.process.wait(timeout=SECONDS) == 69
    assert str(first.process.pid) in second.said()
    assert first.answers()


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
def test_it_runs_as_an_ordinary_user_too(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "theirs"
    home.mkdir()
    os.chown(home, 65534, 65534)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    # the capability stands in for an interpreter that everybody may read
    up = start("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *READABLE, home=home)
    up.ready()
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in [up.process.pid, *up.children()]} == {65534}
    assert up.namespaces().is_success
