"""Processes that are killed at every step between a request and its consumer, while the requests go on.

One stack goes through all steps: a gateway and a catalog that come by them, a NATS server and a consumer of their own. At the end
what the consumer rebuilt from its events is what the catalog has, and the broker has each event once, in its place.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import nats as nats_client
import pytest

from lakeward_components import nats
from lakeward_components.nats import NatsServer
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support import steps
from tests.support.faults import House
from tests.support.http import NOBODY
from tests.support.installations import ROOT, Composition, Process, Program
from tests.support.mirrored import mirrored, stored
from tests.support.rebuilding import event_of, kept
from tests.support.steps import DIE, WAIT, Steps
from tests.support.warehouses import SCHEMA, Warehouse

pytestmark = pytest.mark.integration

TOPIC = "steps"
_PATIENCE = 30.0
_LEFT = """
select (select count(*) from outbox where stream = $1)
     + (select known.seq - coalesce(cursor.seq, 0) from event_stream known
          left join sink_cursor cursor on cursor.sink = 'nats' and cursor.stream = known.stream where known.stream = $1)
"""
# Whoever held one is dead; nobody is to wait until it runs out.
_LET_GO = "update lease set expires_at = clock_timestamp() where name like 'events-%'"


@dataclass
class _Sweep:
    """What is killed, and what looks on."""

    house: House
    pool: Pool
    steps: Steps
    server: NatsServer
    home: Path
    warehouse: Warehouse
    consumer: Process
    answers: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    async def dies(self, process: Process, step: str) -> None:
        """Have a process die at a step, and start it again."""
        self.steps.arm(step, DIE)
        assert await process.ended() == -signal.SIGKILL, f"{step}: {process.log_tail()}"
        if process is self.house.installation.hosting("catalog"):
            await self.pool.execute(_LET_GO)
        await process.start()  # what comes next may happen before it serves

    async def meets(self, step: str, harm: Callable[[], Awaitable[None]]) -> None:
        """Harm something else while the catalog stands at a step."""
        self.steps.arm(step, WAIT)
        await self.steps.reached()
        await harm()
        self.steps.go_on()

    async def lose_broker(self) -> None:
        await self.server.stop(gracefully=False)

    async def return_broker(self) -> None:
        self.server = await nats.start(self.home / "nats", port=self.server.port)

    async def cut_postgres(self) -> None:
        self.house.lines.postgres.cut_all()


@asynccontextmanager
async def _sweep(house: House, home: Path) -> AsyncIterator[_Sweep]:
    installation, file = house.installation, home / "step"
    async with AsyncExitStack() as stack:
        server = await nats.start(home / "nats")
        address = {
            "LAKEKEEPER__NATS_ADDRESS": f"nats://127.0.0.1:{server.port}",
            "LAKEKEEPER__NATS_TOPIC": TOPIC,
            "LAKEKEEPER__NATS_USER": server.user,
            "LAKEKEEPER__NATS_PASSWORD": server.password,
            "LAKEWARD__NATS__TIMEOUT": "1s",
        }
        for name in ("catalog", "gateway"):
            process = installation.hosting(name)
            stack.push_async_callback(_restored, process, process.program)
            environment = {**process.program.environment, **address, steps.STEP: str(file)}
            await process.kill()
            process.program = Program("tests.support.stepping", (name,), environment)
        pool = await stack.enter_async_context(
            open_pool(SecretStr(house.database), size=2, name="test", schema="lakeward_catalog")
        )
        await pool.execute(_LET_GO)
        await installation.start()
        async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=30) as http:
            warehouse = await house.warehouse(http)
        reads = {"NATS": server.url, "TOPIC": TOPIC, "WAREHOUSE": warehouse.id, "STATE": str(home / "state")}
        environment = {**os.environ, **reads, steps.STEP: str(file), "PYTHONPATH": str(ROOT)}
        consumer = Process("consumer", home, Program("tests.support.rebuilding", (), environment, sys.executable))
        stack.push_async_callback(consumer.kill)
        await consumer.start()
        sweep = _Sweep(house, pool, Steps(file), server, home, warehouse, consumer)
        stack.push_async_callback(sweep.lose_broker)
        yield sweep
    await house.installation.start()


async def _restored(process: Process, program: Program) -> None:
    await process.kill()
    process.program = program


async def _change(sweep: _Sweep, names: str) -> None:
    """Change the warehouse without end; what an outage refuses, or leaves unknown, is not asked about again."""
    base = f"/catalog/v1/{sweep.warehouse.id}/namespaces"
    async with httpx.AsyncClient(verify=NOBODY, base_url=sweep.house.installation.url, timeout=10) as http:

        async def post(path: str, document: Mapping[str, object], method: str = "POST") -> None:
            with suppress(httpx.TransportError):
                sweep.answers[(await http.request(method, path, json=document or None)).status_code] += 1
                return
            await asyncio.sleep(0.02)

        for turn in itertools.count():
            space, table = f"{names}{turn % 5}", f"t{turn % 7}"
            properties = {"action": "set-properties", "updates": {"turn": str(turn)}}
            await post(base, {"namespace": [space]})
            await post(f"{base}/{space}/tables", {"name": table, "schema": SCHEMA})
            for _ in range(2):
                await post(f"{base}/{space}/tables/{table}", {"requirements": [], "updates": [properties]})
            await post(f"{base}/{space}/properties", {"removals": [], "updates": {"turn": str(turn)}})
            moved = {"namespace": [space], "name": f"{table}-{turn % 3}"}
            source = {"namespace": [space], "name": table}
            await post(f"/catalog/v1/{sweep.warehouse.id}/tables/rename", {"source": source, "destination": moved})
            if turn % 2:
                await post(f"{base}/{space}/tables/{table}-{turn % 3}", {}, "DELETE")


async def _until_rebuilt(sweep: _Sweep) -> None:
    """Wait until the consumer has the last event."""
    async with asyncio.timeout(_PATIENCE):
        while await sweep.pool.fetchval(_LEFT, sweep.warehouse.id):
            await asyncio.sleep(0.05)
        newest = await sweep.pool.fetchval("select seq from event_stream where stream = $1", sweep.warehouse.id)
        while kept(sweep.home / "state").sequence < newest:
            assert sweep.consumer.runs, sweep.consumer.log_tail()
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("composition", [Composition.FOUR_PROCESSES], indirect=True)
async def test_a_consumers_state_is_the_catalogs_whatever_was_killed_at_whichever_step(
    house: House, tmp_path: Path
) -> None:
    async with _sweep(house, tmp_path) as sweep:
        gateway, catalog = house.installation.hosting("gateway"), house.installation.hosting("catalog")
        changing = [asyncio.create_task(_change(sweep, names)) for names in ("a", "b")]
        try:
            for step in steps.OF_CONSUMER:
                await sweep.dies(sweep.consumer, step)
            for step in steps.OF_GATEWAY:
                await sweep.dies(gateway, step)
            for step in steps.OF_CATALOG:
                await sweep.dies(catalog, step)
            for step in (
                "the row is changed",
                "the event is written",
                "the events are moved",
                "a batch is acknowledged",
            ):
                await sweep.meets(step, sweep.cut_postgres)
            for step in ("a batch is on its way", "a batch is acknowledged"):
                await sweep.meets(step, sweep.lose_broker)
                await sweep.return_broker()
        finally:
            for task in changing:
                task.cancel()
            ended = await asyncio.gather(*changing, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended
        assert sweep.answers[200] > len(steps.OF_CATALOG), dict(sweep.answers)
        await _until_rebuilt(sweep)
        state = await stored(sweep.pool, sweep.warehouse.id)
        assert state["tabulars"]
        assert mirrored(kept(sweep.home / "state")) == state
        await _insist_each_once(sweep)


async def _insist_each_once(sweep: _Sweep) -> None:
    """Of the warehouse, the broker has the events of the log, each once and in order; and upstream's beside, once."""
    logged = await sweep.pool.fetch(
        "select seq, event_id::text, kind, verb from event_log where stream = $1 order by seq", sweep.warehouse.id
    )
    client = await nats_client.connect(sweep.server.url)
    try:
        jetstream = client.jetstream()
        own = await _messages(jetstream, f"{TOPIC}.{sweep.warehouse.id}.>")
        copies = await _messages(jetstream, TOPIC)
    finally:
        await client.close()
    shown = [event_of(message) for message in own]
    assert [(each.sequence, each.id, each.kind, each.verb) for each in shown] == [tuple(row) for row in logged]
    assert [each.sequence for each in shown] == [*range(1, len(shown) + 1)]
    ids = [(message.headers or {})["Nats-Msg-Id"] for message in copies]
    assert len(set(ids)) == len(ids)
    upstreams = [f"{each.id}/topic" for each in shown if each.kind == "table"]
    ours = set(upstreams)
    assert [each for each in ids if each in ours] == upstreams


async def _messages(jetstream: nats_client.js.JetStreamContext, subject: str) -> list[nats_client.aio.msg.Msg]:
    consumer = await jetstream.subscribe(subject, ordered_consumer=True)
    messages: list[nats_client.aio.msg.Msg] = []
    while True:
        messages.append(await consumer.next_msg(timeout=10))
        if messages[-1].metadata.num_pending == 0:
            return messages
