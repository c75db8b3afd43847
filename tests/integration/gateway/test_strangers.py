"""What strangers can make the gateway hold, on real sockets, and who is served meanwhile."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from lakeward_gateway import body, protocol, server
from lakeward_protocol.catalog.v1 import server_pb2, tables_pb2, types_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.integration.gateway.test_server import TABLE, error_in, exchange, running, served
from tests.unit.gateway.fakes import PREFIXED, Service

pytestmark = pytest.mark.integration

LOAD = f"GET {TABLE} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".encode()
TRANSACTION = f"{PREFIXED}/transactions/commit"
NOBODYS: dict[str, Any] = {"trusted_proxies": ()}  # loopback is a client like any other


@pytest.fixture
def catalog() -> Service:
    service = Service()
    service.answers["LoadTable"] = tables_pb2.LoadTableResponse(not_modified='"x"')
    service.answers["CommitTransaction"] = tables_pb2.CommitTransactionResponse()
    service.answers["GetServerInfo"] = server_pb2.GetServerInfoResponse()
    return service


@asynccontextmanager
async def opened(
    port: int, sent: bytes, *, address: str = "127.0.0.1"
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection over which something was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        writer.write(sent)
        await writer.drain()
        yield reader, writer
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def posted(content: bytes, *, declared: int | None = None, headers: str = "") -> bytes:
    """A commit, of which perhaps only a part is there."""
    length = len(content) if declared is None else declared
    head = f"POST {TRANSACTION} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{headers}"
    return f"{head}content-length: {length}\r\n\r\n".encode() + content


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(20):
        return await reader.read()


async def test_hundreds_of_sockets_that_drip_bodies_refuse_nobody_else(
    catalog: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "_SLOW_BODIES_OF_ONE", 20)
    monkeypatch.setattr(body, "_HURRIED_SECONDS", 0.05)
    async with (
        served(catalog, max_connections=1000, max_connections_per_client=1000) as port,
        AsyncExitStack() as stack,
    ):
        dripping = [await stack.enter_async_context(opened(port, posted(b"{", declared=1000))) for _ in range(300)]
        assert (await exchange(port, LOAD)).startswith(b"HTTP/1.1 304 ")
        assert (await exchange(port, posted(b"{}"), until=b"\r\n\r\n")).startswith(b"HTTP/1.1 204 ")
        async with asyncio.timeout(20):
            refused = [await reader.readuntil(b"\r\n\r\n") for reader, _ in dripping[20:]]
        assert {reply.split(b"\r\n", 1)[0] for reply in refused} == {b"HTTP/1.1 429 Too Many Requests"}


async def test_bombs_are_refused_while_another_client_is_served(catalog: Service) -> None:
    bomb = gzip.compress(b"{}," * 3_000_000)
    limits: dict[str, Any] = {"max_request_body_size": 32 * 1024 * 1024, "body_memory": 64 * 1024 * 1024}
    async with served(catalog, **limits) as port:
        request = posted(bomb, headers="content-encoding: gzip\r\n")
        bombs = [asyncio.create_task(exchange(port, request, until=b'stack":[]}}')) for _ in range(30)]
        assert (await exchange(port, LOAD)).startswith(b"HTTP/1.1 304 ")
        replies = await asyncio.gather(*bombs)
    assert {error_in(reply)["code"] for reply in replies} <= {413, 429}
    assert not any(isinstance(asked, tables_pb2.CommitTransactionRequest) for asked in catalog.asked)


async def test_a_large_body_of_nobody_is_refused_before_all_of_it_is_there(catalog: Service) -> None:
    catalog.answers["GetServerInfo"] = Refusal(Reason.REASON_TOKEN_MISSING, "send a token")
    async with served(catalog, max_request_body_size=10_000_000) as port:
        part = posted(b" " * 200_000, declared=9_000_000)
        reply = await exchange(port, part, until=b'stack":[]}}')
    assert error_in(reply)["code"] == 401


async def test_a_connection_beyond_the_bound_is_told_so(catalog: Service) -> None:
    waiting = asyncio.Event()

    async def slow(request: object) -> tables_pb2.LoadTableResponse:
        del request
        await waiting.wait()
        return tables_pb2.LoadTableResponse(not_modified='"late"')

    catalog.answers["LoadTable"] = slow
    async with served(catalog, max_connections=20, max_connections_per_client=16, **NOBODYS) as port:
        async with AsyncExitStack() as stack:
            busy = [await stack.enter_async_context(opened(port, LOAD)) for _ in range(16)]
            refused = await exchange(port, LOAD)
            assert refused.startswith(b"HTTP/1.1 429 ")
            assert "LAKEWARD__MAX_CONNECTIONS_PER_CLIENT" in error_in(refused)["message"]
            other = [
                await stack.enter_async_context(opened(port, LOAD, address=f"127.0.0.{index}")) for index in range(2, 6)
            ]
            async with opened(port, LOAD, address="127.0.0.9") as (reader, _):
                assert "20 connections are in use" in error_in(await until_closed(reader))["message"]
            waiting.set()
            replies = [await until_closed(reader) for reader, _ in (*busy, *other)]
        assert all(b"late" in reply for reply in replies)
        assert b"late" in await exchange(port, LOAD)


async def test_connections_that_say_nothing_give_way_to_one_that_does(catalog: Service) -> None:
    async with served(catalog, max_connections=16) as port, AsyncExitStack() as stack:
        silent = [await stack.enter_async_context(opened(port, b"GET / HT")) for _ in range(16)]
        assert (await exchange(port, LOAD)).startswith(b"HTTP/1.1 304 ")
        done, _ = await asyncio.wait(
            [asyncio.create_task(until_closed(reader)) for reader, _ in silent], return_when=asyncio.FIRST_COMPLETED
        )
        assert [each.result() for each in done] == [b""]


async def test_a_refused_body_is_not_dripped_on_for_long(catalog: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_LEFTOVER_SECONDS", 0.05)
    monkeypatch.setattr(protocol, "_WATCH_SECONDS", 0.05)
    async with served(catalog) as port, opened(port, posted(b"x", declared=999_999_999)) as (reader, _):
        assert (await until_closed(reader)).startswith(b"HTTP/1.1 413 ")


async def test_a_reply_that_nobody_reads_is_not_kept(catalog: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_WATCH_SECONDS", 0.1)
    aborted = asyncio.Event()
    abort = protocol._JoiningTransport.abort

    def watched(transport: protocol._JoiningTransport) -> None:
        assert transport.unsent > 0
        aborted.set()
        abort(transport)

    monkeypatch.setattr(protocol._JoiningTransport, "abort", watched)
    long = types_pb2.JsonBody(plain=b'{"a":"' + b"x" * 30_000_000 + b'"}')
    catalog.answers["LoadTable"] = tables_pb2.LoadTableResponse(table=types_pb2.LoadedTabular(metadata=long))
    loop = asyncio.get_running_loop()
    async with running(catalog) as (port, application):
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.setblocking(False)
            await loop.sock_connect(deaf, ("127.0.0.1", port))
            await loop.sock_sendall(deaf, LOAD)
            async with asyncio.timeout(20):
                await aborted.wait()
                while len(application.connections):
                    await asyncio.sleep(0)


async def test_a_reply_that_is_read_slowly_arrives(catalog: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at whenever some of it was taken, and not by the clock: how often that is, is the system's buffers' to say."""
    made: list[protocol.Protocol] = []
    made_before = protocol.Protocol.connection_made
    monkeypatch.setattr(
        protocol.Protocol, "connection_made", lambda own, line: (made_before(own, line), made.append(own))
    )
    size = 30_000_000
    long = types_pb2.JsonBody(plain=b'{"a":"' + b"x" * size + b'"}')
    catalog.answers["LoadTable"] = tables_pb2.LoadTableResponse(table=types_pb2.LoadedTabular(metadata=long))
    arrived, taken, looks = 0, 0, 0
    async with served(catalog) as port, opened(port, LOAD) as (reader, _):
        while piece := await reader.read(size // 20):
            arrived += len(piece)
            (own,) = made
            if own._joining.unsent and own._joining.sent > taken:
                taken, looks = own._joining.sent, looks + 1
                assert own._watch is not None
                own._watch.cancel()
                own._look()
    assert arrived > size
    assert looks > 1


async def test_requests_without_end_on_one_connection_are_refused(catalog: Service) -> None:
    waiting = asyncio.Event()

    async def slow(request: object) -> tables_pb2.LoadTableResponse:
        del request
        await waiting.wait()
        return tables_pb2.LoadTableResponse(not_modified='"late"')

    catalog.answers["LoadTable"] = slow
    request = f"GET {TABLE} HTTP/1.1\r\nhost: a\r\n\r\n".encode()
    async with served(catalog) as port:
        reply = await exchange(port, request * 500)
        assert "16 requests wait" in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["message"]
        waiting.set()
        assert (await exchange(port, request * 15 + LOAD)).count(b" 304 ") == 16


def test_more_open_files_than_the_system_allows_are_not_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1024))
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    assert server._room_for(4096) == (1024 - 512) * 4 // 5
    assert raised == [(1024, 1024)]
