"""The example of four formats, run as it stands by people with different rights."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import starting
from tests.support.up import Up, wait

EXAMPLE = Path(__file__).parents[2] / "examples" / "multimodal.py"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Up, Path]]:
    folder = tmp_path_factory.mktemp("secured")
    with starting(folder) as start:
        up: Up = start(arguments=("--secure",))
        up.ready()
        wait(lambda: "\ncurl:\n" in up.said())
        yield up, folder / "home"


def test_four_formats_are_read_by_one_client_whose_user_may_not_write_one_of_them(secured: tuple[Up, Path]) -> None:
    up, home = secured
    environment = {**os.environ, "LAKEWARD_HOME": str(home), "LAKEWARD_URL": up.url}
    for variable, person in {"OWNER_TOKEN": "writer", "COLLEAGUE_TOKEN": "reader", "ADMIN_TOKEN": "admin"}.items():
        command = [sys.executable, "-m", "lakeward_cli", "token", person]
        asked = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
        environment[variable] = asked.stdout.strip()
    ran = subprocess.run(
        [sys.executable, EXAMPLE], capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr[-6000:]}\n{up.said()[-3000:]}"
    said = dict(line.split(": ", 1) for line in ran.stdout.splitlines() if ": " in line)
    assert said["most like rose"] == "a rose pet, a red pet"
    assert said["brightness and price"].startswith("[(0.38, 120.0), (0.5, 80.0)")
    assert said["captions by now"] == "6"
    assert said["features stay as they are"]
    assert said["features"] == "5"
    assert "as it was: True" in ran.stdout
