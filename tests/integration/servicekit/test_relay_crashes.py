"""A process that dies at any step between a change and a consumer: nothing is missing, doubled, or out of order."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import defaultdict
from pathlib import Path

import nats
import pytest

from lakeward_authz.bootstrap import MIGRATIONS
from lakeward_components import nats as nats_server
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.relay_failpoint import POINTS, ROUNDS, STREAMS

pytestmark = pytest.mark.integration
SCHEMA = "lakeward_crashes"


async def _run(point: str, environ: dict[str, str]) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.relay_failpoint",
        env={**os.environ, **environ, "POINT": point},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=Path(__file__).parents[3],
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def test_a_consumers_view_is_the_databases_wherever_the_process_was_killed(
    postgres_url: str, tmp_path: Path
) -> None:
    url = SecretStr(postgres_url)
    await migrate(url, package=MIGRATIONS, schema=SCHEMA)
    async with (
        nats_server.running(tmp_path / "nats") as server,
        open_pool(url, size=1, name="test", schema=SCHEMA) as pool,
    ):
        await pool.execute("create table crash_state (stream text primary key, version int not null)")
        environ = {"DATABASE": postgres_url, "SCHEMA": SCHEMA, "NATS": server.url}
        for point in POINTS:
            status, said = await _run(point, environ)
            assert status == -signal.SIGKILL, f"{point}: it was not reached; {status}: {said}"
        status, said = await _run("", environ)
        assert status == 0, said
        state = dict(await pool.fetch("select stream, version from crash_state"))
        assert min(state.values()) > ROUNDS
        client = await nats.connect(server.url)
        try:
            jetstream = client.jetstream()
            stored = (await jetstream.stream_info("lake")).state.messages
            consumer = await jetstream.subscribe("lake.>", ordered_consumer=True)
            messages = [await consumer.next_msg(timeout=10) for _ in range(stored)]
        finally:
            await client.close()
    seen: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for message in messages:
        sequence = int((message.headers or {})["Lakeward-Sequence"])
        seen[message.subject.split(".")[1]].append((sequence, json.loads(message.data)["data"]["version"]))
    assert seen == {stream: [(n, n) for n in range(1, state[stream] + 1)] for stream in STREAMS}
