"""Every sink with a real other side, for one suite over all of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import nats
import nats.errors
import psutil
from aiohttp import web
from confluent_kafka import Consumer, Message, TopicPartition
from nats.aio.msg import Msg

from lakeward_servicekit.events.kafka import KafkaAddress, KafkaSink
from lakeward_servicekit.events.nats.connection import NatsAddress
from lakeward_servicekit.events.nats.core import NatsCoreSink
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.relay import Sink
from lakeward_servicekit.events.webhook import WebhookAddress, WebhookSink
from lakeward_servicekit.secrecy import SecretStr
from tests.support.kafka import Broker
from tests.support.nats_servers import served
from tests.support.proxy import proxy

SECRET: Final = SecretStr("the secret of both sides")
# What every sink of the suite is made to refuse: events whose kind is this.
REFUSED_KIND: Final = "refused"
Arrived = tuple[str, str, int]


@dataclass
class Ground:
    """A sink and its other side.

    Attributes:
        arrived: (id, stream, sequence) of each event that is there, in its order, repetitions included.
        away: takes the other side away for a block.
        mute: lets it read and say nothing for a block; None where that is the same.
        pad: bytes by which an event is to be larger to be refused; 0: its kind alone does it.
    """

    sink: Sink
    arrived: Callable[[int], AbstractAsyncContextManager[list[Arrived]]]
    away: Callable[[], AbstractAsyncContextManager[None]]
    pad: int = 0
    mute: Callable[[], AbstractContextManager[None]] | None = None


@asynccontextmanager
async def jetstream(
    home: Path, *, batches: bool = True, answers_in: timedelta = timedelta(seconds=5)
) -> AsyncIterator[Ground]:
    """With a stream that takes several messages as one, or one that an operator made without."""
    async with _nats(home) as (url, away):
        if not batches:
            client = await nats.connect(url)
            await client.jetstream().add_stream(name="lake", subjects=["lake", "lake.>"])
            await client.close()
        sink = NatsSink(NatsAddress(away.instead_of(url), "lake", max_bytes=1 << 24, timeout=answers_in))

        @asynccontextmanager
        async def arrived(count: int) -> AsyncIterator[list[Arrived]]:
            client = await nats.connect(url)
            try:
                consumer = await client.jetstream().subscribe("lake.>", ordered_consumer=True)
                messages = [await consumer.next_msg(timeout=10) for _ in range(count)]
                yield [_of_nats(each) for each in messages]
                with contextlib.suppress(TimeoutError):
                    raise AssertionError(f"one more: {await consumer.next_msg(timeout=0.1)}")
            finally:
                await client.close()

        yield Ground(sink, arrived, away.gone, mute=away.mute)
        await sink.close()


@asynccontextmanager
async def jetstream_singly(home: Path, *, answers_in: timedelta = timedelta(seconds=5)) -> AsyncIterator[Ground]:
    async with jetstream(home, batches=False, answers_in=answers_in) as ground:
        yield ground


@asynccontextmanager
async def nats_core(home: Path, *, answers_in: timedelta = timedelta(seconds=5)) -> AsyncIterator[Ground]:
    async with _nats(home) as (url, away):
        client = await nats.connect(url)
        heard = await client.subscribe("lake.>")
        await client.flush()
        sink = NatsCoreSink(NatsAddress(away.instead_of(url), "lake", timeout=answers_in))

        @asynccontextmanager
        async def arrived(count: int) -> AsyncIterator[list[Arrived]]:
            messages = [await heard.next_msg(timeout=10) for _ in range(count)]
            with contextlib.suppress(nats.errors.TimeoutError):  # what was given up may have come all the same
                while True:
                    messages.append(await heard.next_msg(timeout=0.1))
            yield [_of_nats(each) for each in messages]

        yield Ground(sink, arrived, away.gone, mute=away.mute)
        await sink.close()
        await client.close()


@dataclass
class _Away:
    """A way that can be closed."""

    line: object
    gone: Callable[[], AbstractAsyncContextManager[None]] = field(repr=False)
    mute: Callable[[], AbstractContextManager[None]] = field(repr=False)
    instead_of: Callable[[str], str] = field(repr=False)


@asynccontextmanager
async def _nats(home: Path) -> AsyncIterator[tuple[str, _Away]]:
    """A server that lets nobody publish what is to be refused: its URL, and a way there."""
    deny = {"publish": {"deny": [f"lake.*.{REFUSED_KIND}.>"]}}
    users = [{"user": "lakeward", "password": "known", "permissions": deny}]
    async with served(home, authorization={"users": users}) as bare:
        url = bare.replace("nats://", "nats://lakeward:known@")
        parts = urlsplit(url)
        async with proxy(parts.hostname or "", parts.port or 0) as line:

            @asynccontextmanager
            async def gone() -> AsyncIterator[None]:
                await line.refuse()
                line.cut_all()
                yield
                await line.accept()

            @contextlib.contextmanager
            def mute() -> Iterator[None]:
                line.pause()
                yield
                line.resume()

            yield url, _Away(line, gone, mute, line.instead_of)


@asynccontextmanager
async def webhook(home: Path) -> AsyncIterator[Ground]:
    del home
    taken: list[Arrived] = []
    is_away = False

    async def take(request: web.Request) -> web.Response:
        event = await request.json()
        if is_away:
            return web.Response(status=503, text="x" * 1_000_000)
        if event.get("kind") == REFUSED_KIND:
            return web.Response(status=422, text="not this one")
        headers = request.headers
        taken.append((event["id"], headers["Lakeward-Stream"], int(headers["Lakeward-Sequence"])))
        return web.Response(status=204)

    @asynccontextmanager
    async def gone() -> AsyncIterator[None]:
        nonlocal is_away
        is_away = True
        yield
        is_away = False

    @asynccontextmanager
    async def arrived(count: int) -> AsyncIterator[list[Arrived]]:
        assert len(taken) == count
        yield list(taken)

    async with receiver(take) as url:
        sink = WebhookSink(WebhookAddress(url, SECRET))
        yield Ground(sink, arrived, gone)
        await sink.close()


@asynccontextmanager
async def receiver(take: Callable[[web.Request], object]) -> AsyncIterator[str]:
    """The URL of a server whose every POST is taken so."""
    application = web.Application()
    application.router.add_post("/events", take)  # type: ignore[arg-type]
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield (
            f"{site.name}/events"
            if not site.name.endswith(":0")
            else f"http://127.0.0.1:{runner.addresses[0][1]}/events"
        )
    finally:
        await runner.cleanup()


def kafka(broker: Broker, topic: str) -> Callable[[Path], AbstractAsyncContextManager[Ground]]:
    """A topic of a broker."""

    @asynccontextmanager
    async def ground(home: Path) -> AsyncIterator[Ground]:
        del home
        settings = {"bootstrap.servers": broker.address, "message.timeout.ms": "8000", "message.max.bytes": "100000"}
        sink = KafkaSink(KafkaAddress(topic, {name: SecretStr(value) for name, value in settings.items()}))

        @asynccontextmanager
        async def gone() -> AsyncIterator[None]:
            assert broker.pid is not None
            os.kill(broker.pid, signal.SIGSTOP)
            await _until_stopped(broker.pid)
            try:
                yield
            finally:
                os.kill(broker.pid, signal.SIGCONT)

        @asynccontextmanager
        async def arrived(count: int) -> AsyncIterator[list[Arrived]]:
            messages = await asyncio.to_thread(consumed, broker, topic, count)
            yield [_of_kafka(each) for each in messages]

        yield Ground(sink, arrived, gone, pad=200_000)
        await sink.close()

    return ground


async def _until_stopped(pid: int) -> None:
    """A signal stops a process once one of its threads has taken it: on a busy machine the others go on for a while."""
    async with asyncio.timeout(30):
        while not _is_stopped(pid):
            await asyncio.sleep(0.01)


def _is_stopped(pid: int) -> bool:
    try:
        return all(psutil.Process(each.id).status() == psutil.STATUS_STOPPED for each in psutil.Process(pid).threads())
    except psutil.NoSuchProcess:  # a thread that ended meanwhile
        return False


def headers_of(message: Message) -> dict[str, bytes]:
    """A message's headers, each of which has a value."""
    return {name: value for name, value in dict(message.headers() or []).items() if isinstance(value, bytes)}


def _of_kafka(message: Message) -> Arrived:
    headers = headers_of(message)
    return headers["ce_id"].decode(), headers["lakeward-stream"].decode(), int(headers["lakeward-sequence"])


def _of_nats(message: Msg) -> Arrived:
    headers = message.headers or {}
    return headers["Nats-Msg-Id"], message.subject.split(".")[1], int(headers["Lakeward-Sequence"])


def consumed(broker: Broker, topic: str, count: int) -> list[Message]:
    """All messages of a topic of one partition, at least `count`; what was given up may have come all the same."""
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": topic, "log_level": 0})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        messages: list[Message] = []
        there = max(count, consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])
        while len(messages) < there:
            got = consumer.consume(there - len(messages), timeout=10)
            assert got, f"{len(messages)} of {there} came"
            assert not [each.error() for each in got if each.error()]
            messages += got
        return messages
    finally:
        consumer.close()


def body(number: int, kind: str, *, event_id: str, pad: int = 0) -> bytes:
    """A CloudEvent of a type that upstream has not."""
    document = {
        "specversion": "1.0",
        "id": event_id,
        "type": "createNamespace",
        "kind": kind,
        "pad": "x" * pad,
        "data": {"number": number},
    }
    return json.dumps(document).encode()
