"""pylakekeeper's example of a Paimon table, unmodified but for names, in an environment of its own: see its constraints."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import requests

from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

HERE = Path(__file__).parent / "paimon"
CONSTRAINTS = HERE / "constraints.txt"
SECONDS = 600

# What is vended is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")


@pytest.fixture(scope="module")
def python() -> Path:
    """A Python with exactly what the constraints say, made once for each text of theirs and kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lakeward"
    digest = hashlib.sha256(CONSTRAINTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    made = cache / f"paimon-{digest}"
    if not made.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="paimon-", dir=cache))
        try:
            subprocess.run([sys.executable, "-m", "venv", building], check=True, timeout=SECONDS)
            install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
            subprocess.run([building / "bin" / "python", *install, "-r", CONSTRAINTS], check=True, timeout=SECONDS)
            # Whole or not at all: who looks meanwhile finds nothing. Its Python is run by its path, never by its scripts.
            building.rename(made)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            if not made.is_dir():
                raise
    return made / "bin" / "python"


def test_a_paimon_table_is_written_and_read_with_what_a_load_hands_out(lakeward: Lakeward, python: Path) -> None:
    namespace = f"paimon_{secrets.token_hex(4)}"
    requests.post(lakeward.namespaces, json={"namespace": [namespace]}, timeout=30).raise_for_status()
    ran = subprocess.run(
        [python, HERE / "round_trip.py", lakeward.url, lakeward.warehouse_id, namespace],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
