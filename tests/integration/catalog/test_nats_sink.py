"""Events on a real JetStream."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nats
import pytest
import pytest_asyncio
from nats.js import JetStreamContext
from nats.js.api import DeliverPolicy

from lakeward_components import nats as nats_server
from lakeward_components.nats import NatsServer
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.delivery import deliver
from lakeward_servicekit.events.nats.connection import NatsAddress
from lakeward_servicekit.events.nats.messages import SEQUENCE, messages_of, stream_subjects
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.references import WHOLE_MAX
from lakeward_servicekit.events.relay import (
    SEQUENCER,
    LoggedEvent,
    Pace,
    SinkUnavailableError,
    sink_lease,
)
from tests.support.catalog.memory_events import MemoryEvents, QuietBell
from tests.support.catalog.values import NOON, an_event
from tests.support.proxy import Line, proxy

pytestmark = pytest.mark.integration


def _event(
    stream: str, kind: str = "table", verb: str = "committed", type_: str = "updateTable", pad: int = 0
) -> Event:
    body = {"specversion": "1.0", "id": "x", "type": type_, "data": {"request": {"pad": "x" * pad}}}
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
    await _append(stores, *events)
    return stores


async def _append(stores: MemoryEvents, *events: Event) -> None:
    await stores.write(*events)
    await stores.move(await stores.lease(SEQUENCER), limit=10_000)


@contextlib.asynccontextmanager
async def _jetstream(address: NatsAddress) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(address.url)
    try:
        yield client.jetstream()
    finally:
        await client.close()


async def _reload(server: NatsServer, file: Path, *, max_payload: int) -> None:
    """Change a running server's configuration; returns when it tells new clients of it."""
    configuration = json.loads(await asyncio.to_thread(file.read_text)) | {"max_payload": max_payload}
    await asyncio.to_thread(file.write_text, json.dumps(configuration))
    assert server.pid is not None
    os.kill(server.pid, signal.SIGHUP)
    async with asyncio.timeout(30):
        while True:
            client = await nats.connect(server.url)
            told = client.max_payload
            await client.close()
            if told == max_payload:
                return


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
    await sink.publish([first])
    other = NatsSink(address)
    assert await other.position("w") == 1
    await other.publish([second])
    await other.publish([third])
    await other.close()
    late = LoggedEvent(2, _event("w", type_="createWarehouse"), NOON)
    with pytest.raises(SinkUnavailableError):
        await sink.publish([late])
    assert [int(each.headers[SEQUENCE]) for each in await _stored(address)] == [1, 2, 3]


_WAYS: dict[str, dict[str, bool]] = {
    "kept as it comes": {"allow_batched": True},
    "all or none": {"allow_atomic": True},
    "one by one": {},
}


@contextlib.asynccontextmanager
async def _own_stream(address: NatsAddress, **how: Any) -> AsyncIterator[JetStreamContext]:
    """An operator's own stream, that takes many messages in this way."""
    async with _jetstream(address) as jetstream:
        topic = address.topic
        await jetstream.add_stream(name=topic, subjects=[topic, f"{topic}.>"], max_bytes=1 << 24, **how)
        yield jetstream
        await jetstream.delete_stream(topic)


def _some(count: int, stream: str = "w", **how: Any) -> list[LoggedEvent]:
    return [LoggedEvent(n, _event(stream, **how), NOON) for n in range(1, count + 1)]


def _own(stored: list[Any], address: NatsAddress) -> list[int]:
    return [int(each.headers[SEQUENCE]) for each in stored if each.subject != address.topic]


@pytest.mark.parametrize("way", _WAYS)
async def test_many_events_arrive_whole_and_in_order_whichever_way_the_stream_takes_them(
    sink: NatsSink, address: NatsAddress, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with _own_stream(address, **_WAYS[way]):
        events = _some(700)
        await sink.publish(events[:1])
        await sink.publish(events[1:650])
        await sink.publish(events[650:])
        stored = await _stored(address)
        assert _own(stored, address) == [*range(1, 701)]
        assert [each.headers["Nats-Msg-Id"] for each in stored if each.subject == address.topic] == [
            f"{each.event.event_id}/topic" for each in events
        ]
        assert await sink.position("w") == 700
    assert "a batch goes one by one" not in [each.getMessage() for each in caplog.records]


@pytest.mark.parametrize("way", _WAYS)
async def test_streams_are_published_beside_each_other_and_each_in_its_order(
    sink: NatsSink, address: NatsAddress, way: str
) -> None:
    async with _own_stream(address, **_WAYS[way]):
        await asyncio.gather(*(sink.publish(_some(120, f"w{number}")) for number in range(6)))
        stored = await _stored(address)
        for number in range(6):
            own = [each for each in stored if each.subject.startswith(f"{address.topic}.w{number}.")]
            assert _own(own, address) == [*range(1, 121)]


@pytest.mark.parametrize("way", _WAYS)
async def test_of_a_holder_that_was_overtaken_nothing_of_many_is_kept(
    sink: NatsSink, address: NatsAddress, way: str
) -> None:
    async with _own_stream(address, **_WAYS[way]):
        await sink.publish(_some(3))
        other = NatsSink(address)
        assert await other.position("w") == 3
        await other.publish([LoggedEvent(4, _event("w"), NOON)])
        await other.close()
        before = len(await _stored(address))
        with pytest.raises(SinkUnavailableError) as failed:
            await sink.publish([LoggedEvent(n, _event("w"), NOON) for n in (4, 5, 6)])
        assert failed.value.taken == 0
        assert len(await _stored(address)) == before
        assert await sink.position("w") == 4


@pytest.mark.parametrize("way", _WAYS)
async def test_what_comes_again_is_kept_once_and_what_follows_it_is_kept(
    sink: NatsSink, address: NatsAddress, way: str
) -> None:
    async with _own_stream(address, **_WAYS[way]) as jetstream:
        events = _some(10)
        # a copy of the first was published, when the connection broke
        copied, _ = messages_of(events[0], topic=address.topic, room=1 << 20)
        await jetstream.publish(copied.subject, copied.payload, headers=copied.headers)
        assert await sink.position("w") == 0
        await sink.publish(events)
        stored = await _stored(address)
        assert _own(stored, address) == [*range(1, 11)]
        assert len(stored) == 20


async def test_a_batch_whose_middle_is_refused_is_kept_up_to_there_and_the_event_is_named(
    sink: NatsSink, address: NatsAddress
) -> None:
    """The stream takes subjects of tables alone, so that a view's is nobody's."""
    async with _jetstream(address) as jetstream:
        subjects = [address.topic, f"{address.topic}.*.table.>"]
        await jetstream.add_stream(name=address.topic, subjects=subjects, max_bytes=1 << 24, allow_batched=True)
        events = _some(9)
        events[4] = LoggedEvent(5, _event("w", kind="view"), NOON)
        await sink.position("w")
        with pytest.raises(SinkUnavailableError) as failed:
            await sink.publish(events)
        assert failed.value.taken == 4
        assert _own(await _stored(address), address) == [1, 2, 3, 4]
        await jetstream.delete_stream(address.topic)


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
    await _deliver(await _log(_event("w", type_="createWarehouse", pad=WHOLE_MAX)), sink)
    [stored] = await _stored(address)
    document = json.loads(stored.data)
    assert document["dataref"] == "lakeward:events/w/1"
    assert "data" not in document
    assert document["type"] == "createWarehouse"


async def test_an_event_that_the_stream_does_not_take_whole_carries_a_reference(
    sink: NatsSink, address: NatsAddress
) -> None:
    log = await _log(*(_event("w", pad=pad) for pad in (0, 3000, 0)))
    async with _jetstream(address) as jetstream:
        await sink.position("w")
        # the operator lowers the bound of a stream that the sink has looked at
        config = (await jetstream.stream_info(address.topic)).config
        await jetstream.update_stream(config, max_msg_size=2048)
        await _deliver(log, sink)
    whole = ["data" in json.loads(each.data) for each in await _stored(address) if each.subject != address.topic]
    assert whole == [True, False, True]


async def test_an_event_that_the_server_does_not_take_whole_carries_a_reference(tmp_path: Path) -> None:
    async with nats_server.running(tmp_path / "nats") as server:
        address = NatsAddress(server.url, "small", max_bytes=1 << 24)
        sink = NatsSink(address)
        await _deliver(await _log(_event("before", pad=6000)), sink)
        await _reload(server, tmp_path / "nats" / "nats.conf", max_payload=4096)
        log = await _log(*(_event("w", pad=pad) for pad in (0, 6000, 0)))
        await _deliver(log, sink)
        await sink.close()
        stored: defaultdict[str, list[Any]] = defaultdict(list)
        for each in await _stored(address):
            stored[each.subject].append(json.loads(each.data))
    assert ["data" in each for each in stored["small.before.table.committed"]] == [True]
    assert [each.get("dataref") for each in stored["small.w.table.committed"]] == [None, "lakeward:events/w/2", None]
    assert ["data" in each for each in stored["small"]] == [True, True, False, True]


async def test_a_stream_that_was_deleted_is_made_again_and_takes_what_comes(
    sink: NatsSink, address: NatsAddress
) -> None:
    log = await _log(*(_event(stream, type_="createWarehouse") for stream in ("w", "v", "w")))
    await _deliver(log, sink)
    async with _jetstream(address) as jetstream:
        await jetstream.delete_stream(address.topic)
    await _append(log, *(_event(stream, type_="createWarehouse") for stream in ("w", "v", "w")))
    await _deliver(log, sink)
    async with _jetstream(address) as jetstream:
        assert (await jetstream.stream_info(address.topic)).config.max_bytes == address.max_bytes
    # what the old stream held stays away
    assert sorted((each.subject, each.headers[SEQUENCE]) for each in await _stored(address)) == [
        (f"{address.topic}.v.table.committed", "2"),
        (f"{address.topic}.w.table.committed", "3"),
        (f"{address.topic}.w.table.committed", "4"),
    ]


async def test_a_place_is_asked_for_again_where_the_stream_is_gone(sink: NatsSink, address: NatsAddress) -> None:
    await sink.publish([LoggedEvent(1, _event("w"), NOON)])
    async with _jetstream(address) as jetstream:
        await jetstream.delete_stream(address.topic)
    with pytest.raises(SinkUnavailableError, match="stream not found"):
        await sink.position("w")
    assert await sink.position("w") == 0
    await sink.publish([LoggedEvent(2, _event("w"), NOON)])


async def test_all_that_the_log_holds_comes_again_once_the_stream_and_the_place_are_deleted(
    sink: NatsSink, address: NatsAddress
) -> None:
    log = await _log(*(_event("w", type_="createWarehouse") for _ in range(3)))
    await _deliver(log, sink)
    async with _jetstream(address) as jetstream:
        await jetstream.delete_stream(address.topic)
    del log.cursors["nats", "w"]
    await _deliver(log, sink)
    assert [int(each.headers[SEQUENCE]) for each in await _stored(address)] == [1, 2, 3]


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
    await second.publish([LoggedEvent(1, _event("w"), NOON)])
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
    assert messages_of(LoggedEvent(1, _event(stream), NOON), topic="topic", room=1 << 20)[-1].subject.startswith(
        subjects[:-1]
    )
