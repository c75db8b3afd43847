from __future__ import annotations

import subprocess
import sys

import pytest

SHOW = (
    "import sys, lakeward.cli.main, lakeward_cli.failing, lakeward_cli.serving, lakeward_cli.embedded; "
    "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("library", ["sqlalchemy", "alembic", "prometheus_client", "opentelemetry"])
def test_what_serving_can_do_without_is_not_loaded_for_it(loaded: set[str], library: str) -> None:
    assert library not in loaded
