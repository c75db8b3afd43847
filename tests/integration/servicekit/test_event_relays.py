"""Events of authz and of vending reach NATS, each once and in order, though two replicas relay them."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from nats.aio.client import Client

from lakeward_authz.bootstrap import MIGRATIONS as AUTHZ
from lakeward_components import nats
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.outbox import tell
from lakeward_servicekit.events.postgres_history import PostgresHistory
from lakeward_servicekit.events.serving import relaying
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.system import SystemIds
from lakeward_vending.bootstrap import MIGRATIONS as VENDING

pytestmark = pytest.mark.integration

COUNT = 40


def _event(stream: str, number: int) -> Event:
    body = {"specversion": "1.0", "type": "updateGrants", "data": {"number": number}}
    return Event(SystemIds().uuid7(), stream, "grant", "changed", json.dumps(body).encode())


@pytest.mark.parametrize(("stream", "package"), [("authz", AUTHZ), ("vending", VENDING)])
async def test_two_replicas_relay_each_event_once_and_in_order(
    postgres_url: str, tmp_path: Path, stream: str, package: str
) -> None:
    schema, url = f"lakeward_{stream}", SecretStr(postgres_url)
    await migrate(url, package=package, schema=schema)
    async with nats.running(tmp_path / "nats") as server, open_pool(url, size=6, name="test", schema=schema) as pool:
        await pool.execute("truncate outbox, event_log, event_stream, sink_cursor, dead_letter")
        environ = {
            "LAKEKEEPER__NATS_ADDRESS": f"nats://127.0.0.1:{server.port}",
            "LAKEKEEPER__NATS_TOPIC": "lake",
            "LAKEKEEPER__NATS_USER": server.user,
            "LAKEKEEPER__NATS_PASSWORD": server.password,
        }
        settings = load(EventSettings, environ).settings
        relays = partial(relaying, pool, settings, service="test", schema=schema, listen_at=url)
        tails = [Tail(PostgresHistory(pool).newest) for _ in range(2)]
        async with relays(tail=tails[0]), relays(tail=tails[1]):
            readers = [
                asyncio.create_task(tail.beyond(stream, COUNT - 1, at_most=timedelta(minutes=1))) for tail in tails
            ]
            for number in range(0, COUNT, 4):
                async with pool.transaction() as connection:
                    await tell(connection, *(_event(stream, number + more) for more in range(4)))
            async with asyncio.timeout(60):
                while await pool.fetchval("select coalesce(max(seq), 0) from sink_cursor") < COUNT:
                    await asyncio.sleep(0.2)
            async with asyncio.timeout(30):  # of both replicas, whichever numbers the events
                await asyncio.gather(*readers)
        client = Client()
        await client.connect(f"nats://127.0.0.1:{server.port}", user=server.user, password=server.password)
        try:
            subscription = await client.jetstream().subscribe(f"lake.{stream}.>", ordered_consumer=True)
            messages = [await subscription.next_msg(timeout=10) for _ in range(COUNT)]
            assert messages[-1].metadata.num_pending == 0
        finally:
            await client.close()
    assert [json.loads(message.data)["data"]["number"] for message in messages] == [*range(COUNT)]
    assert [(message.headers or {})["Lakeward-Sequence"] for message in messages] == [
        str(n) for n in range(1, COUNT + 1)
    ]
    assert {message.subject for message in messages} == {f"lake.{stream}.grant.changed"}
