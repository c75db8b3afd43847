"""The example of four formats, run as it stands by people with different rights."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Secured

EXAMPLE = Path(__file__).parents[2] / "examples" / "multimodal.py"


def test_four_formats_are_read_by_one_client_whose_user_may_not_write_one_of_them(secured: Secured) -> None:
    up, environment = secured.up, {**os.environ, "LAKEWARD_URL": secured.up.url}
    for variable, person in {"OWNER_TOKEN": "writer", "COLLEAGUE_TOKEN": "reader", "ADMIN_TOKEN": "admin"}.items():
        environment[variable] = secured.tokens[person]
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
