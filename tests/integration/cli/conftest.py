"""Runs of `lakeward up`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.up import Start, starting


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command in `tmp_path`/home; ends what is left of it."""
    with starting(tmp_path) as begin:
        yield begin
