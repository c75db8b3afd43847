"""Components that go away and come back, while nothing of Lakeward is started again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx
import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import DeliverPolicy
from nats.js.errors import NotFoundError

from tests.support.audit import Table, load, loaded, snapshot_ids
from tests.support.faults import UNKNOWN, House, append, create
from tests.support.http import NOBODY
from tests.support.installations import Composition
from tests.support.warehouses import make_namespace, make_warehouse, tables_of, told

pytestmark = pytest.mark.integration

WITHOUT_CREDENTIALS = {"x-iceberg-access-delegation": "client-managed"}
WITH_CREDENTIALS = {"x-iceberg-access-delegation": "vended-credentials"}
SCHEMA = {"type": "struct", "schema-id": 0, "fields": []}

Call = Callable[[httpx.AsyncClient, Table, Mapping[str, Any]], Awaitable[httpx.Response]]

CALLS: dict[str, Call] = {
    "config": lambda http, t, _: http.get("/catalog/v1/config", params={"warehouse": t.warehouse.name}),
    "list namespaces": lambda http, t, _: http.get(f"{t.warehouse.path}/namespaces"),
    "create a namespace": lambda http, t, _: http.post(f"{t.warehouse.path}/namespaces", json={"namespace": ["new"]}),
    "list tables": lambda http, t, _: http.get(tables_of(t.warehouse, t.namespace)),
    "create a table": lambda http, t, _: http.post(
        tables_of(t.warehouse, t.namespace), json={"name": "new", "schema": SCHEMA}
    ),
    "load": lambda http, t, _: http.get(t.path, headers=WITHOUT_CREDENTIALS),
    "load with credentials": lambda http, t, _: http.get(t.path, headers=WITH_CREDENTIALS),
    "exists": lambda http, t, _: http.head(t.path),
    "commit": lambda http, t, metadata: http.post(t.path, json=append(metadata, 1)),
    "drop": lambda http, t, _: http.delete(t.path),
    "list warehouses": lambda http, t, _: http.get("/management/v1/warehouse"),
    "get a warehouse": lambda http, t, _: http.get(f"/management/v1/warehouse/{t.warehouse.id}"),
}


@pytest.fixture
async def table(house: House) -> AsyncIterator[Table]:
    (made,) = await house.tables({"t": 1})
    yield made
    await house.lines.mend()
    await house.installation.ready()


async def _answers(http: httpx.AsyncClient, table: Table, metadata: Mapping[str, Any]) -> dict[str, httpx.Response]:
    return {name: await call(http, table, metadata) for name, call in CALLS.items()}


async def test_without_postgres_every_call_is_refused_with_503_and_serving_resumes_by_itself(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    metadata = await load(http, table)
    pids = {name: process.pid for name, process in house.installation.processes.items()}
    await house.lines.postgres.refuse()
    answers = await _answers(http, table, metadata)
    health, live = await http.get("/health"), await http.get("/health/live")
    assert {name: reply.status_code for name, reply in answers.items()} == dict.fromkeys(CALLS, 503)
    for name, reply in answers.items():
        if name != "exists":
            assert reply.json()["error"]["code"] == 503, (name, reply.text)
    assert (await _until(http, "/health", 503), live.status_code) == (503, 200), health.text

    await house.lines.mend()
    await house.installation.ready()
    assert (await http.get(t := table.path)).status_code == 200, t
    assert {name: process.pid for name, process in house.installation.processes.items()} == pids
    assert not (await house.audit({table: []})).wrong, "a refused call changed something"


async def _until(http: httpx.AsyncClient, path: str, status: int) -> int:
    async with asyncio.timeout(20):
        while (reply := await http.get(path)).status_code != status:
            await asyncio.sleep(0.1)
    return reply.status_code


async def test_without_the_store_what_touches_it_is_refused_and_everything_else_works(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    metadata = await load(http, table)
    other = Table(table.warehouse, table.namespace, "u")
    told(await http.post(tables_of(table.warehouse, table.namespace), json={"name": "u", "schema": SCHEMA}))
    await house.installation.kill("vending")  # so that no credential is cached
    await house.installation.start()
    await house.lines.store.refuse()
    touching = {"create a table", "load with credentials", "commit"}
    statuses = {
        name: (await call(http, other if name == "drop" else table, metadata)).status_code
        for name, call in CALLS.items()
    }
    assert {name for name, status in statuses.items() if status == 503} == touching, statuses
    assert all(status < 300 for name, status in statuses.items() if name not in touching), statuses
    assert (await http.get("/health")).status_code == 200

    await house.lines.mend()
    assert (await http.get(table.path, headers=WITH_CREDENTIALS)).status_code == 200
    assert (await http.post(table.path, json=append(metadata, 1))).status_code == 200
    findings = await house.audit({table: [1]})
    assert not findings.wrong + findings.orphans


async def test_credentials_that_were_vended_before_are_answered_while_the_store_is_away(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    told(await http.get(table.path, headers=WITH_CREDENTIALS))
    await house.lines.store.refuse()
    answer = told(await http.get(table.path, headers=WITH_CREDENTIALS)).json()
    assert answer["storage-credentials"][0]["config"]["s3.session-token"]


async def test_creates_that_hang_in_one_store_hold_none_in_another(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    healthy = await make_warehouse(http, house.store)  # by the direct way
    namespace = await make_namespace(http, healthy)
    await create(http, healthy, namespace, "before")
    house.lines.store.pause()
    async with httpx.AsyncClient(
        verify=NOBODY, base_url=house.installation.url, timeout=60, limits=httpx.Limits()
    ) as many:
        tables = tables_of(table.warehouse, table.namespace)
        stuck = [
            asyncio.create_task(many.post(tables, json={"name": f"stuck{number}", "schema": SCHEMA}))
            for number in range(200)
        ]
        try:
            while house.lines.store.open_now < 60:
                await asyncio.sleep(0.05)
            await create(http, healthy, namespace, "meanwhile")
            # None that reached the store has ended: whoever has, waited for a slot in vain.
            assert all("is busy" in task.result().text for task in stuck if task.done())
            assert sum(not task.done() for task in stuck) >= 60
        finally:
            house.lines.store.resume()
            await asyncio.gather(*stuck, return_exceptions=True)


@pytest.mark.parametrize("composition", [Composition.ONE_PROCESS], indirect=True)
async def test_a_commit_to_a_store_that_says_nothing_is_answered_in_time_and_may_yet_happen(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    metadata = await load(http, table)
    house.lines.store.pause()
    reply = await http.post(table.path, json=append(metadata, 1))
    house.lines.store.resume()
    kind = reply.json()["error"]["type"]
    assert (reply.status_code, kind) in {(503, "ServiceUnavailableException"), (504, UNKNOWN)}, reply.text
    if kind == UNKNOWN:  # it goes on behind the answer
        async with asyncio.timeout(20):
            while not snapshot_ids(await load(http, table)):
                await asyncio.sleep(0.1)
    ids = snapshot_ids(await load(http, table))
    assert len(ids) == (kind == UNKNOWN)
    assert not (await house.audit({table: ids})).wrong


async def test_without_nats_nothing_fails_and_every_event_arrives_once_it_is_back(
    house: House, http: httpx.AsyncClient, table: Table
) -> None:
    await house.lines.nats.refuse()
    metadata = await load(http, table)
    for number in range(1, 4):
        told(await http.post(table.path, json=append(metadata, number)))
        metadata = await load(http, table)
    assert (await http.get("/health")).status_code == 200
    files = [entry["metadata-file"] for entry in metadata["metadata-log"]]
    files.append((await loaded(http, table))["metadata-location"])

    await house.lines.mend()
    subject = f"{house.settings['LAKEKEEPER__NATS_TOPIC']}.{table.warehouse.id}.table.>"
    events = await _published(house, subject, len(files))
    assert [event["data"]["tabular"]["metadata-location"] for event in events] == files
    findings = await house.audit({table: [1, 2, 3]})
    assert not findings.wrong


async def _published(house: House, subject: str, count: int) -> list[dict[str, Any]]:
    """The first events of a subject, once so many are there, by the direct way to the broker."""
    client = await nats.connect(house.nats)
    try:
        jetstream = client.jetstream()
        async with asyncio.timeout(60):
            while (stream := await _stream_of(jetstream, subject)) is None:
                await asyncio.sleep(0.1)
        consumer = await jetstream.subscribe(
            subject, stream=stream, ordered_consumer=True, deliver_policy=DeliverPolicy.ALL
        )
        return [json.loads((await consumer.next_msg(timeout=60)).data) for _ in range(count)]
    finally:
        await client.close()


async def _stream_of(jetstream: JetStreamContext, subject: str) -> str | None:
    try:
        return str(await jetstream.find_stream_name_by_subject(subject))
    except NotFoundError:
        return None


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("composition", [Composition.FOUR_PROCESSES], indirect=True)
@pytest.mark.parametrize("service", ["authz", "vending", "catalog"])
async def test_a_server_whose_service_is_away_says_that_it_can_not_serve_until_it_is_back(
    house: House, http: httpx.AsyncClient, service: str
) -> None:
    await house.installation.kill(service)
    assert await _until(http, "/health", 503) == 503
    await house.installation.start(service)
