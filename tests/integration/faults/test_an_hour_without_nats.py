"""NATS is away for an hour's worth of events, while requests go on: nobody notices but who looks at the lag."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import nats as nats_client
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig
from prometheus_client.parser import text_string_to_metric_families

from lakeward.events import Mirror
from lakeward_components import nats
from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, Installation, Program, environment, migrate, planned, started
from tests.support.mirrored import mirrored, stored
from tests.support.rebuilding import event_of
from tests.support.warehouses import SCHEMA, Warehouse, bootstrap, make_namespace, make_table, make_warehouse, tables_of

pytestmark = pytest.mark.integration

# Five commits a second, for an hour.
HOUR: Final = 18_000
_WRITERS: Final = 2
# Requests that are answered while the broker is away, beside what is written in bulk.
_MEANWHILE: Final = 60
_TOPIC: Final = "hour"
_GIB: Final = 1 << 30
_PATIENCE: Final = 50.0
# A request that waited for the broker would wait for longer than its client does.
_BROKER_SECONDS: Final = 60
_CLIENT_SECONDS: Final = 10
# The event of a table's last commit again and again, under other ids: who applies it twice knows no more than before.
_FILL: Final = """
with template as (
    select stream, convert_from(body, 'UTF8') as body, event_id::text as id
      from (select stream, body, event_id, verb, at from event_log union all
            select stream, body, event_id, verb, written_at from outbox) told
     where stream = $1 and verb = 'committed' and convert_from(body, 'UTF8') like '%"subject":"hourly.template"%' limit 1)
insert into outbox (event_id, stream, kind, verb, body)
select made.id, template.stream, 'table', 'committed',
       convert_to(replace(template.body, template.id, made.id::text), 'UTF8')
  from template cross join (select gen_random_uuid() as id from generate_series(1, $2::int)) made
"""
_NUMBERED: Final = "select coalesce((select seq from event_stream where stream = $1), 0)"
_WAITING: Final = "select count(*) from outbox where stream = $1"
_TAKEN: Final = "select coalesce((select seq from sink_cursor where sink = 'nats' and stream = $1), 0)"
_LOGGED: Final = "select seq, event_id::text, kind, verb from event_log where stream = $1 order by seq"


@dataclass
class _House:
    """A Lakeward with a broker of its own.

    Attributes:
        answers: how often each status was answered to `_change`.
        over: nothing more is changed.
    """

    installation: Installation
    server: NatsServer
    home: Path
    pool: Pool
    warehouses: Sequence[Warehouse]
    answers: Counter[int] = field(default_factory=Counter)
    over: bool = False

    async def lose_broker(self) -> None:
        await self.server.stop()

    async def return_broker(self) -> None:
        self.server = await nats.start(self.home / "nats", port=self.server.port)

    async def metric(self, http: httpx.AsyncClient, name: str, **labels: str) -> float:
        """Of the catalog."""
        port = next(line["port"] for line in self.logged() if line["message"] == "serving metrics")
        text = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
        wanted = {"service": "catalog", **labels}
        [value] = [
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == name and wanted.items() <= sample.labels.items()
        ]
        return value

    def logged(self) -> list[dict[str, Any]]:
        """What the process has logged."""
        [text] = self.installation.logs().values()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


@asynccontextmanager
async def _house(database: str, store: S3Store, home: Path) -> AsyncIterator[_House]:
    server = await nats.start(home / "nats")
    settings = environment(
        database,
        server,
        LAKEKEEPER__NATS_TOPIC=_TOPIC,
        LAKEWARD__NATS__TIMEOUT=f"{_BROKER_SECONDS}s",
        LAKEWARD__EVENT_LOG_MAX_GIB="1",
    )
    await migrate(settings)
    installation = planned(Composition.ONE_PROCESS, home, settings)
    process = installation.public
    process.program = Program("tests.support.looking", (), process.program.environment)
    async with (
        started(installation),
        open_pool(SecretStr(database), size=3, name="test", schema="lakeward_catalog") as pool,
        httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=60) as http,
    ):
        await bootstrap(http)
        house = _House(installation, server, home, pool, [await make_warehouse(http, store) for _ in range(_WRITERS)])
        try:
            yield house
        finally:
            await house.lose_broker()


async def _template(http: httpx.AsyncClient, warehouse: Warehouse) -> None:
    """A table that nobody changes any more, whose last event is a commit's."""
    namespace = await make_namespace(http, warehouse, "hourly")
    await make_table(http, warehouse, namespace, "template")
    updates = [{"action": "set-properties", "updates": {"key": "value"}}]
    path = f"{tables_of(warehouse, namespace)}/template"
    (await http.post(path, json={"requirements": [], "updates": updates})).raise_for_status()


async def _change(house: _House, warehouse: Warehouse) -> None:
    """Change a warehouse until told to stop: creates, commits, drops. A request that fails, or is late, ends the test."""
    spaces = f"{warehouse.path}/namespaces"
    async with httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=_CLIENT_SECONDS) as http:

        async def ask(method: str, path: str, document: Mapping[str, object] | None = None) -> None:
            reply = await http.request(method, path, json=document)
            assert reply.is_success, f"{method} {path} answered {reply.status_code}: {reply.text}"
            house.answers[reply.status_code] += 1

        for turn in itertools.count():
            tables = f"{spaces}/s{turn}/tables"
            properties = {"action": "set-properties", "updates": {"turn": str(turn)}}
            await ask("POST", spaces, {"namespace": [f"s{turn}"]})
            for name in ("kept", "dropped"):
                await ask("POST", tables, {"name": name, "schema": SCHEMA})
                await ask("POST", f"{tables}/{name}", {"requirements": [], "updates": [properties]})
            await ask("POST", f"{spaces}/s{turn}/properties", {"removals": [], "updates": {"turn": str(turn)}})
            await ask("DELETE", f"{tables}/dropped")
            if house.over:
                return


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


async def test_requests_go_on_and_every_event_comes_once_in_order_when_nats_is_back(
    database: str, s3_server: S3Store, tmp_path: Path
) -> None:
    async with (
        _house(database, s3_server, tmp_path) as house,
        httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=30) as http,
    ):
        for warehouse in house.warehouses:
            await _template(http, warehouse)
        await _until_taken(house)  # the sink is at work

        await house.lose_broker()
        async with asyncio.TaskGroup() as group:
            for warehouse in house.warehouses:
                group.create_task(_change(house, warehouse))
            for warehouse in house.warehouses:
                await house.pool.execute(_FILL, warehouse.id, HOUR // len(house.warehouses))
            await _until_ordered(house)
            await _insist_told(house, http)
            await house.return_broker()
            await _until_taken(house, at_least=HOUR)  # behind what comes all the time
            house.over = True

        await _until_taken(house)
        assert _told(house, "a sink is behind")
        await _insist_rebuilt(house)


async def _until_ordered(house: _House) -> None:
    """Wait until the bulk is in the log, and so many requests were answered meanwhile."""
    async with asyncio.timeout(_PATIENCE):
        while sum([await house.pool.fetchval(_NUMBERED, each.id) for each in house.warehouses]) < HOUR:
            await asyncio.sleep(0.05)
        while house.answers.total() < _MEANWHILE:
            await asyncio.sleep(0.05)


async def _until_taken(house: _House, *, at_least: int | None = None) -> None:
    """Wait until the sink has the newest event of each warehouse, or so many of all."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            taken = [await house.pool.fetchval(_TAKEN, each.id) for each in house.warehouses]
            if at_least is not None and sum(taken) >= at_least:
                return
            waiting = [await house.pool.fetchval(_WAITING, each.id) for each in house.warehouses]
            numbered = [await house.pool.fetchval(_NUMBERED, each.id) for each in house.warehouses]
            if not any(waiting) and taken == numbered:
                return
            await asyncio.sleep(0.05)


async def _insist_told(house: _House, http: httpx.AsyncClient) -> None:
    """Whoever looks sees the lag and what it takes on the disk, which is within its bound; requests' health is not touched."""
    assert (await http.get("/health")).status_code == httpx.codes.OK
    async with asyncio.timeout(_PATIENCE):
        while await house.metric(http, "lakeward_event_sink_lag_events", sink="nats") < HOUR:
            await asyncio.sleep(0.1)
    assert await house.metric(http, "lakeward_event_sink_lag_seconds", sink="nats") > 0
    assert await house.metric(http, "lakeward_event_sink_dead_letters", sink="nats") == 0
    each = await house.pool.fetchval("select avg(octet_length(body))::float8 from event_log")
    size = await house.metric(http, "lakeward_event_log_bytes")
    assert HOUR * each < size < 2 * HOUR * each, "an event takes more of the disk than it has"
    assert size < await house.metric(http, "lakeward_event_log_max_bytes") == _GIB
    assert _told(house, "a sink did not take an event")
    assert not _told(house, "the oldest events of today are forgotten, since the log is full")


def _told(house: _House, message: str) -> bool:
    return any(line["message"] == message for line in house.logged())


async def _insist_rebuilt(house: _House) -> None:
    """The broker has each event of each warehouse once, in order; who applies them knows what the catalog has."""
    client = await nats_client.connect(house.server.url)
    try:
        copies = [(message.headers or {})["Nats-Msg-Id"] for message in await _messages(client, _TOPIC, bodies=False)]
        assert len(set(copies)) == len(copies)
        places = {name: place for place, name in enumerate(copies)}
        for warehouse in house.warehouses:
            mirror = Mirror()
            events = [event_of(message) for message in await _messages(client, f"{_TOPIC}.{warehouse.id}.>")]
            logged = [tuple(row) for row in await house.pool.fetch(_LOGGED, warehouse.id)]
            assert [(each.sequence, each.id, each.kind, each.verb) for each in events] == logged
            assert [each.sequence for each in events] == [*range(1, len(events) + 1)]
            assert len(events) > HOUR // len(house.warehouses)
            upstreams = [places[f"{each.id}/topic"] for each in events if each.kind == "table"]
            assert upstreams == sorted(upstreams)
            for each in events:
                mirror.apply(each)
            assert mirrored(mirror) == await stored(house.pool, warehouse.id)
    finally:
        await client.close()


async def _messages(client: Client, subject: str, *, bodies: bool = True) -> list[Msg]:
    messages: list[Msg] = []
    over = asyncio.Event()

    async def heard(message: Msg) -> None:
        messages.append(message)
        if message.metadata.num_pending == 0:
            over.set()

    consumer = await client.jetstream().subscribe(
        subject, cb=heard, ordered_consumer=True, config=ConsumerConfig(headers_only=not bodies)
    )
    async with asyncio.timeout(_PATIENCE):
        await over.wait()
    await consumer.unsubscribe()
    return messages
