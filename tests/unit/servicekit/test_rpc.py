"""One suite over both channels: what a caller sees must not depend on where the service runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import pkgutil
import sys
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor

import lakeward_protocol
from lakeward_protocol.authz.v1 import decisions_pb2, decisions_pb2_grpc
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2, options_pb2
from lakeward_servicekit.errors import MAX_MESSAGE, MAX_VALUE, Reason, Refusal
from lakeward_servicekit.rpc import (
    ActsFor,
    Call,
    Caller,
    Channel,
    Host,
    client,
    connect,
    failure_of,
    refusal_of,
    rule_of_method,
)
from lakeward_servicekit.rpc.methods import MUCH
from lakeward_servicekit.rpc.pipeline import fill_context
from lakeward_servicekit.telemetry import bind, correlate, current

STRANGER = Refusal(Reason.REASON_TOKEN_MISSING, "nobody is known by that; send a bearer token")
REFUSED = Refusal(Reason.REASON_NO_SUCH_TABLE, "there is no table ns.t, or ü you may not see it", table="ns.t")


class Held:
    """Something that a method holds while it answers."""


ALL_METHODS = [
    method
    for module in pkgutil.walk_packages(lakeward_protocol.__path__, "lakeward_protocol.")
    if ".v1." in module.name and module.name.endswith("_pb2")
    for service in importlib.import_module(module.name).DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def a_context(authorization: str) -> context_pb2.RequestContext:
    return context_pb2.RequestContext(authorization=authorization)


class Tables(tables_pb2_grpc.TableServiceServicer):
    """Answers by what the warehouse id says."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.refuses = REFUSED
        self.held: list[weakref.ref[Held]] = []
        self.callers: list[object] = []

    async def LoadTable(self, request: tables_pb2.LoadTableRequest, context: Any) -> tables_pb2.LoadTableResponse:
        held = Held()
        self.held.append(weakref.ref(held))
        match request.warehouse_id:
            case "refused":
                raise self.refuses
            case "refused anew":
                raise Refusal(Reason.REASON_NO_SUCH_TABLE, "there is no such table", table="t")
            case "bug":
                raise KeyError("a secret in a cause")
            case "slow":
                self.started.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise
        correlation = current()
        self.seen.append(correlation.request_id if correlation else "")
        self.callers.append(context)
        return tables_pb2.LoadTableResponse(not_modified=request.warehouse_id)

    async def DropTable(self, request: tables_pb2.DropTableRequest, context: Any) -> tables_pb2.DropTableResponse:
        return tables_pb2.DropTableResponse()

    async def BatchLoadTables(
        self, request: tables_pb2.BatchLoadTablesRequest, context: Any
    ) -> tables_pb2.BatchLoadTablesResponse:
        self.callers.append(context)
        return tables_pb2.BatchLoadTablesResponse()


async def settle(about: context_pb2.RequestContext) -> str:
    """A user is whom the words of `authorization` name."""
    if about.authorization == "a stranger":
        raise STRANGER
    return f"user {about.authorization}"


def a_host(tables: Tables, *, read_only: bool = False) -> Host:
    host = Host("catalog", settle=settle, read_only=read_only)
    host.add(tables_pb2_grpc.add_TableServiceServicer_to_server, tables)
    return host


# What the gateway tells by itself, for no user.
OF_ITS_OWN = frozenset({"lakeward.catalog.v1.StatisticsService.RecordCalls"})


@pytest.fixture
def tables() -> Tables:
    return Tables()


@pytest.fixture(params=["in process", "over the wire"])
async def channel(request: pytest.FixtureRequest, tables: Tables) -> AsyncIterator[Channel]:
    host = a_host(tables)
    if request.param == "in process":
        yield host.channel(caller=Caller.CALLER_USER)
        return
    async with host.serve("127.0.0.1:0") as port, connect(f"127.0.0.1:{port}", service="catalog") as remote:
        yield remote


def stub_of(channel: Channel) -> Any:
    return tables_pb2_grpc.TableServiceStub(channel)  # type: ignore[arg-type]


async def refusal_for(channel: Channel, warehouse_id: str, **kwargs: float) -> Refusal:
    with pytest.raises(Refusal) as refused:
        await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id=warehouse_id), **kwargs)
    return refused.value


async def test_a_refusal_arrives_with_reason_message_and_metadata(channel: Channel) -> None:
    refusal = await refusal_for(channel, "refused")
    assert (refusal.reason, refusal.message, dict(refusal.metadata)) == (
        REFUSED.reason,
        REFUSED.message,
        {"table": "ns.t"},
    )


@pytest.fixture
def no_collector() -> Iterator[None]:
    """What nothing refers to is gone at once; what refers to itself stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("warehouse_id", ["refused anew", "w"])
async def test_what_an_answered_call_held_is_not_left_to_the_garbage_collector(
    channel: Channel, tables: Tables, warehouse_id: str
) -> None:
    with contextlib.suppress(Refusal):
        await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id=warehouse_id))
    async with asyncio.timeout(5):
        while [held for held in tables.held if held() is not None]:
            await asyncio.sleep(0.001)
    assert tables.held


async def test_a_request_on_its_way_is_held_as_what_was_sent_and_not_as_a_message_too(tables: Tables) -> None:
    async with a_host(tables).serve("127.0.0.1:0") as port, connect(f"127.0.0.1:{port}", service="catalog") as remote:
        message = tables_pb2.LoadTableRequest(warehouse_id="slow")
        ours = sys.getrefcount(message)
        calling = asyncio.create_task(stub_of(remote).LoadTable(message))
        await asyncio.wait_for(tables.started.wait(), 5)
        assert sys.getrefcount(message) == ours
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)


@pytest.mark.usefixtures("no_collector")
async def test_what_could_not_be_sent_is_not_left_to_the_garbage_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_RECONNECT_SECONDS", 0.01)
    sent = bytes(1000)
    async with connect("127.0.0.1:1", service="catalog") as remote:
        load = remote.unary_unary("/lakeward.catalog.v1.TableService/LoadTable", lambda _: sent, bytes)
        ours = sys.getrefcount(sent)
        with contextlib.suppress(Refusal):
            await load(tables_pb2.LoadTableRequest())
        assert sys.getrefcount(sent) == ours


async def test_a_large_question_arrives_whole(channel: Channel) -> None:
    large = "w" * (MUCH + 1)
    answer = await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id=large))
    assert answer.not_modified == large


@pytest.mark.parametrize("method", ["LoadTable", "BatchLoadTables"], ids=["by a call", "over a lane"])
async def test_bytes_that_are_no_message_are_refused_as_that(tables: Tables, method: str) -> None:
    async with a_host(tables).serve("127.0.0.1:0") as port, connect(f"127.0.0.1:{port}", service="catalog") as remote:
        load = remote.unary_unary(f"/lakeward.catalog.v1.TableService/{method}", lambda _: b"\xff\xff", bytes)
        with pytest.raises(Refusal) as refused:
            await load(tables_pb2.LoadTableRequest())
        assert refused.value.reason == Reason.REASON_MALFORMED_DOCUMENT
        assert f"TableService/{method}" in refused.value.message
    assert not tables.callers


async def test_a_bug_shows_an_id_that_the_log_has_and_nothing_of_its_cause(
    channel: Channel, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = await refusal_for(channel, "bug")
    assert refusal.reason == Reason.REASON_INTERNAL
    assert "secret" not in refusal.message
    assert refusal.metadata["error_id"] in [getattr(record, "error_id", None) for record in caplog.records]


async def test_a_call_beyond_its_time_is_refused_and_the_next_one_works(channel: Channel, tables: Tables) -> None:
    seconds = 0.05
    while not tables.started.is_set():  # the first one connects, which may take all of its time
        with pytest.raises((Refusal, TimeoutError)) as late:
            await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id="slow"), timeout=seconds)
        assert isinstance(late.value, TimeoutError) or late.value.reason == Reason.REASON_DEADLINE_EXCEEDED
        seconds *= 2
    await asyncio.wait_for(tables.cancelled.wait(), 5)
    answer = await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id="w"))
    assert answer.not_modified == "w"


async def test_a_cancelled_call_ends_the_work_and_the_next_one_works(channel: Channel, tables: Tables) -> None:
    stub = stub_of(channel)

    async def slow() -> None:
        await stub.LoadTable(tables_pb2.LoadTableRequest(warehouse_id="slow"))

    task = asyncio.create_task(slow())
    await asyncio.wait_for(tables.started.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(tables.cancelled.wait(), 5)
    answer = await stub.LoadTable(tables_pb2.LoadTableRequest(warehouse_id="w"))
    assert answer.not_modified == "w"


async def test_a_request_id_travels_with_the_call(channel: Channel, tables: Tables) -> None:
    with bind(correlate("my-request", None)):
        await stub_of(channel).LoadTable(tables_pb2.LoadTableRequest(warehouse_id="w"))
    assert tables.seen[-1] == "my-request"


@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f600"])
async def test_a_refusal_of_a_value_of_any_length_arrives_with_its_beginning_and_its_cure(
    channel: Channel, tables: Tables, character: str
) -> None:
    for size in (100, 1_000, 10_000_000):
        long = f"the name {character * size} is too long; give a shorter one"
        tables.refuses = Refusal(Reason.REASON_INVALID_FIELD, long, field="name", value=character * size)
        refusal = await refusal_for(channel, "refused")
        assert refusal.reason == Reason.REASON_INVALID_FIELD
        assert len(refusal.message.encode()) <= MAX_MESSAGE
        assert refusal.message.startswith(f"the name {character}")
        assert refusal.message.endswith(f"{character} is too long; give a shorter one")
        assert all(len(value.encode()) <= MAX_VALUE for value in refusal.metadata.values())
        assert (len(long.encode()) > MAX_MESSAGE) == (" [...] " in refusal.message)


def test_an_empty_idempotency_key_in_the_calls_metadata_is_a_bad_one() -> None:
    with pytest.raises(Refusal) as refused:
        fill_context(tables_pb2.DropTableRequest(), {"idempotency-key": ""})
    assert refused.value.reason == Reason.REASON_IDEMPOTENCY_KEY_INVALID
    request = tables_pb2.DropTableRequest()
    fill_context(request, {"idempotency-key": "a-key"})
    assert request.context.idempotency_key == "a-key"
    fill_context(request, {"idempotency-key": ""})  # the context's own counts
    fill_context(tables_pb2.DropTableRequest(), {})


async def test_a_method_for_services_refuses_a_user(channel: Channel) -> None:
    with pytest.raises(Refusal) as refused:
        await stub_of(channel).BatchLoadTables(tables_pb2.BatchLoadTablesRequest())
    assert refused.value.reason == Reason.REASON_WORKLOAD_REFUSED


async def test_read_only_maintenance_refuses_changes_and_serves_reads(tables: Tables) -> None:
    stub = stub_of(a_host(tables, read_only=True).channel(caller=Caller.CALLER_USER))
    assert (await stub.LoadTable(tables_pb2.LoadTableRequest(warehouse_id="w"))).not_modified == "w"
    with pytest.raises(Refusal) as refused:
        await stub.DropTable(tables_pb2.DropTableRequest())
    assert refused.value.reason == Reason.REASON_MAINTENANCE


async def test_a_method_is_handed_the_user_whom_the_context_stands_for(channel: Channel, tables: Tables) -> None:
    request = tables_pb2.LoadTableRequest(warehouse_id="w", context=a_context("anna"))
    await stub_of(channel).LoadTable(request)
    assert tables.callers == ["user anna"]


async def test_a_user_who_is_refused_never_reaches_the_method(channel: Channel, tables: Tables) -> None:
    with pytest.raises(Refusal) as refused:
        await stub_of(channel).LoadTable(
            tables_pb2.LoadTableRequest(warehouse_id="bug", context=a_context("a stranger"))
        )
    assert (refused.value.reason, tables.seen) == (STRANGER.reason, [])


async def test_what_fails_while_a_user_is_settled_shows_an_id_and_nothing_of_its_cause(tables: Tables) -> None:
    async def broken(about: context_pb2.RequestContext) -> str:
        raise KeyError(f"a secret in a cause: {about.authorization}")

    host = Host("catalog", settle=broken)
    host.add(tables_pb2_grpc.add_TableServiceServicer_to_server, tables)
    refusal = await refusal_for(host.channel(caller=Caller.CALLER_USER), "w")
    assert refusal.reason == Reason.REASON_INTERNAL
    assert "secret" not in refusal.message


async def test_maintenance_and_who_may_call_are_looked_at_before_the_user_is_asked_for(tables: Tables) -> None:
    host = a_host(tables, read_only=True)
    stranger = tables_pb2.DropTableRequest(context=a_context("a stranger"))
    for caller, reason in (
        (Caller.CALLER_USER, Reason.REASON_MAINTENANCE),
        (Caller.CALLER_VENDING, Reason.REASON_WORKLOAD_REFUSED),
    ):
        with pytest.raises(Refusal) as refused:
            await stub_of(host.channel(caller=caller)).DropTable(stranger)
        assert refused.value.reason == reason


async def test_a_batch_is_handed_what_settles_each_items_user(tables: Tables) -> None:
    stub = stub_of(a_host(tables).channel(caller=Caller.CALLER_GATEWAY))
    await stub.BatchLoadTables(tables_pb2.BatchLoadTablesRequest())
    assert tables.callers == [settle]


async def test_a_method_that_acts_for_nobody_is_handed_the_call_and_settles_no_user() -> None:
    class Visible(decisions_pb2_grpc.DecisionServiceServicer):
        async def Visible(self, request: decisions_pb2.VisibleRequest, context: Call) -> decisions_pb2.VisibleResponse:
            assert context == Call(Caller.CALLER_CATALOG)
            return decisions_pb2.VisibleResponse(everything=True)

    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, Visible())
    stub: Any = decisions_pb2_grpc.DecisionServiceStub(host.channel(caller=Caller.CALLER_CATALOG))  # type: ignore[arg-type]
    assert (await stub.Visible(decisions_pb2.VisibleRequest())).everything


def test_a_method_that_acts_for_a_user_cannot_be_hosted_where_nothing_settles_who_that_is(tables: Tables) -> None:
    with pytest.raises(ValueError, match="acts for a user"):
        Host("catalog").add(tables_pb2_grpc.add_TableServiceServicer_to_server, tables)


@pytest.mark.parametrize("method", ALL_METHODS, ids=lambda method: method.full_name)
def test_every_method_says_whom_it_acts_for_and_one_that_users_reach_acts_for_them(method: MethodDescriptor) -> None:
    rule = rule_of_method(method)
    if method.full_name in OF_ITS_OWN:
        assert rule.acts_for is ActsFor.NOBODY
        return
    for_users = {Caller.CALLER_USER, Caller.CALLER_GATEWAY} & rule.callers
    assert (rule.acts_for is not ActsFor.NOBODY) == bool(for_users)


@pytest.mark.parametrize(
    ("acts_for", "request_type", "complaint"),
    [
        (options_pb2.ACTS_FOR_UNSPECIFIED, "LoadTableRequest", "does not say whom it acts for"),
        (options_pb2.ACTS_FOR_USER, "BatchLoadTablesRequest", "has no RequestContext"),
        (options_pb2.ACTS_FOR_USER_OF_EACH_ITEM, "LoadTableRequest", "of each item"),
    ],
)
def test_a_rule_that_does_not_say_whose_user_is_meant_is_refused(
    acts_for: options_pb2.ActsFor.ValueType, request_type: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        rule_of_method(a_method(acts_for, request_type))


def test_a_rule_that_lets_calls_stay_open_for_more_than_reading_is_refused() -> None:
    method = a_method(options_pb2.ACTS_FOR_NOBODY, "LoadTableRequest", repeat=options_pb2.REPEAT_IDEMPOTENT)
    with pytest.raises(ValueError, match="REPEAT_SAFE"):
        rule_of_method(method)
    safe = a_method(options_pb2.ACTS_FOR_NOBODY, "LoadTableRequest", repeat=options_pb2.REPEAT_SAFE)
    assert rule_of_method(safe).stays_open


@pytest.mark.parametrize(("said", "meant"), [(120, 120.0), (0, 30.0)])
def test_a_method_takes_as_long_as_its_rule_says_and_thirty_seconds_where_it_says_nothing(
    said: int, meant: float
) -> None:
    method = a_method(options_pb2.ACTS_FOR_NOBODY, "LoadTableRequest", seconds=said)
    assert rule_of_method(method).seconds == meant


def a_method(
    acts_for: options_pb2.ActsFor.ValueType,
    request_type: str,
    *,
    seconds: int = 0,
    repeat: options_pb2.Repeat.ValueType | None = None,
) -> MethodDescriptor:
    """A method of a contract that is made here, over a request of the catalog's; with `repeat`, its calls stay open."""
    file = descriptor_pb2.FileDescriptorProto(
        name="made.proto", package="made", syntax="proto3", dependency=[tables_pb2.DESCRIPTOR.name]
    )
    method = file.service.add(name="Service").method.add(
        name="Method",
        input_type=f".lakeward.catalog.v1.{request_type}",
        output_type=".lakeward.catalog.v1.LoadTableResponse",
    )
    rule = method.options.Extensions[options_pb2.rule]
    rule.acts_for, rule.seconds = acts_for, seconds
    if repeat is not None:
        rule.repeat, rule.stays_open = repeat, True
    pool = descriptor_pool.DescriptorPool()
    for known in _with_dependencies(tables_pb2.DESCRIPTOR):
        pool.AddSerializedFile(known)
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindServiceByName("made.Service").methods_by_name["Method"]


def _with_dependencies(file: FileDescriptor) -> list[bytes]:
    return [each for needed in file.dependencies for each in _with_dependencies(needed)] + [file.serialized_pb]


async def test_a_service_that_is_not_there_is_unavailable_by_name() -> None:
    async with connect("127.0.0.1:1", service="vending") as remote:
        refusal = await refusal_for(remote, "w")
    assert (refusal.reason, dict(refusal.metadata)) == (Reason.REASON_SERVICE_UNAVAILABLE, {"service": "vending"})


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_a_call_that_a_peer_ends_while_it_drains_is_made_again(
    code: grpc.StatusCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_RECONNECT_SECONDS", 30.0)
    asked = 0

    async def first_ends(_: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        nonlocal asked
        asked += 1
        if asked == 1:
            await context.abort(code, "")
        return tables_pb2.LoadTableResponse(not_modified="again").SerializeToString()

    server = grpc.aio.server()
    handlers = {"LoadTable": grpc.unary_unary_rpc_method_handler(first_ends)}
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("lakeward.catalog.v1.TableService", handlers),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with connect(f"127.0.0.1:{port}", service="catalog") as remote:
        assert (await stub_of(remote).LoadTable(tables_pb2.LoadTableRequest())).not_modified == "again"
    await server.stop(None)


def test_a_refusal_survives_being_an_item_of_a_batch() -> None:
    again = refusal_of(failure_of(REFUSED))
    assert (again.reason, again.message, again.metadata) == (REFUSED.reason, REFUSED.message, REFUSED.metadata)
