"""Calls against a server that answers byte by byte as it is told."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from lakeward_servicekit.errors import Reason
from lakeward_vending.adapters.network import calls as calls_module
from lakeward_vending.adapters.network import connections
from lakeward_vending.adapters.network.addresses import AddressGuard
from lakeward_vending.adapters.network.calls import HttpCalls, Reply
from lakeward_vending.adapters.network.refusals import ReplyTooLarge
from lakeward_vending.domain.addresses import AddressRules
from tests.support.vending.fakes import FakeResolver, refusal_of

pytestmark = pytest.mark.integration

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CUT = b""
"""Stands for a connection that is closed in place of an answer."""


class Server:
    """Answers each request of a connection with the next answer; requests are kept whole."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://store.test:{self.port}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0) if self.answers else OK
                writer.write(answer)
                await writer.drain()
                if not answer or b"connection: close" in answer:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[tuple[Server, HttpCalls]]:
    server = Server(*answers)
    listener = await asyncio.start_server(server.talk, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    resolver = FakeResolver({"store.test": [ipaddress.ip_address("127.0.0.1")]})
    calls = HttpCalls(AddressGuard(AddressRules(), resolver))
    try:
        yield server, calls
    finally:
        calls.close()
        listener.close()
        await listener.wait_closed()


async def send(calls: HttpCalls, url: str, *, body: bytes = b"", repeatable: bool = True, limit: int = 100) -> Reply:
    return await calls.send("POST", url, headers={"x-a": "1"}, body=body, repeatable=repeatable, limit=limit)


async def test_a_request_goes_out_as_it_is_and_a_connection_is_kept() -> None:
    async with serving() as (server, calls):
        for _ in range(3):
            assert await send(calls, f"{server.url}/a%2Fb?q=%20", body=b"body") == Reply(200, b"ok")
        assert server.connections == 1
        head = (
            f"POST /a%2Fb?q=%20 HTTP/1.1\r\nhost: store.test:{server.port}\r\nx-a: 1\r\ncontent-length: 4\r\n\r\nbody"
        )
        assert server.requests == [head.encode()] * 3


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
    ],
)
async def test_replies_of_every_framing_are_read_whole(answer: bytes) -> None:
    async with serving(answer) as (server, calls):
        assert await send(calls, server.url) == Reply(200, b"ok")
        assert await send(calls, server.url) == Reply(200, b"ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 307 Moved\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_a_redirect_is_returned_and_not_followed(answer: bytes) -> None:
    async with serving(answer) as (server, calls):
        assert (await send(calls, server.url)).status in {302, 307}
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        CUT,
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_a_reply_that_is_cut_or_no_reply_is_an_outage(answer: bytes) -> None:
    async with serving(answer) as (server, calls):
        refusal = await refusal_of(send(calls, server.url))
        assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORE_UNAVAILABLE, {"store": server.url})
        assert await send(calls, server.url) == Reply(200, b"ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n65\r\n" + b"x" * 101 + b"\r\n0\r\n\r\n",
    ],
)
async def test_a_reply_over_the_limit_is_not_read(answer: bytes) -> None:
    async with serving(answer) as (server, calls):
        with pytest.raises(ReplyTooLarge):
            await send(calls, server.url, limit=100)
        assert await send(calls, server.url) == Reply(200, b"ok")


async def test_a_call_on_a_kept_connection_that_was_closed_is_sent_again_if_it_may_be() -> None:
    async with serving(OK, CUT) as (server, calls):
        await send(calls, server.url)
        assert await send(calls, server.url) == Reply(200, b"ok")
        assert server.connections == 2
    async with serving() as (server, calls):
        await send(calls, server.url)
        await send(calls, server.url, repeatable=False)
        assert server.connections == 2  # one of its own: what may not be sent twice is sent on a new connection


async def test_a_cancelled_call_leaves_no_half_answered_connection_behind() -> None:
    async with serving(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhal", OK) as (server, calls):
        waiting = asyncio.create_task(send(calls, server.url))
        while not server.requests:
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await send(calls, server.url) == Reply(200, b"ok")
        assert server.connections == 2


async def test_a_large_body_arrives_whole() -> None:
    body = bytes(range(256)) * 40_000
    async with serving() as (server, calls):
        assert await send(calls, server.url, body=body) == Reply(200, b"ok")
        assert server.requests[0].endswith(body)


async def test_a_reply_that_never_ends_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "REPLY_SECONDS", 0.05)
    async with serving(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhal") as (server, calls):
        assert (await refusal_of(send(calls, server.url))).reason == Reason.REASON_STORE_UNAVAILABLE


@pytest.mark.parametrize("headers", [{"x-a": "1\r\nx-b: 2"}, {"x-a\n": "1"}])
async def test_a_line_break_in_a_head_is_a_bug_and_not_a_second_header(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="line break"):
        connections.head_of("GET", "/", headers)


async def test_a_name_that_resolves_to_a_closed_address_is_not_called() -> None:
    resolver = FakeResolver(
        {"store.test": [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("169.254.169.254")]}
    )
    calls = HttpCalls(AddressGuard(AddressRules(), resolver))
    assert (await refusal_of(send(calls, "http://store.test:1"))).reason == Reason.REASON_ADDRESS_DENIED


async def test_the_address_that_was_admitted_is_the_one_that_is_called() -> None:
    """A name that answers differently the second time leads nowhere else: it is asked once."""
    async with serving() as (server, calls):
        asked: list[str] = []
        guard = calls._guard
        inner: Callable[..., object] = guard._resolver.resolve

        async def resolve(host: str, port: int) -> object:
            asked.append(host)
            return await inner(host, port)  # type: ignore[misc] # the fake's own

        guard._resolver.resolve = resolve  # type: ignore[method-assign, assignment] # counts the questions
        await send(calls, server.url)
        assert asked == ["store.test"]
