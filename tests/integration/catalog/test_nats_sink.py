"""Events on a real JetStream."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import nats
import pytest
import pytest_asyncio
from nats.js.api import DeliverPolicy

from lakeward.catalog.adapters.nats.messages import MAX_PAYLOAD, SEQUENCE, messages_of, stream_subjects
from lakeward.catalog.adapters.nats.sink import NatsAddress, NatsSink
from lakeward.catalog.application.relay import (
    SEQUENCER,
    LoggedEvent,
    Pace,
    SinkUnavailableError,
    deliver,
    sink_lease,
)
from lakeward.catalog.domain.events import Event
from tests.support.catalog.memory_events import MemoryEvents, QuietBell
from tests.support.catalog.values import NOON, an_event
from tests.support.proxy import Line, proxy

pytestmark = pytest.mark.integration


def _event(
    stream: str, kind: str = "table", verb: str = "committed", type_: str = "updateTable", pad: int = 0
) -> Event:
    body = {"specversion": "1.0", "id": "x", "type": type_, "data": {"pad": "x" * pad}}
    return an_event(stream, kind, verb, json.dumps(body).encode())


@pytest.fixture
def address(nats_url: str, unique_name: str) -> NatsAddress:
    return NatsAddress(nats_url, unique_name, max_bytes=1 << 24)  # a broker reserves them


@pytest_asyncio.fixture(loop_scope="session")
async def sink(address: NatsAddress) -> AsyncIterator[NatsSink]:
    made = NatsSink(address)
    yield made
    await made.close()


async def _stored(address: NatsAddress) -> list[Any]:
    """Every message of the topic's stream, in the broker's order."""
    client = await nats.connect(address.url)
    try:
        jetstream = client.jetstream()
        name = await jetstream.find_stream_name_by_subject(address.topic)
        state = (await jetstream.stream_info(name)).state
        consumer = await jetstream.subscribe(">", stream=name, ordered_consumer=True, deliver_policy=DeliverPolicy.ALL)
        return [await consumer.next_msg(timeout=10) for _ in range(state.messages)]
    finally:
        await client.close()


async def _deliver(events: MemoryEvents, sink: NatsSink) -> None:
    bell = QuietBell(1)
    loop = asyncio.create_task(
        deliver(
            await events.lease(sink_lease(sink.name)),
            sink=sink,
            log=events,
            bell=bell,
            pace=Pace(batch=20),
            jitter=lambda: 0.0,
            lag=lambda *_: None,
        )
    )
    over = asyncio.create_task(bell.over.wait())
    async with asyncio.timeout(60):
        await asyncio.wait({loop, over}, return_when=asyncio.FIRST_COMPLETED)
    for task in (loop, over):
        task.cancel()
    outcomes = await asyncio.gather(loop, over, return_exceptions=True)
    assert all(isinstance(each, asyncio.CancelledError) or each is True for each in outcomes), outcomes


async def _log(*events: Event) -> MemoryEvents:
    stores = MemoryEvents()
    await stores.write(*events)
    await stores.move(await stores.lease(SEQUENCER), limit=10_000)
    return stores


async def test_events_arrive_once_in_order_on_subjects_that_say_what_they_are(
    sink: NatsSink, address: NatsAddress
) -> None:
    events = [_event(f"w{index % 3}", type_="createNamespace", kind="namespace") for index in range(60)]
    await _deliver(await _log(*events), sink)
    stored = await _stored(address)
    assert len(stored) == 60
    for stream in ("w0", "w1", "w2"):
        own = [each for each in stored if each.subject == f"{address.topic}.{stream}.namespace.committed"]
        assert [int(each.headers[SEQUENCE]) for each in own] == list(range(1, 21))
        assert [each.headers["Nats-Msg-Id"] for each in own] == [str(e.event_id) for e in events if e.stream == stream]


async def test_upstreams_events_also_go_to_exactly_the_topic(sink: NatsSink, address: NatsAddress) -> None:
    events = [_event("w"), _event("w", type_="createWarehouse")]
    await _deliver(await _log(*events), sink)
    stored = await _stored(address)
    assert [each.subject for each in stored if each.subject == address.topic] == [address.topic]
    assert len(stored) == 3


async def test_a_new_holder_goes_on_where_the_broker_stands(sink: NatsSink, address: NatsAddress) -> None:
    log = await _log(*(_event("w", type_="createWarehouse") for _ in range(5)))
    await _deliver(log, sink)
    assert await sink.position("w") == 5
    assert await sink.position("unknown") == 0
    log.cursors[sink.name, "w"] = 2
    later = NatsSink(address)
    await _deliver(log, later)
    await later.close()
    assert len(await _stored(address)) == 5


async def test_a_holder_that_another_overtook_publishes_nothing_out_of_order(
    sink: NatsSink, address: NatsAddress
) -> None:
    first, second, third = (LoggedEvent(n, _event("w", type_="createWarehouse"), NOON) for n in (1, 2, 3))
    await sink.position("w")
    await sink.publish(first)
    other = NatsSink(address)
    assert await other.position("w") == 1
    await other.publish(second)
    await other.publish(third)
    await other.close()
    late = LoggedEvent(2, _event("w", type_="createWarehouse"), NOON)
    with pytest.raises(SinkUnavailableError):
        await sink.publish(late)
    assert [int(each.headers[SEQUENCE]) for each in await _stored(address)] == [1, 2, 3]


async def test_nothing_fails_while_the_broker_is_away_and_everything_arrives_after(
    address: NatsAddress,
) -> None:
    parts = urlsplit(address.url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with proxy(parts.hostname, parts.port) as line, _through(line, address) as sink:
        log = await _log(*(_event("w", type_="createWarehouse") for _ in range(30)))
        await line.refuse()
        with pytest.raises(SinkUnavailableError):
            await sink.position("w")
        delivering = asyncio.create_task(_deliver(log, sink))
        await line.accept()
        async with asyncio.timeout(30):
            while log.cursors["nats", "w"] < 10 and not delivering.done():
                await asyncio.sleep(0)
        line.cut_all()
        await delivering
    assert [int(each.headers[SEQUENCE]) for each in await _stored(address)] == list(range(1, 31))


@contextlib.asynccontextmanager
async def _through(line: Line, address: NatsAddress) -> AsyncIterator[NatsSink]:
    sink = NatsSink(dataclasses.replace(address, url=line.instead_of(address.url)))
    try:
        yield sink
    finally:
        await sink.close()


async def test_a_large_event_carries_a_reference(sink: NatsSink, address: NatsAddress) -> None:
    await _deliver(await _log(_event("w", type_="createWarehouse", pad=MAX_PAYLOAD)), sink)
    [stored] = await _stored(address)
    document = json.loads(stored.data)
    assert document["dataref"] == "lakeward:events/w/1"
    assert "data" not in document
    assert document["type"] == "createWarehouse"


async def test_the_stream_is_made_with_bounds_and_an_operators_own_is_left_alone(
    sink: NatsSink, address: NatsAddress
) -> None:
    client = await nats.connect(address.url)
    jetstream = client.jetstream()
    await sink.position("w")
    made = (await jetstream.stream_info(address.topic)).config
    assert (made.max_bytes, made.max_age) == (address.max_bytes, address.max_age.total_seconds())
    theirs = dataclasses.replace(address, topic=f"{address.topic}_own")
    await jetstream.add_stream(name="operators", subjects=[theirs.topic, f"{theirs.topic}.>"])
    second = NatsSink(theirs)
    await second.publish(LoggedEvent(1, _event("w"), NOON))
    await second.close()
    assert (await jetstream.stream_info("operators")).state.messages == 2
    await jetstream.delete_stream("operators")
    await client.close()


@pytest.mark.parametrize("stream", ["a.b", "a b", "*", ">", "é", ""])
def test_a_stream_is_one_token_of_a_subject(stream: str) -> None:
    subjects = stream_subjects(stream, topic="topic")
    assert subjects.startswith("topic.")
    assert subjects.count(".") == 2
    assert not set(subjects[:-1]) & set(" *>")
    assert messages_of(LoggedEvent(1, _event(stream), NOON), topic="topic")[-1].subject.startswith(subjects[:-1])
