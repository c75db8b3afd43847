"""What strangers' bodies take, and who is served meanwhile."""

from __future__ import annotations

import asyncio
import gzip
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from lakeward_gateway import body
from lakeward_gateway.encoding import Inflating
from lakeward_gateway.http import Request
from lakeward_gateway.memory import SMALL, Holding
from lakeward_protocol.catalog.v1 import server_pb2, tables_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.methods import MUCH
from tests.unit.gateway.fakes import PREFIXED, World, error_of, world

TRANSACTION = f"{PREFIXED}/transactions/commit"
TABLE = f"{PREFIXED}/namespaces/a/tables/t"
KNOWN = server_pb2.GetServerInfoResponse()
DONE = tables_pb2.CommitTransactionResponse()
# 300,000 bytes that deflate to a quarter
LARGE = bytes(random.Random(7).choices(b"abcd", k=300_000))
ROOM: dict[str, Any] = {"max_request_body_size": 400_000, "body_memory": 1_150_000}
ZIPPED = {"content-encoding": "gzip"}


class Held:
    """A commit that waits for a word."""

    def __init__(self, served: World) -> None:
        self.begun = asyncio.Semaphore(0)
        self.release = asyncio.Event()
        served.catalog.answers["CommitTransaction"] = self

    async def __call__(self, request: object) -> tables_pb2.CommitTransactionResponse:
        self.begun.release()
        await self.release.wait()
        return DONE


def with_body(content: bytes) -> Request:
    return Request(
        method="POST",
        raw_path=b"/",
        arguments=(),
        query_string=b"",
        headers={},
        context=context_pb2.RequestContext(),
        takes_gzip=False,
        body=content,
    )


def sent(content: bytes, *, zipped: bool) -> tuple[bytes, dict[str, str]]:
    return (gzip.compress(content, 1), ZIPPED) if zipped else (content, {})


async def commit(
    served: World, content: bytes = LARGE, *, zipped: bool = False, sender: str = "198.51.100.1"
) -> httpx.Response:
    content, headers = sent(content, zipped=zipped)
    headers = {**headers, "x-forwarded-for": sender}
    return await served.client.post(TRANSACTION, content=content, headers=headers)


@pytest.mark.parametrize("zipped", [False, True])
async def test_a_body_above_some_kilobytes_is_not_held_for_a_caller_that_nobody_knows(zipped: bool) -> None:
    async with world(**ROOM) as served:
        served.catalog.answers["GetServerInfo"] = Refusal(Reason.REASON_TOKEN_REFUSED, "not good", cause="expired")
        response = await commit(served, zipped=zipped)
        assert (response.status_code, error_of(response)["type"]) == (401, "AuthenticationFailed")
        assert [type(message) for message in served.catalog.asked] == [server_pb2.GetServerInfoRequest]


@pytest.mark.parametrize("zipped", [False, True])
async def test_a_small_body_goes_to_the_catalog_without_a_question(zipped: bool) -> None:
    async with world(**ROOM) as served:
        served.catalog.answers["CommitTransaction"] = DONE
        assert (await commit(served, LARGE[:65_536], zipped=zipped)).status_code == 204
        assert served.asked.body == LARGE[:65_536]


async def test_who_calls_is_asked_once_in_a_while_by_the_token_alone() -> None:
    async with world(**ROOM) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN, "CommitTransaction": DONE}
        headers = {"authorization": "Bearer mine", "idempotency-key": "nonsense", "x-project-id": "?"}
        for _ in range(3):
            assert (await served.client.post(TRANSACTION, content=LARGE, headers=headers)).status_code == 204
        (question,) = (each for each in served.catalog.asked if isinstance(each, server_pb2.GetServerInfoRequest))
        assert question.context.authorization == "Bearer mine"
        assert not question.context.idempotency_key
        assert not question.context.project_id


async def test_a_caller_that_was_refused_is_asked_for_again() -> None:
    async with world(**ROOM) as served:
        served.catalog.answers |= {"GetServerInfo": Refusal(Reason.REASON_TOKEN_MISSING, "no token")}
        assert (await commit(served)).status_code == 401
        served.catalog.answers |= {"GetServerInfo": KNOWN, "CommitTransaction": DONE}
        assert (await commit(served)).status_code == 204


@pytest.mark.parametrize("zipped", [False, True])
async def test_bodies_count_by_what_they_hold_until_their_requests_end(zipped: bool) -> None:
    async with world(client_address="127.0.0.1", **ROOM) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN}
        held = Held(served)
        under_way = [
            asyncio.create_task(commit(served, zipped=zipped, sender=f"198.51.100.{index}")) for index in range(2)
        ]
        for _ in under_way:
            await held.begun.acquire()
        refused = await commit(served, zipped=zipped, sender="198.51.100.9")
        assert (error_of(refused)["code"], refused.headers["retry-after"]) == (429, "1")
        served.catalog.answers["CreateTable"] = Refusal(Reason.REASON_NO_SUCH_NAMESPACE, "no", namespace="a")
        small = await served.client.post(f"{PREFIXED}/namespaces/a/tables", content=b"{}")
        assert small.status_code == 404
        held.release.set()
        assert [(await each).status_code for each in under_way] == [204, 204]
        assert (await commit(served, zipped=zipped)).status_code == 204


async def test_one_client_gets_half_of_the_room_for_large_bodies() -> None:
    async with world(client_address="127.0.0.1", **ROOM) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN}
        held = Held(served)
        first = asyncio.create_task(commit(served, sender="2001:db8::1"))
        await held.begun.acquire()
        refused = await commit(served, sender="2001:db8::ffff")
        assert refused.status_code == 429
        assert "one address" in error_of(refused)["message"]
        other = asyncio.create_task(commit(served, sender="2001:db8:0:1::1"))
        await held.begun.acquire()
        held.release.set()
        assert [(await each).status_code for each in (first, other)] == [204, 204]


@pytest.mark.parametrize("ending", ["refused", "failed", "late", "broken"])
async def test_a_request_gives_its_room_back_however_it_ends(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks_off() -> AsyncIterator[bytes]:
        yield LARGE
        await asyncio.Event().wait()

    monkeypatch.setattr(body, "_GRACE_SECONDS", -292.95)
    async with world(**ROOM) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN}
        served.catalog.answers["CommitTransaction"] = {
            "refused": Refusal(Reason.REASON_NO_SUCH_WAREHOUSE, "no", warehouse="w"),
            "failed": ZeroDivisionError(),
        }.get(ending, DONE)
        for _ in range(5):
            if ending == "late":
                assert (await served.client.post(TRANSACTION, content=breaks_off())).status_code == 408
            elif ending == "broken":
                assert (await served.client.post(TRANSACTION, content=LARGE, headers=ZIPPED)).status_code == 400
            else:
                assert (await commit(served)).status_code == {"refused": 404, "failed": 500}[ending]
        served.catalog.answers["CommitTransaction"] = DONE
        assert (await commit(served)).status_code == 204


async def stalled() -> AsyncIterator[bytes]:
    yield b"{"
    await asyncio.Event().wait()


async def dripping(times: int = 1_000_000) -> AsyncIterator[bytes]:
    for _ in range(times):
        yield b" "
        await asyncio.sleep(0)


@pytest.mark.parametrize("slowly", [stalled, dripping])
async def test_a_body_that_drips_is_a_408(
    slowly: Callable[[], AsyncIterator[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "_GRACE_SECONDS", 0.02)
    monkeypatch.setattr(body, "_SLOWEST_BYTES_PER_SECOND", 1e9)
    async with world() as served:
        refused = await served.client.post(TABLE, content=slowly())
        assert (error_of(refused)["code"], error_of(refused)["type"]) == (408, "RequestTimeout")
        assert not served.catalog.asked


async def test_a_body_that_keeps_the_pace_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "_GRACE_SECONDS", 0.0)
    monkeypatch.setattr(body, "_SLOWEST_BYTES_PER_SECOND", 0.001)
    async with world() as served:
        served.catalog.answers["CommitTransaction"] = DONE
        assert (await served.client.post(TRANSACTION, content=dripping(1000))).status_code == 204
        assert served.asked.body == b" " * 1000


async def test_bodies_that_drip_take_no_place_among_requests_under_way() -> None:
    async with world(max_in_flight=1) as served:
        served.catalog.answers["LoadTable"] = tables_pb2.LoadTableResponse(not_modified='"x"')
        dripping = [asyncio.create_task(served.client.post(TABLE, content=stalled())) for _ in range(20)]
        await asyncio.sleep(0)
        assert (await served.client.get(TABLE)).status_code == 304
        for each in dripping:
            each.cancel()
        await asyncio.gather(*dripping, return_exceptions=True)


async def test_a_client_with_too_many_slow_bodies_has_further_ones_refused_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(body, "_SLOW_BODIES_OF_ONE", 2)
    monkeypatch.setattr(body, "_HURRIED_SECONDS", 0.05)
    async with world(client_address="127.0.0.1") as served:
        served.catalog.answers["CommitTransaction"] = DONE
        slow = {"x-forwarded-for": "198.51.100.1"}
        dripping = [asyncio.create_task(served.client.post(TABLE, content=stalled(), headers=slow)) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await served.client.post(TABLE, content=stalled(), headers=slow)
        assert (error_of(refused)["code"], refused.headers["retry-after"]) == (429, "1")
        assert (await commit(served, b"{}", sender="198.51.100.1")).status_code == 204
        assert not any(each.done() for each in dripping)
        for each in dripping:
            each.cancel()
        await asyncio.gather(*dripping, return_exceptions=True)


async def test_a_query_of_thousands_of_parameters_is_a_bad_request(served: World) -> None:
    response = await served.client.get(f"{TABLE}?{'a&' * 20_000}")
    assert (response.status_code, error_of(response)["type"]) == (400, "BadRequestException")
    assert "at most 1000 parameters" in error_of(response)["message"]


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        (b"[" + b"{}," * 10_000 + b"{}]", "10000 objects and arrays"),
        (b"[" + b"0," * 100_000 + b"0]", "100000 members and elements"),
        (b"[" * 64 + b"]" * 64, "64 levels of nesting"),
        (b'["' + b" " * 300_000 + b'",' + b"{}," * 10_000 + b"{}]", "10000 objects and arrays"),
    ],
)
@pytest.mark.parametrize("path", [f"{PREFIXED}/namespaces", "/management/v1/warehouse", "/management/v1/bootstrap"])
async def test_a_document_that_would_make_many_objects_is_refused_before_it_makes_any(
    path: str, inside: bytes, what: str
) -> None:
    async with world(max_request_body_size=1_000_000, body_memory=4_000_000) as served:
        served.catalog.answers["GetServerInfo"] = KNOWN
        response = await served.client.post(path, content=b'{"namespace":["a"],"unheard-of":' + inside + b"}")
        assert (response.status_code, error_of(response)["type"]) == (400, "BadRequestException")
        assert what in error_of(response)["message"]
        assert all(isinstance(asked, server_pb2.GetServerInfoRequest) for asked in served.catalog.asked)


def test_a_body_that_was_passed_on_is_not_held_by_its_request_too() -> None:
    request = with_body(LARGE)
    assert request.take_body() is LARGE
    assert request.body == b""


async def test_of_many_at_once_who_are_one_caller_one_is_asked_for() -> None:
    async with world(max_request_body_size=400_000, body_memory=10_000_000) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN, "CommitTransaction": DONE}
        replies = await asyncio.gather(*(commit(served) for _ in range(5)))
        assert [reply.status_code for reply in replies] == [204] * 5
        assert sum(isinstance(each, server_pb2.GetServerInfoRequest) for each in served.catalog.asked) == 1


async def test_what_is_being_inflated_is_counted_before_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    step = Inflating.step
    async with world(max_request_body_size=4_000_000, body_memory=16_000_000) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN, "CommitTransaction": DONE}
        take = Holding.take

        def taken(holding: Holding, size: int) -> None:
            take(holding, size)
            held.append(holding.size)

        def stepped(inflating: Inflating, size: int) -> bytes:
            text = step(inflating, size)
            if size > 65_536:
                assert held[-1] >= inflating._given
            return text

        monkeypatch.setattr(Holding, "take", taken)
        monkeypatch.setattr(Inflating, "step", stepped)
        assert (await commit(served, LARGE * 10, zipped=True)).status_code == 204
        assert max(held) > len(LARGE) * 10


async def test_few_threads_inflate_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    inflating: set[int] = set()
    most = 0
    step = Inflating.step

    def stepped(its: Inflating, size: int) -> bytes:
        nonlocal most
        if size <= SMALL:
            return step(its, size)
        inflating.add(id(its))
        most = max(most, len(inflating))
        time.sleep(0.002)
        inflating.remove(id(its))
        return step(its, size)

    monkeypatch.setattr(Inflating, "step", stepped)
    async with world(client_address="127.0.0.1", max_request_body_size=4_000_000, body_memory=64_000_000) as served:
        served.catalog.answers |= {"GetServerInfo": KNOWN, "CommitTransaction": DONE}
        sending = (commit(served, LARGE * 4, zipped=True, sender=f"198.51.100.{number}") for number in range(8))
        assert [reply.status_code for reply in await asyncio.gather(*sending)] == [204] * 8
    assert most == body._INFLATED_AT_ONCE


@pytest.mark.parametrize(("size", "rests"), [(MUCH, False), (MUCH + 1, True)])
async def test_a_large_body_is_passed_on_in_another_turn_than_its_message_was_made_in(size: int, rests: bool) -> None:
    request = with_body(bytes(size))
    others: list[str] = []

    async def call(message: tables_pb2.CommitTableRequest) -> int:
        others.append("called")
        return len(message.body)

    timer = asyncio.create_task(asyncio.sleep(0))
    timer.add_done_callback(lambda _: others.append("somebody else"))
    passed = request.carried(call, tables_pb2.CommitTableRequest(body=request.take_body()))
    assert await passed == size
    assert others == (["somebody else", "called"] if rests else ["called"])
    await timer
