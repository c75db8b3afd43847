"""A peer that is started again is not the caller's trouble, as long as the call may be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lakeward_components import ports
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Channel, Host, client, connect, is_serving
from tests.support.settling import as_it_came
from tests.unit.servicekit.test_rpc import Tables, a_host, stub_of


class Unwell:
    """Something that serving needs."""

    def __init__(self) -> None:
        self.away = False

    async def ping(self) -> None:
        if self.away:
            raise Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "it is away", service="it")


@pytest.fixture
def port() -> int:
    return ports.take(given=None, last=None)


@pytest.fixture
async def channel(port: int) -> AsyncIterator[Channel]:
    async with connect(f"127.0.0.1:{port}", service="catalog") as remote:
        yield remote


async def _serve(host: Host, port: int, *, until: asyncio.Event, after: asyncio.Event) -> None:
    await after.wait()
    async with host.serve(f"127.0.0.1:{port}"):
        await until.wait()


async def test_a_repeatable_call_waits_for_a_peer_that_is_just_starting(
    channel: Channel, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_RECONNECT_SECONDS", 30.0)
    stub = stub_of(channel)
    question = tables_pb2.LoadTableRequest(warehouse_id="w")
    with pytest.raises(Refusal):  # so that the channel has failed before
        await stub.LoadTable(question, timeout=0.05)
    end, begin = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(_serve(a_host(Tables()), port, until=end, after=begin))
    asking = asyncio.create_task(stub.LoadTable(question))
    begin.set()
    assert (await asking).not_modified == "w"
    end.set()
    await serving


async def test_a_call_that_is_not_repeatable_is_sent_once(channel: Channel, port: int) -> None:
    stub = stub_of(channel)
    sent: list[Any] = []
    original = stub.CommitTransaction._call

    def counted(request: Any, **options: Any) -> Any:
        sent.append(request)
        return original(request, **options)

    stub.CommitTransaction._call = counted
    with pytest.raises(Refusal) as refused:
        await stub.CommitTransaction(tables_pb2.CommitTransactionRequest())
    assert (refused.value.reason, len(sent)) == (Reason.REASON_SERVICE_UNAVAILABLE, 1)


async def test_what_the_peer_itself_refuses_as_unavailable_is_not_asked_again(port: int) -> None:
    class Away(tables_pb2_grpc.TableServiceServicer):
        asked = 0

        async def LoadTable(self, request: tables_pb2.LoadTableRequest, context: Any) -> tables_pb2.LoadTableResponse:
            self.asked += 1
            raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database can't be reached")

    host, tables = Host("catalog", settle=as_it_came), Away()
    host.add(tables_pb2_grpc.add_TableServiceServicer_to_server, tables)
    async with host.serve(f"127.0.0.1:{port}"), connect(f"127.0.0.1:{port}", service="catalog") as remote:
        with pytest.raises(Refusal) as refused:
            await stub_of(remote).LoadTable(tables_pb2.LoadTableRequest())
    assert (refused.value.reason, tables.asked) == (Reason.REASON_DATABASE_UNAVAILABLE, 1)


async def test_health_tells_of_the_moment_that_it_is_asked_at(port: int) -> None:
    host, need = a_host(Tables()), Unwell()
    host.add_probe("it", need.ping)
    async with host.serve(f"127.0.0.1:{port}"), connect(f"127.0.0.1:{port}", service="catalog") as remote:
        answers = []
        for away in (False, True, False):
            need.away = away
            answers.append(await is_serving(remote, seconds=30))
    assert answers == [True, False, True]
