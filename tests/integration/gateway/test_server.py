"""The gateway on a real socket: what only shows there."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from lakeward_gateway import protocol
from lakeward_gateway.asgi import Application
from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.health import Probe
from lakeward_gateway.peers import Peers
from lakeward_gateway.server import bound_socket, serve
from lakeward_gateway.settings import GatewaySettings
from lakeward_protocol.catalog.v1 import tables_pb2, types_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Caller, Channel, connect, failure_of
from tests.support.http import NOBODY
from tests.unit.gateway.fakes import PREFIXED, Service, hosts, server_settings

pytestmark = pytest.mark.integration

TABLE = f"{PREFIXED}/namespaces/a/tables/t"
AS_PRINTED = re.compile(r"ETag|WWW-Authenticate|[A-Z][a-z]*(-[A-Z][a-z]*)*")


async def readiness() -> Sequence[Probe]:
    return ()


@asynccontextmanager
async def running(
    catalog: Service, *, catalog_channel: Channel | None = None, **settings: Any
) -> AsyncIterator[tuple[int, Application]]:
    """A gateway's port, and itself."""
    authz_host, catalog_host, vending_host = hosts(Service(), catalog, Service())
    peers = Peers(
        authz=authz_host.channel(caller=Caller.CALLER_GATEWAY),
        catalog=catalog_channel or catalog_host.channel(caller=Caller.CALLER_GATEWAY),
        vending=vending_host.channel(caller=Caller.CALLER_GATEWAY),
    )
    listener = bound_socket("127.0.0.1", 0)
    async with (
        gateway(GatewaySettings(server_settings(**settings)), peers=peers, readiness=readiness) as application,
        serve(application, listener=listener) as port,
    ):
        yield port, application


@asynccontextmanager
async def served(catalog: Service, *, catalog_channel: Channel | None = None, **settings: Any) -> AsyncIterator[int]:
    """A gateway's port; `settings` are changes of the server's."""
    async with running(catalog, catalog_channel=catalog_channel, **settings) as (port, _):
        yield port


@pytest.fixture
def catalog() -> Service:
    service = Service()
    service.answers["LoadTable"] = tables_pb2.LoadTableResponse(not_modified='"x"')
    return service


async def exchange(port: int, request: bytes, *, until: bytes = b"") -> bytes:
    """What comes back for raw bytes, to the end of the connection or to a mark."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    await writer.drain()
    try:
        async with asyncio.timeout(20):
            return await (reader.readuntil(until) if until else reader.read())
    finally:
        writer.close()
        await writer.wait_closed()


def error_in(reply: bytes) -> dict[str, Any]:
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"Content-Type: application/json" in head
    error: dict[str, Any] = json.loads(body)["error"]
    return error


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nbroken header\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"x" * 70_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 257 + b"\r\n",
    ],
    ids=["no request", "version", "bytes in path", "header", "long header", "long path", "two lengths", "headers"],
)
async def test_what_is_not_http_is_refused_in_the_envelope(catalog: Service, request_bytes: bytes) -> None:
    async with served(catalog) as port:
        reply = await exchange(port, request_bytes)
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert error_in(reply)["type"] == "BadRequestException"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (f"GET {TABLE}", 304),
        (f"HEAD {TABLE}", 204),
        (f"POST {PREFIXED}/namespaces", 400),
        (f"BREW {TABLE}", 400),
        (f"PATCH {TABLE}", 405),
        (f"GET {PREFIXED}/namespaces/a/tables/kept", 401),
        (f"GET {PREFIXED}/namespaces/a/tables/busy", 429),
        (f"OPTIONS {TABLE}", 204),
        ("GET /nope", 404),
        ("GET /health", 503),
        ("HEAD /health/live", 200),
        ("GET /swagger-ui", 200),
        ("GET /api-docs/catalog/v1/openapi.json", 200),
        ("GET / HTTP/9.9 HTTP/1.1", 400),
    ],
)
async def test_every_reply_has_header_names_as_the_standards_print_them(
    catalog: Service, request_line: str, status: int
) -> None:
    async def answer(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        if request.table.name == "kept":
            raise Refusal(Reason.REASON_TOKEN_MISSING, "who is it?")
        if request.table.name == "busy":
            raise Refusal(Reason.REASON_OVERLOADED, "too much at once")
        return tables_pb2.LoadTableResponse(not_modified='"x"')

    catalog.answers |= {"LoadTable": answer, "TableExists": tables_pb2.TableExistsResponse()}
    asked = (
        "host: a\r\norigin: https://console.test\r\naccess-control-request-method: GET\r\n"
        "accept-encoding: gzip\r\nconnection: close\r\n"
    )
    async with served(catalog, allow_origin=("*",)) as port:
        reply = await exchange(port, f"{request_line} HTTP/1.1\r\n{asked}\r\n".encode())
    first, *lines = reply.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert first.startswith(f"HTTP/1.1 {status} ")
    names = {line.partition(":")[0] for line in lines}
    assert {"X-Request-Id", "Connection"} <= names
    assert [name for name in names if not AS_PRINTED.fullmatch(name)] == []


async def test_even_a_reply_of_the_server_itself_has_such_names(
    catalog: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(application: Application, scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("no reply")

    monkeypatch.setattr(Application, "__call__", broken)
    async with served(catalog) as port:
        reply = await exchange(port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 500 ")
    lines = reply.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    assert {line.partition(":")[0] for line in lines} >= {"Date", "Content-Type", "Content-Length", "Connection"}


async def test_a_request_without_a_host_is_served(catalog: Service) -> None:
    async with served(catalog) as port:
        reply = await exchange(port, f"GET {TABLE} HTTP/1.0\r\n\r\n".encode())
    assert reply.startswith(b"HTTP/1.1 304 ")
    assert catalog.asked[0].context.base_uri == ""


async def test_no_reply_names_its_server_and_each_has_a_date(catalog: Service) -> None:
    async with served(catalog) as port, httpx.AsyncClient(verify=NOBODY, base_url=f"http://127.0.0.1:{port}") as client:
        headers = (await client.get(TABLE)).headers
    assert "server" not in headers
    assert "date" in headers
    assert "content-length" not in headers
    assert "transfer-encoding" not in headers


async def test_a_client_that_waits_to_be_told_to_continue_is_refused_before_it_sends(catalog: Service) -> None:
    async with served(catalog) as port:
        head = (
            f"POST {TABLE} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            f"content-length: 999999\r\nexpect: 100-continue\r\n\r\n"
        )
        reply = await exchange(port, head.encode(), until=b"\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 413 ")


async def test_a_body_above_the_limit_is_refused_to_a_client_that_sends_all_of_it(catalog: Service) -> None:
    async with served(catalog) as port, httpx.AsyncClient(verify=NOBODY, base_url=f"http://127.0.0.1:{port}") as client:
        response = await client.post(TABLE, content=b" " * 5_000_000)
        assert response.status_code == 413
        assert (await client.get(TABLE)).status_code == 304


async def test_requests_in_a_row_on_one_connection_are_answered_in_order(catalog: Service) -> None:
    async def answer(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        return tables_pb2.LoadTableResponse(not_modified=f'"{request.table.name}"')

    catalog.answers["LoadTable"] = answer
    path = f"{PREFIXED}/namespaces/a/tables"
    requests = "".join(f"GET {path}/{name} HTTP/1.1\r\nhost: a\r\n\r\n" for name in ("one", "two"))
    requests += f"GET {path}/three HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    async with served(catalog) as port:
        reply = await exchange(port, requests.encode())
    assert [line for line in reply.split(b"\r\n") if line.startswith(b"ETag")] == [
        b'ETag: "one"',
        b'ETag: "two"',
        b'ETag: "three"',
    ]


async def test_an_upgrade_that_is_not_offered_is_answered_as_if_nobody_had_asked(catalog: Service) -> None:
    catalog.answers["CommitTransaction"] = tables_pb2.CommitTransactionResponse()
    upgrade = "host: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"
    body = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    async with served(catalog) as port:
        assert b" 304 " in await exchange(port, f"GET {TABLE} HTTP/1.1\r\n{upgrade}\r\n".encode(), until=b"\r\n\r\n")
        commit = f"POST {PREFIXED}/transactions/commit HTTP/1.1\r\n{upgrade}{body}"
        assert b" 204 " in await exchange(port, commit.encode(), until=b"\r\n\r\n")
        again = f"GET {TABLE} HTTP/1.1\r\n{upgrade}\r\nGET {TABLE} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        assert (await exchange(port, again.encode())).count(b" 304 ") == 2
    assert catalog.asked[1].body == b"{}"


async def test_what_is_under_way_is_finished_when_the_server_stops(catalog: Service) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def slow(request: object) -> tables_pb2.LoadTableResponse:
        del request
        begun.set()
        await release.wait()
        return tables_pb2.LoadTableResponse(not_modified='"late"')

    catalog.answers["LoadTable"] = slow
    async with httpx.AsyncClient(verify=NOBODY) as client:
        async with served(catalog) as port:
            request = asyncio.create_task(client.get(f"http://127.0.0.1:{port}{TABLE}"))
            await begun.wait()
            asyncio.get_running_loop().call_later(0.3, release.set)
        assert (await request).headers["etag"] == '"late"'
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{port}{TABLE}")


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost", f"GET {TABLE} HTTP/1.1\r\nhost: a\r\n\r\n".encode()])
async def test_a_connection_that_stays_silent_is_closed(
    catalog: Service, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a whole request may take its time to arrive
    for seconds in (
        "_KEEP_ALIVE_SECONDS",
        "_WATCH_SECONDS",
        *(() if sent.endswith(b"\r\n\r\n") else ("_HEAD_SECONDS",)),
    ):
        monkeypatch.setattr(protocol, seconds, 0.05)
    async with served(catalog) as port:
        reply = await exchange(port, sent)
    assert reply.startswith(b"HTTP/1.1 304 ") if sent.endswith(b"\r\n\r\n") else reply == b""


async def test_a_connection_that_waits_for_its_answer_is_left_open(
    catalog: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds in ("_KEEP_ALIVE_SECONDS", "_WATCH_SECONDS"):
        monkeypatch.setattr(protocol, seconds, 0.02)
    release = asyncio.Event()

    async def slow(request: object) -> tables_pb2.LoadTableResponse:
        del request
        asyncio.get_running_loop().call_later(0.3, release.set)
        await release.wait()
        return tables_pb2.LoadTableResponse(not_modified='"late"')

    catalog.answers["LoadTable"] = slow
    async with served(catalog) as port:
        assert b"late" in await exchange(port, f"GET {TABLE} HTTP/1.1\r\nhost: a\r\n\r\n".encode(), until=b"\r\n\r\n")


async def test_ipv6_listeners_take_ipv4_too() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    listener = bound_socket("::", 0)
    try:
        with socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=5):
            pass
    finally:
        listener.close()


class _Batches(Service):
    """A catalog whose loads are asked for in batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    async def LoadTable(self, request: tables_pb2.LoadTableRequest, call: Any) -> tables_pb2.LoadTableResponse:
        del call
        return self.load(request, alone=True)

    async def BatchLoadTables(
        self, request: tables_pb2.BatchLoadTablesRequest, call: Any
    ) -> tables_pb2.BatchLoadTablesResponse:
        del call
        self.batches.append(len(request.items))
        return tables_pb2.BatchLoadTablesResponse(items=[self._item(item) for item in request.items])

    def _item(self, item: tables_pb2.LoadTableRequest) -> tables_pb2.BatchLoadTablesItem:
        try:
            return tables_pb2.BatchLoadTablesItem(response=self.load(item, alone=False))
        except Refusal as refusal:
            return tables_pb2.BatchLoadTablesItem(failure=failure_of(refusal))

    def load(self, request: tables_pb2.LoadTableRequest, *, alone: bool) -> tables_pb2.LoadTableResponse:
        name = request.table.name
        if name == "absent":
            raise Refusal(Reason.REASON_NO_SUCH_TABLE, "absent", table=name)
        if name == "large" and not alone:
            raise Refusal(Reason.REASON_TOO_LARGE, "too large for a batch", what="item", limit="1048576")
        body = types_pb2.JsonBody(plain=json.dumps({"name": name, "who": request.context.authorization}).encode())
        return tables_pb2.LoadTableResponse(table=types_pb2.LoadedTabular(etag=f'"{name}"', metadata=body))


async def test_loads_of_a_remote_catalog_travel_together_and_stay_apart() -> None:
    catalog = _Batches()
    _, host, _ = hosts(Service(), catalog, Service())
    workloads = type("Gateway", (), {"caller_of": lambda *_: Caller.CALLER_GATEWAY})()
    async with (
        host.serve("127.0.0.1:0", workloads=workloads) as grpc_port,
        connect(f"127.0.0.1:{grpc_port}", service="catalog") as channel,
        served(catalog, catalog_channel=channel) as port,
        httpx.AsyncClient(verify=NOBODY, base_url=f"http://127.0.0.1:{port}") as client,
    ):
        names = [*(f"t{index}" for index in range(30)), "absent", "large"]
        responses = await asyncio.gather(
            *(
                client.get(f"{PREFIXED}/namespaces/a/tables/{name}", headers={"authorization": f"Bearer {name}"})
                for name in names
            )
        )
    by_name = dict(zip(names, responses, strict=True))
    assert by_name["absent"].status_code == 404
    for name, response in by_name.items():
        if name != "absent":
            assert response.json()["metadata"] == {"name": name, "who": f"Bearer {name}"}
    assert sum(catalog.batches) > len(catalog.batches)
