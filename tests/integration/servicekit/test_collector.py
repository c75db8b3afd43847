"""Every process that serves has left its garbage collector little to look at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lakeward_components.postgres import PostgresServer
from lakeward_servicekit.collector import THRESHOLDS
from tests.support.components import fresh_database
from tests.support.installations import Composition, compositions, environment, installed

pytestmark = pytest.mark.integration
_IMPORTED = 50_000  # objects that the modules of the smallest service make, and more


def messages(log: str) -> Mapping[str, Mapping[str, Any]]:
    """The lines of a log, by what they say."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{") and line.endswith("}")]
    return {line["message"]: line for line in lines}


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.mark.parametrize("composition", compositions())
async def test_what_lives_for_ever_is_frozen_in_each_process_before_it_waits(
    composition: Composition, database: str, tmp_path: Path
) -> None:
    async with installed(composition, tmp_path, environment(database)) as installation:
        logs = {}
        async with asyncio.timeout(30):
            while any("started" not in messages(log) for log in logs.values()) or not logs:
                await asyncio.sleep(0.05)
                logs = installation.logs()
    assert logs.keys() == installation.processes.keys()
    for name, log in logs.items():
        started = messages(log)["started"]
        assert started["thresholds"] == list(THRESHOLDS), name
        assert started["frozen"] > _IMPORTED, name
