"""Runs of `lakeward up`."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.up import SECONDS, Start, starting


@dataclass(frozen=True, slots=True)
class First:
    """A home's first start, which Ctrl-C ended.

    Attributes:
        home: as it was left.
        said: all that was printed.
        status: its exit status.
        children: pids of what it had started, while it served.
        namespaces: those that it served.
    """

    home: Path
    said: str
    status: int
    children: Sequence[int]
    namespaces: object


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    folder = tmp_path_factory.mktemp("first")
    with starting(folder) as start:
        up = start()
        up.ready()
        children, namespaces = up.children(), up.namespaces().json()["namespaces"]
        up.process.send_signal(signal.SIGINT)
        status = up.process.wait(timeout=SECONDS)
        return First(folder / "home", up.said(), status, children, namespaces)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command in `tmp_path`/home; ends what is left of it."""
    with starting(tmp_path) as begin:
        yield begin


@pytest.fixture
def known(start: Start, first: First, tmp_path: Path) -> Start:
    """The same, in a home that was started once: to make databases is no part of what is tested."""
    subprocess.run(["cp", "-a", first.home, tmp_path / "home"], check=True)
    return start
