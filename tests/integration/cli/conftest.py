"""Runs of `lakeward up`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from lakeward_components.ports import take
from tests.support.up import Start, Up


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command in `tmp_path`/home; ends what is left of it."""
    runs: list[subprocess.Popen[bytes]] = []

    def begin(
        *before: str,
        home: Path = tmp_path / "home",
        arguments: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> Up:
        port = take(given=None, last=None)
        foreign = ("LAKEKEEPER__", "LAKEWARD_", "ICEBERG_REST__")
        ours = {name: value for name, value in os.environ.items() if not name.upper().startswith(foreign)}
        output = tmp_path / f"output-{len(runs)}"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", "lakeward_cli", "up", *arguments],
                env={**ours, "LAKEWARD_HOME": str(home), "LAKEKEEPER__LISTEN_PORT": str(port), **(variables or {})},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        runs.append(process)
        return Up(process, f"http://127.0.0.1:{port}", output)

    yield begin
    for process in runs:
        process.kill()
        process.wait()
