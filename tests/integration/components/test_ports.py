"""Ports that were drawn are spoken for, whoever else draws, until their drawer is gone."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakeward_components import ports
from lakeward_components.errors import ComponentFailed

pytestmark = pytest.mark.integration

# Three that no run draws and the kernel gives nobody.
LOWEST, HIGHEST = 32_740, 32_742
_OTHER = f"""
import sys
from lakeward_components import ports
ports._LOWEST, ports._HIGHEST = {LOWEST}, {HIGHEST}
print(ports.take(given=None, last=None), ports.take(given=None, last=None), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _three_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leased in a file of the test's own, so that it may run beside itself."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(ports, "_leases", functools.cache(ports._leases.__wrapped__))
    monkeypatch.setattr(ports, "_LOWEST", LOWEST)
    monkeypatch.setattr(ports, "_HIGHEST", HIGHEST)
    monkeypatch.setattr(ports, "_OURS", set())


@contextmanager
def other_process() -> Iterator[set[int]]:
    """Another process that has drawn two of the three, and listens on none."""
    command = [sys.executable, "-c", _OTHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield {int(port) for port in process.stdout.readline().split()}
        finally:
            process.kill()


def draw() -> int:
    return ports.take(given=None, last=None)


def test_what_another_process_drew_is_not_drawn_until_that_process_is_gone() -> None:
    with other_process() as theirs:
        assert len(theirs) == 2
        ours = draw()
        assert {ours} | theirs == set(range(LOWEST, HIGHEST + 1))
        with pytest.raises(ComponentFailed, match="no free port"):
            draw()
        assert ports.take(given=None, last=ours) == ours
    assert {ours, draw(), draw()} == {ours} | theirs


def test_a_port_of_the_last_run_that_another_process_drew_meanwhile_is_only_had_by_asking_for_it() -> None:
    with other_process() as theirs:
        port = min(theirs)
        assert ports.take(given=None, last=port) not in theirs
        assert ports.take(given=port, last=None) == port


def test_a_port_whose_twin_another_process_drew_is_not_drawn() -> None:
    with other_process() as theirs:
        (left,) = set(range(LOWEST, HIGHEST + 1)) - theirs
        with pytest.raises(ComponentFailed, match="no free port"):
            ports.take(given=None, last=None, twin_offset=min(theirs) - left)
        assert draw() == left
