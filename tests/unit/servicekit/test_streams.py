"""Methods that answer by a stream, over the wire."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from lakeward_protocol.catalog.v1 import events_pb2, events_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_protocol.events.v1 import reading_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import HistoryReads, Span
from lakeward_servicekit.events.positions import LogPlace
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.subscribing import PAGE_EVENTS, Subscriptions
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.rpc import Caller, Host, MethodRule, draining, host, rule_of_method
from lakeward_servicekit.rpc.call import Again, bind_deadline, unbind_deadline
from lakeward_servicekit.rpc.client import RemoteChannel, stub
from lakeward_servicekit.rpc.streams import OpenStreams
from tests.support.catalog.values import NOON, FreshIds
from tests.support.snapshots import NamedSnapshots
from tests.support.wire import call

PATH = "/lakeward.catalog.v1.EventService/Subscribe"
BIG = bytes(256 * 1024)


class Events(events_pb2_grpc.EventServiceServicer):
    """Answers by what the position says: so many messages, and then it waits for ever; a word is a failure."""

    def __init__(self) -> None:
        self.made, self.refuses = 0, False
        self.ended = asyncio.Event()
        self.users: list[str] = []

    async def Subscribe(
        self, request: events_pb2.SubscribeRequest, again: Again[str]
    ) -> AsyncGenerator[events_pb2.SubscribeResponse, None]:
        try:
            self.users.append(await again())
            if request.after == "breaks":
                raise ZeroDivisionError(request.after)
            for number in range(int(request.after)):
                self.made += 1
                event = reading_pb2.LoggedEvent(sequence=number, cloud_event=BIG)
                yield events_pb2.SubscribeResponse(page=reading_pb2.EventPage(events=[event]))
            if request.server:
                await asyncio.Event().wait()
            if self.refuses:
                raise Refusal(Reason.REASON_OVERLOADED, "no more")
            self.users.append(await again())
        finally:
            self.ended.set()


async def _settled(context: RequestContext) -> str:
    if context.authorization == "refused":
        raise Refusal(Reason.REASON_TOKEN_REFUSED, "the token has run out", cause="expired")
    return context.authorization


@pytest.fixture
def events() -> Events:
    return Events()


def a_host(events: Events, audit: Heard | None = None) -> Host:
    made = Host("catalog", settle=_settled, audit=audit)
    made.add(events_pb2_grpc.add_EventServiceServicer_to_server, events)
    return made


@asynccontextmanager
async def _open(port: int) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel


def _subscribed(channel: grpc.aio.Channel, *, after: str, server: bool = False, **how: Any) -> Any:
    return events_pb2_grpc.EventServiceStub(channel).Subscribe(
        events_pb2.SubscribeRequest(after=after, server=server), **how
    )


def test_a_rule_says_that_a_method_streams() -> None:
    methods = events_pb2.DESCRIPTOR.services_by_name["EventService"].methods
    assert {each.name: rule_of_method(each).streams for each in methods} == {"ReadEvents": False, "Subscribe": True}


async def test_each_message_comes_in_order_and_the_user_is_settled_whenever_the_method_asks(events: Events) -> None:
    async with a_host(events).serve("127.0.0.1:0") as port, _open(port) as channel:
        metadata = (("authorization", "anna"),)
        found = [each.page.events[0].sequence async for each in _subscribed(channel, after="3", metadata=metadata)]
    assert found == [0, 1, 2]
    assert events.users == ["anna", "anna"]


async def test_a_reader_that_takes_nothing_holds_the_method_back(events: Events) -> None:
    most = 4000
    async with a_host(events).serve("127.0.0.1:0") as port, _open(port) as channel:
        stream = _subscribed(channel, after=str(most))
        await stream.read()
        made = -1
        while made != events.made:  # until nothing more is made
            made = events.made
            await asyncio.sleep(0.2)
        assert made < 100  # of a gigabyte some megabytes, which are gRPC's own windows
        for _ in range(2 * made):
            assert (await stream.read()).page.events
        stream.cancel()
        await asyncio.wait_for(events.ended.wait(), 10)


async def test_a_server_that_drains_ends_its_streams_well_and_opens_no_others(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "SENDING_SECONDS", 3600.0)  # it waits for none that is lost
    async with asyncio.timeout(draining.DRAIN_SECONDS / 2):
        async with contextlib.AsyncExitStack() as stack:
            async with a_host(events).serve("127.0.0.1:0") as port:
                channel = await stack.enter_async_context(_open(port))
                stream = _subscribed(channel, after="1", server=True)
                assert (await stream.read()).page.events
            assert await stream.read() is grpc.aio.EOF
            assert await stream.code() is grpc.StatusCode.OK
    assert events.ended.is_set()


async def test_a_server_that_drains_breaks_off_no_message_that_is_being_written() -> None:
    """gRPC would hold such a call open until the server's patience ends."""
    streams, written, closed = OpenStreams(), list[int](), asyncio.Event()
    writing, goes_on = asyncio.Event(), asyncio.Event()

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            for number in range(1, 9):
                yield number
        finally:
            closed.set()

    async def write(number: int) -> None:
        writing.set()
        await goes_on.wait()
        written.append(number)

    carrying = asyncio.create_task(streams.carry(numbers(), write))
    await writing.wait()
    streams.end()
    goes_on.set()
    await carrying
    assert (written, closed.is_set()) == ([1], True)


async def test_more_streams_than_a_process_carries_are_refused(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "OpenStreams", lambda: OpenStreams(most=1))
    async with a_host(events).serve("127.0.0.1:0") as port, _open(port) as channel:
        stream = _subscribed(channel, after="1", server=True)
        await stream.read()
        refused = await call(channel, PATH, events_pb2.SubscribeRequest(after="1"), metadata={})
        assert isinstance(refused, Refusal)
        assert refused.reason == Reason.REASON_OVERLOADED
        stream.cancel()
        await asyncio.wait_for(events.ended.wait(), 10)


@pytest.mark.parametrize(
    ("after", "token", "reason"),
    [("1", "refused", Reason.REASON_TOKEN_REFUSED), ("breaks", "anna", Reason.REASON_INTERNAL)],
)
async def test_what_fails_ends_a_stream_as_it_ends_a_call(
    events: Events, after: str, token: str, reason: Reason.ValueType
) -> None:
    request, metadata = events_pb2.SubscribeRequest(after=after), {"authorization": token}
    async with a_host(events).serve("127.0.0.1:0") as port, _open(port) as channel:
        refused = await call(channel, PATH, request, metadata=metadata)
        assert isinstance(refused, Refusal)
        assert refused.reason == reason
        assert "ZeroDivision" not in refused.message
        remote = stub(events_pb2_grpc.EventServiceStub, RemoteChannel(channel, service="catalog", token=None))
        request.context.authorization = token
        with pytest.raises(Refusal) as caught:
            await anext(remote.Subscribe(request))
        assert caught.value.reason == reason


async def test_a_stream_within_the_process_is_the_same_one(events: Events) -> None:
    inside = stub(events_pb2_grpc.EventServiceStub, a_host(events).channel(caller=Caller.CALLER_GATEWAY))
    request = events_pb2.SubscribeRequest(after="2", context=RequestContext(authorization="anna"))
    assert [each.page.events[0].sequence async for each in inside.Subscribe(request)] == [0, 1]
    request.context.authorization = "refused"
    with pytest.raises(Refusal):
        await anext(inside.Subscribe(request))


class Heard:
    """An audit of all calls: what it heard, in order."""

    reads = True

    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []

    def done(self, rule: MethodRule, request: object, user: object, origin: object) -> None:
        del rule, request, origin
        self.heard.append(("done", user))

    def refused(self, rule: MethodRule, request: object, user: object, refusal: Refusal) -> None:
        del rule, request
        self.heard.append((refusal.message, user))

    def failed(self, rule: MethodRule, request: object, user: object) -> None:
        raise NotImplementedError


async def test_the_audit_hears_of_a_stream_when_it_is_opened_and_when_it_is_refused(events: Events) -> None:
    audit = Heard()
    inside = stub(events_pb2_grpc.EventServiceStub, a_host(events, audit).channel(caller=Caller.CALLER_GATEWAY))
    request = events_pb2.SubscribeRequest(after="2", server=True, context=RequestContext(authorization="anna"))
    stream = inside.Subscribe(request)
    for _ in range(2):
        await anext(stream)
    await stream.aclose()  # as most of them end
    assert audit.heard == [("done", "anna")]
    stream = inside.Subscribe(events_pb2.SubscribeRequest(after="1", context=RequestContext(authorization="anna")))
    opened = await anext(stream)
    assert opened.page.events
    events.refuses = True
    with pytest.raises(Refusal):
        await anext(stream)
    assert audit.heard[1:] == [("done", "anna"), ("no more", "anna")]


class Log:
    """`History` with so many events, of which some are forgotten; says how many were read at once."""

    def __init__(self, count: int) -> None:
        self.count, self.read_at_once = count, 0

    async def span(self, stream: str) -> Span:
        del stream
        return Span(1, self.count)

    async def read(self, stream: str, *, after: int, limit: int, most_bytes: int) -> list[LoggedEvent]:
        del most_bytes
        found = range(after + 1, min(after + limit, self.count) + 1)
        self.read_at_once = max(self.read_at_once, len(found))
        return [LoggedEvent(each, Event(FreshIds().uuid7(), stream, "role", "created", b"{}"), NOON) for each in found]

    async def newest(self, streams: object) -> dict[str, int]:
        del streams
        return {"authz": self.count}


def _reads(log: Log) -> HistoryReads:
    return HistoryReads(log, NamedSnapshots(), Tail(log.newest))


async def test_a_subscription_reads_on_from_where_it_is_a_page_at_a_time() -> None:
    log = Log(2 * PAGE_EVENTS + 1)

    async def admit() -> str:
        return "authz"

    pages = Subscriptions(_reads(log))(admit, LogPlace(1))
    found = [each.sequence for _ in range(2) for each in (await anext(pages)).events]
    log.count += 1  # while nobody waited
    found += [each.sequence for each in (await anext(pages)).events]
    assert found == list(range(2, log.count + 1))
    assert log.read_at_once == PAGE_EVENTS
    await pages.aclose()


async def test_a_right_that_is_gone_ends_a_subscription_before_anything_more_is_read() -> None:
    log, now, allowed = Log(3 * PAGE_EVENTS), [0.0], [True]

    async def admit() -> str:
        if not allowed[0]:
            raise Refusal(Reason.REASON_OVERLOADED, "no more")
        return "authz"

    pages = Subscriptions(_reads(log), clock=lambda: now[0])(admit, LogPlace(0))
    await anext(pages)
    now[0], allowed[0] = 4.9, False
    assert (await anext(pages)).events  # not asked again yet
    now[0] = 5.0
    with pytest.raises(Refusal, match="no more"):
        await anext(pages)


async def test_a_subscription_ends_shortly_before_the_deadline_of_its_call() -> None:
    async def admit() -> str:
        return "authz"

    token = bind_deadline(0.7)
    try:
        pages = [page async for page in Subscriptions(_reads(Log(0)))(admit, LogPlace(0))]
    finally:
        unbind_deadline(token)
    assert [(page.events, str(page.position)) for page in pages] == [([], "0")]  # at once, to say where it is
