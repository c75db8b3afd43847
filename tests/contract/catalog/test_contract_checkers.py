"""Services that are asked about changes, over HTTP and over gRPC: what they are shown, and what each answer means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import grpc.aio
import pytest
from aiohttp import web

from lakeward_catalog.adapters.contracts.grpc import grpc_checker
from lakeward_catalog.adapters.contracts.http import MOST_SHOWN, http_checker
from lakeward_catalog.application.ports.gates import CheckerAway, ContractChecker, ProposedChange, Question
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_protocol.contracts.v1 import checker_pb2, checker_pb2_grpc
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.values import a_project, a_warehouse

SALES = NamespaceIdent.of(("sales", "eu"))
TOKEN = SecretStr("s3cret-of-the-checker")
SHORT, LONG = timedelta(milliseconds=200), timedelta(seconds=20)


class Outside:
    """A service that answers as it is told, and keeps what it was shown, as the HTTP document has it."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.authorization: list[str] = []
        self.says: tuple[bool, str] = (True, "")
        self.does = "answers"
        self.released = asyncio.Event()

    async def over_http(self, request: web.Request) -> web.Response:
        self.shown.append(json.loads(await request.read()))
        self.authorization.append(request.headers.get("authorization", ""))
        match self.does:
            case "hangs":
                await self.released.wait()
            case "fails":
                return web.Response(status=500, text="stack of the checker")
            case "floods":
                return web.json_response({"allowed": True, "reason": "x" * 200_000})
            case "mumbles":
                return web.Response(text="yes")
            case "redirects":
                raise web.HTTPTemporaryRedirect("http://127.0.0.1:9/")
            case _:
                pass
        return web.json_response({"allowed": self.says[0], "reason": self.says[1]})

    async def CheckChange(self, request: checker_pb2.CheckChangeRequest, context: Any) -> Any:
        shown: dict[str, Any] = {
            "contract": request.contract,
            "operation": request.operation,
            "principal": request.principal,
            "project-id": request.project_id,
            "warehouse-id": request.warehouse_id,
            "warehouse": request.warehouse,
            "namespace": list(request.namespace),
            "name": request.name,
            "kind": request.kind,
            "old-metadata": json.loads(request.old_metadata),
            "destination": {"namespace": list(request.destination_namespace), "name": request.destination_name},
        }
        self.shown.append(shown)
        self.authorization.append(str(dict(context.invocation_metadata()).get("authorization", "")))
        match self.does:
            case "hangs":
                await self.released.wait()
            case "fails" | "mumbles" | "redirects":
                await context.abort(grpc.StatusCode.INTERNAL, "stack of the checker")
            case "floods":
                return checker_pb2.CheckChangeResponse(allowed=True, reason="x" * 200_000)
            case _:
                pass
        return checker_pb2.CheckChangeResponse(allowed=self.says[0], reason=self.says[1])


@asynccontextmanager
async def over_http(outside: Outside, longest: timedelta) -> AsyncIterator[ContractChecker]:
    app = web.Application()
    app.router.add_post("/check", outside.over_http)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/check"
        async with http_checker(url, longest=longest, token=TOKEN, ca_file=None) as checker:
            yield checker
    finally:
        outside.released.set()
        await runner.cleanup()


@asynccontextmanager
async def over_grpc(outside: Outside, longest: timedelta) -> AsyncIterator[ContractChecker]:
    server = grpc.aio.server()
    checker_pb2_grpc.add_ContractCheckerServiceServicer_to_server(outside, server)  # type: ignore[arg-type]  # it is one by shape
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        address = f"127.0.0.1:{port}"
        async with grpc_checker(address, secure=False, longest=longest, token=TOKEN, ca_file=None) as checker:
            yield checker
    finally:
        outside.released.set()
        await server.stop(None)


@pytest.fixture(params=[over_http, over_grpc], ids=["http", "grpc"])
def ways(request: pytest.FixtureRequest) -> Any:
    return request.param


def a_rename() -> Question:
    change = ProposedChange(
        warehouse=a_warehouse(a_project("here"), "demo"),
        operation=Operation.RENAME,
        principal="oidc~4711",
        namespace=SALES,
        name="orders",
        kind=Kind.GENERIC_TABLE,
        destination=TabularIdent(NamespaceIdent.of(("gold",)), "orders"),
    )
    return Question("kept", change, b'{"next":9007199254740993}', None)


async def test_a_checker_is_shown_what_is_about_to_be_done_and_by_whom(ways: Any) -> None:
    outside, question = Outside(), a_rename()
    async with ways(outside, LONG) as checker:
        assert await checker.objection(question) is None
    assert outside.shown == [
        {
            "contract": "kept",
            "operation": "rename",
            "principal": "oidc~4711",
            "project-id": "here",
            "warehouse-id": str(question.change.warehouse.warehouse_id),
            "warehouse": "demo",
            "namespace": ["sales", "eu"],
            "name": "orders",
            "kind": "generic-table",
            "old-metadata": {"next": 9007199254740993},
            "destination": {"namespace": ["gold"], "name": "orders"},
        }
    ]
    assert outside.authorization == [f"Bearer {TOKEN.get_secret_value()}"]


@pytest.mark.parametrize(
    ("reason", "shown"),
    [("ask\r\n  first", "ask first"), ("", "it gives no reason"), ("x" * 5000, "x" * MOST_SHOWN)],
    ids=["lines", "nothing", "much"],
)
async def test_an_objection_is_shown_in_one_line_of_bounded_length(ways: Any, reason: str, shown: str) -> None:
    outside = Outside()
    outside.says = (False, reason)
    async with ways(outside, LONG) as checker:
        assert await checker.objection(a_rename()) == shown


@pytest.mark.parametrize("does", ["fails", "floods", "mumbles", "redirects"])
async def test_an_answer_that_is_none_counts_as_none_and_shows_nothing_of_it(ways: Any, does: str) -> None:
    outside = Outside()
    outside.does = does
    async with ways(outside, LONG) as checker:
        with pytest.raises(CheckerAway) as away:
            await checker.objection(a_rename())
    assert "stack" not in str(away.value)
    assert "127.0.0.1" not in str(away.value)
    assert TOKEN.get_secret_value() not in str(away.value)


async def test_a_checker_that_hangs_is_given_up(ways: Any) -> None:
    outside = Outside()
    outside.does = "hangs"
    async with ways(outside, SHORT) as checker:
        with pytest.raises(CheckerAway):
            await checker.objection(a_rename())


async def test_a_checker_that_nobody_serves_is_away() -> None:
    nowhere = SimpleNamespace(http="http://127.0.0.1:1/", grpc="127.0.0.1:1")
    async with (
        http_checker(nowhere.http, longest=LONG, token=None, ca_file=None) as by_http,
        grpc_checker(nowhere.grpc, secure=False, longest=LONG, token=None, ca_file=None) as by_grpc,
    ):
        for checker in (by_http, by_grpc):
            with pytest.raises(CheckerAway):
                await checker.objection(a_rename())
