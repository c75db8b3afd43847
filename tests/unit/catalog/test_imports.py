from __future__ import annotations

import subprocess
import sys

import pytest

SHOW = "import sys, lakeward_catalog.bootstrap; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("library", ["sqlalchemy", "alembic"])
def test_what_migrating_alone_needs_is_not_loaded_to_serve(loaded: set[str], library: str) -> None:
    assert library not in loaded


def test_the_http_library_is_not_loaded_where_no_event_is_posted(loaded: set[str]) -> None:
    assert "httpx" not in loaded


def test_who_publishes_to_nats_has_its_library_before_the_first_event_and_nobody_else_has_it(loaded: set[str]) -> None:
    made = (
        "import sys; from lakeward_servicekit.events.nats.connection import NatsAddress; "
        "from lakeward_servicekit.events.nats.sink import NatsSink; before = 'nats' in sys.modules; "
        "NatsSink(NatsAddress('nats://127.0.0.1:4222', 'topic')); print(before, 'nats.js' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    assert "nats" not in loaded
