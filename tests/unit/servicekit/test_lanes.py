"""Calls that stay open answer as calls of their own do, whatever happens to the peer, the proof or the one who asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import grpc
import pytest

from lakeward_components import ports
from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_protocol.authz.v1 import decisions_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Call, Caller, Channel, Host, connect, draining, stub
from lakeward_servicekit.rpc import host as hosting
from lakeward_servicekit.rpc import lanes as under_test
from lakeward_servicekit.rpc.lanes import SPREAD, Lanes
from lakeward_servicekit.telemetry import bind, correlate, current

REFUSED = Refusal(Reason.REASON_TOO_LARGE, "the batch has too many items", what="batch", limit="256")
PATH = "/lakeward.authz.v1.DecisionService/BatchDecide"


class Decisions(decisions_pb2_grpc.DecisionServiceServicer):
    """Answers with as many items as it is asked for; three are refused, and five take for ever."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.asked: list[str] = []

    async def BatchDecide(self, request: pb.BatchDecideRequest, context: Call) -> pb.BatchDecideResponse:
        del context
        correlation = current()
        self.asked.append("" if correlation is None else correlation.request_id)
        if len(request.items) == 3:
            raise REFUSED
        if len(request.items) == 5:
            self.started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return pb.BatchDecideResponse(items=[pb.BatchDecideItem() for _ in request.items])


class Proofs:
    """Says whose calls they are, and keeps what each was proven by."""

    def __init__(self) -> None:
        self.hold = True
        self.seen: list[Mapping[str, str]] = []

    def caller_of(self, metadata: Mapping[str, str], peer_names: Iterable[str]) -> Caller.ValueType:
        del peer_names
        self.seen.append(metadata)
        return Caller.CALLER_CATALOG if self.hold else Caller.CALLER_USER


@pytest.fixture
def decisions() -> Decisions:
    return Decisions()


@pytest.fixture
def proofs() -> Proofs:
    return Proofs()


def a_host(decisions: Decisions) -> Host:
    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, decisions)
    return host


@pytest.fixture
async def channel(decisions: Decisions, proofs: Proofs) -> AsyncIterator[Channel]:
    async with (
        a_host(decisions).serve("127.0.0.1:0", workloads=proofs) as port,
        connect(f"127.0.0.1:{port}", service="authz", token=lambda peer: f"for {peer}") as remote,
    ):
        yield remote


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Lanes]:
    """Whose lane was opened, each time."""
    found: list[Lanes] = []
    original = Lanes._taken

    def taken(lanes: Lanes) -> Any:
        before = lanes._open
        lane = original(lanes)
        if lanes._open > before:
            found.append(lanes)
        return lane

    monkeypatch.setattr(Lanes, "_taken", taken)
    return found


def asker(channel: Channel) -> Any:
    """One stub, whose questions share lanes."""
    decisions = stub(decisions_pb2_grpc.DecisionServiceStub, channel)

    async def one(items: int, **kwargs: float) -> int:
        question = pb.BatchDecideRequest(items=[pb.DecideRequest() for _ in range(items)])
        return len((await decisions.BatchDecide(question, **kwargs)).items)

    return one


async def test_many_questions_take_few_calls_and_each_gets_its_own_answer(
    channel: Channel, proofs: Proofs, opened: list[Lanes]
) -> None:
    one = asker(channel)
    assert [await one(items) for items in (1, 2, 4, 0, 7, 1, 2, 4, 6)] == [1, 2, 4, 0, 7, 1, 2, 4, 6]
    assert len(opened) == SPREAD
    assert len(proofs.seen) == 9  # looked at for each question
    assert {seen["x-lakeward-workload"] for seen in proofs.seen} == {"for authz"}


async def test_questions_at_one_moment_do_not_mix(channel: Channel) -> None:
    one = asker(channel)
    sizes = [size for size in range(40) if size not in {3, 5}]
    assert await asyncio.gather(*map(one, sizes)) == sizes


@pytest.mark.parametrize("way", ["the core's batch", "for many bytes", "where gRPC hides its call"])
async def test_an_answer_goes_with_the_next_question_where_that_holds_little_and_the_call_is_in_reach(
    channel: Channel, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    both = {"SendMessageOperation", "ReceiveMessageOperation"}
    together: list[set[str]] = []
    original = under_test._CORE.execute_batch

    def execute_batch(call: object, operations: tuple[object, ...], loop: asyncio.AbstractEventLoop) -> Any:
        names = {type(operation).__name__ for operation in operations}
        if type(call).__name__ == "RPCState" and names >= both:  # the end that answers
            together.append(names)
        return original(call, operations, loop)

    monkeypatch.setattr(under_test._CORE, "execute_batch", execute_batch)
    if way == "for many bytes":
        monkeypatch.setattr(under_test, "_HELD_BYTES", 1)
    if way == "where gRPC hides its call":
        monkeypatch.setattr(under_test, "_call_of", lambda _: None)
    one = asker(channel)
    sizes = [1, 2, 4, 6, 7, 1, 2, 4, 6, 7, 8, 9]
    assert [await one(items) for items in sizes] == sizes
    assert len(sizes) == 3 * SPREAD
    # the first answer of a lane goes by itself
    batches = 2 * SPREAD if way == "the core's batch" else 0
    assert together == [both] * batches


async def test_a_refusal_arrives_whole_and_the_next_question_is_answered(channel: Channel) -> None:
    one = asker(channel)
    for _ in range(2 * SPREAD):
        with pytest.raises(Refusal) as refused:
            await one(3)
        assert (refused.value.reason, refused.value.message, refused.value.metadata) == (
            REFUSED.reason,
            REFUSED.message,
            REFUSED.metadata,
        )
        assert await one(1) == 1


async def test_a_question_beyond_its_time_is_refused_its_work_ends_and_the_next_one_is_answered(
    channel: Channel, decisions: Decisions
) -> None:
    one = asker(channel)
    seconds = 0.05
    while not decisions.started.is_set():  # the first one connects, which may take all of its time
        with pytest.raises(Refusal) as late:
            await one(5, timeout=seconds)
        assert late.value.reason == Reason.REASON_DEADLINE_EXCEEDED
        seconds *= 2
    await asyncio.wait_for(decisions.cancelled.wait(), 5)
    assert await one(2) == 2


async def test_a_question_whose_asker_goes_ends_its_work(channel: Channel, decisions: Decisions) -> None:
    one = asker(channel)
    asking = asyncio.create_task(one(5))
    await asyncio.wait_for(decisions.started.wait(), 5)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.wait_for(decisions.cancelled.wait(), 5)
    assert await one(2) == 2


async def test_a_proof_that_holds_no_more_is_refused_on_a_call_that_is_open(channel: Channel, proofs: Proofs) -> None:
    one = asker(channel)
    for _ in range(SPREAD):
        await one(1)
    proofs.hold = False
    with pytest.raises(Refusal) as refused:
        await one(1)
    assert refused.value.reason == Reason.REASON_WORKLOAD_REFUSED


async def test_what_belongs_to_a_request_goes_with_its_id(
    channel: Channel, decisions: Decisions, opened: list[Lanes]
) -> None:
    with bind(correlate("my-request", None)):
        assert await asker(channel)(1) == 1
    assert (decisions.asked, opened) == (["my-request"], [])


async def test_a_peer_that_is_started_again_is_not_the_askers_trouble(decisions: Decisions, proofs: Proofs) -> None:
    async with contextlib.AsyncExitStack() as stack:
        port, one = ports.take(given=None, last=None), None
        for _ in range(2):
            async with a_host(decisions).serve(f"127.0.0.1:{port}", workloads=proofs) as port:
                if one is None:
                    remote = await stack.enter_async_context(connect(f"127.0.0.1:{port}", service="authz"))
                    one = asker(remote)
                for _ in range(2 * SPREAD):
                    assert await one(1) == 1


@pytest.mark.parametrize("questions", [1, 3 * SPREAD])
async def test_a_server_that_ends_waits_for_no_call_that_is_open_and_idle(
    decisions: Decisions, proofs: Proofs, monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    monkeypatch.setattr(draining, "DRAIN_SECONDS", 3600.0)
    monkeypatch.setattr(draining, "SENDING_SECONDS", 3600.0)
    monkeypatch.setattr(under_test, "LASTS_SECONDS", 3600.0)
    async with contextlib.AsyncExitStack() as stack:
        async with asyncio.timeout(20), a_host(decisions).serve("127.0.0.1:0", workloads=proofs) as port:
            one = asker(await stack.enter_async_context(connect(f"127.0.0.1:{port}", service="authz")))
            for _ in range(questions):
                await one(1)
        with pytest.raises(Refusal) as gone:
            await one(1)
    assert gone.value.reason == Reason.REASON_SERVICE_UNAVAILABLE


async def test_a_question_that_meets_a_server_about_to_end_is_to_be_asked_again(
    decisions: Decisions, proofs: Proofs, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = under_test.Questions()
    monkeypatch.setattr(hosting, "Questions", lambda: questions)
    async with (
        a_host(decisions).serve("127.0.0.1:0", workloads=proofs) as port,
        connect(f"127.0.0.1:{port}", service="authz") as remote,
    ):
        questions.end()
        with pytest.raises(Refusal) as away:  # and not no answer
            await asker(remote)(1)
    assert away.value.reason == Reason.REASON_SERVICE_UNAVAILABLE
    assert decisions.asked == []


async def test_a_lane_is_left_after_its_time(
    channel: Channel, opened: list[Lanes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "LASTS_SECONDS", 0.0)
    one = asker(channel)
    for _ in range(3 * SPREAD):
        assert await one(1) == 1
        await asyncio.sleep(0.001)  # the loop's timers have their turn
    assert len(opened) > SPREAD
    assert opened[0]._open == 0


async def test_a_client_that_knows_nothing_of_open_calls_gets_one_answer(decisions: Decisions, proofs: Proofs) -> None:
    async with (
        a_host(decisions).serve("127.0.0.1:0", workloads=proofs) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as plain,
    ):
        call: Any = plain.unary_unary(PATH, pb.BatchDecideRequest.SerializeToString, pb.BatchDecideResponse.FromString)
        assert len((await call(pb.BatchDecideRequest(items=[pb.DecideRequest()]))).items) == 1
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call(pb.BatchDecideRequest(items=[pb.DecideRequest()] * 3))
    assert refused.value.code() is grpc.StatusCode.OUT_OF_RANGE
