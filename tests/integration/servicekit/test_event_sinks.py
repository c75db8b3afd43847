"""One contract for every sink, each with a real other side."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
import pytest_asyncio

from lakeward_components import blocking
from lakeward_servicekit.events.relay import EventRefusedError, LoggedEvent, Sink, SinkUnavailableError
from lakeward_servicekit.secrecy import SecretStr
from tests.support import event_sinks, kafka
from tests.support.catalog.values import NOON, an_event
from tests.support.event_sinks import REFUSED_KIND, Ground
from tests.support.kafka import Broker

pytestmark = pytest.mark.integration

Making: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Ground]]
GROUNDS: dict[str, Making | None] = {
    "jetstream": event_sinks.jetstream,
    "jetstream_singly": event_sinks.jetstream_singly,
    "nats_core": event_sinks.nats_core,
    "webhook": event_sinks.webhook,
    "kafka": None,
}


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = blocking.run(kafka.start(tmp_path_factory.mktemp("kafka")))
    yield broker
    blocking.run(broker.stop(gracefully=False))


@pytest.fixture(params=GROUNDS)
def making(request: pytest.FixtureRequest, unique_name: str) -> Making:
    """Synchronous, since the broker is started outside of any loop."""
    made: Making | None = GROUNDS[request.param]
    return made or event_sinks.kafka(request.getfixturevalue("kafka_broker"), unique_name)


@pytest_asyncio.fixture(loop_scope="session")
async def ground(making: Making, tmp_path: Path) -> AsyncIterator[Ground]:
    async with making(tmp_path / "home") as ground:
        yield ground


def _events(count: int, *, stream: str = "w", kinds: dict[int, str] | None = None, pad: int = 0) -> list[LoggedEvent]:
    """So many of a stream, from 1; some of another kind, and larger."""
    made = []
    for number in range(1, count + 1):
        kind = (kinds or {}).get(number, "namespace")
        event = an_event(stream, kind, "created")
        text = event_sinks.body(number, kind, event_id=str(event.event_id), pad=pad if kind == REFUSED_KIND else 0)
        made.append(LoggedEvent(number, msgspec.structs.replace(event, body=text), NOON))
    return made


def _as_arrived(events: list[LoggedEvent]) -> list[event_sinks.Arrived]:
    return [(str(each.event.event_id), each.event.stream, each.sequence) for each in events]


async def test_a_batch_arrives_whole_and_in_order(ground: Ground) -> None:
    events = _events(40)
    await ground.sink.publish(events[:1])
    await ground.sink.publish(events[1:30])
    await ground.sink.publish(events[30:])
    async with ground.arrived(40) as arrived:
        assert arrived == _as_arrived(events)
    assert await ground.sink.position("w") in {0, 40}


async def test_who_refuses_an_event_says_so_and_takes_what_is_before_it_and_later_what_is_behind(
    ground: Ground,
) -> None:
    events = _events(7, kinds={4: REFUSED_KIND}, pad=ground.pad)
    with pytest.raises(EventRefusedError) as refused:
        await ground.sink.publish(events)
    assert refused.value.taken == 3
    with pytest.raises(EventRefusedError) as refused:
        await ground.sink.publish(events[3:4])
    assert refused.value.taken == 0
    await ground.sink.publish(events[4:])
    expected = _as_arrived(events[:3] + events[4:])
    async with ground.arrived(6) as arrived:
        assert list(dict.fromkeys(arrived)) == expected


async def test_an_other_side_that_is_away_is_noticed_and_nothing_is_lost(ground: Ground) -> None:
    events = _events(9)
    await ground.sink.publish(events[:3])
    async with ground.away():
        with pytest.raises(SinkUnavailableError) as away:
            await ground.sink.publish(events[3:])
        assert away.value.taken == 0
    await ground.sink.publish(events[3:])
    async with ground.arrived(9) as arrived:
        assert list(dict.fromkeys(arrived)) == _as_arrived(events)


@pytest.mark.parametrize("size", [0, 200_000])
@pytest.mark.parametrize("making", [event_sinks.jetstream, event_sinks.jetstream_singly, event_sinks.nats_core])
async def test_a_server_that_neither_reads_nor_answers_is_given_up_and_nothing_is_lost(
    making: Callable[..., AbstractAsyncContextManager[Ground]], size: int, tmp_path: Path
) -> None:
    """What was written to it may fill every buffer on the way: that is no wait without a bound either."""
    events = _events(60, kinds=dict.fromkeys(range(2, 61), REFUSED_KIND) if size else None, pad=size)
    events = [
        msgspec.structs.replace(each, event=msgspec.structs.replace(each.event, kind="namespace")) for each in events
    ]
    async with making(tmp_path, answers_in=timedelta(milliseconds=300)) as ground:
        assert ground.mute is not None
        await _publish_again(ground.sink, events[:1])
        with ground.mute():
            with pytest.raises(SinkUnavailableError) as mute:
                await asyncio.wait_for(ground.sink.publish(events[1:]), 30)
            assert mute.value.taken == 0
        await _publish_again(ground.sink, events[1:])
        async with ground.arrived(60) as arrived:
            assert list(dict.fromkeys(arrived)) == _as_arrived(events)


async def _publish_again(sink: Sink, events: list[LoggedEvent]) -> None:
    """As the relay does: behind what the sink says that it has, until it has all."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(SinkUnavailableError):
                reached = await sink.position(events[0].event.stream)
                await sink.publish([each for each in events if each.sequence > reached])
                return


@pytest.mark.parametrize("every", [None, "every"])
async def test_kafka_has_upstreams_events_in_its_binary_form_by_the_tabulars_id(
    kafka_broker: Broker, unique_name: str, every: str | None
) -> None:
    from lakeward_servicekit.events.kafka import KafkaAddress, KafkaSink

    document = {
        "specversion": "1.0",
        "id": "one",
        "type": "dropTable",
        "tabular-id": "the-id",
        "num-events": 1,
        "datacontenttype": "application/json",
        "data": {"where": {"namespace": ["a"]}, "purge": True},
    }
    dropped = LoggedEvent(7, an_event("w", "table", "dropped", json.dumps(document).encode()), NOON)
    whole = None if every is None else f"{unique_name}-every"
    address = KafkaAddress(unique_name, {"bootstrap.servers": SecretStr(kafka_broker.address)}, whole)
    sink = KafkaSink(address)
    await sink.publish([dropped, *_events(1)])
    await sink.close()
    [first, *rest] = event_sinks.consumed(kafka_broker, unique_name, 2 if every is None else 1)
    headers = event_sinks.headers_of(first)
    assert (first.key(), first.value()) == (b"the-id", None)
    assert headers["ce_type"] == b"dropTable"
    assert headers["ce_num-events"] == b"1"
    assert headers["ce_namespace"] == b"a"
    assert headers["content-type"] == b"application/json"
    if whole is None:
        assert [(each.key(), json.loads(each.value() or b"")) for each in rest] == [(b"w", {"number": 1})]
    else:
        own = event_sinks.consumed(kafka_broker, whole, 2)
        assert json.loads(own[0].value() or b"") == document["data"]
