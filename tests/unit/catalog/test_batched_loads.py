"""Loads that arrive together: each with its own outcome, and a large one is asked for alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.tables.loading import LoadTable, NotModified
from lakeward_catalog.transport import batching
from lakeward_catalog.transport.batching import MAX_BATCHED_BYTES, check_size
from lakeward_catalog.transport.tables import TableServicer
from lakeward_protocol.catalog.v1 import tables_pb2, types_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import a_house, context, tabular
from tests.support.catalog.values import uuid7
from tests.support.settling import as_it_came


def a_response(size: int) -> tables_pb2.LoadTableResponse:
    loaded = types_pb2.LoadedTabular(metadata=types_pb2.JsonBody(plain=b"x" * size))
    return tables_pb2.LoadTableResponse(table=loaded)


def test_a_reply_that_is_too_large_for_a_batch_is_refused_there_by_that_reason() -> None:
    with pytest.raises(Refusal) as refused:
        check_size(a_response(MAX_BATCHED_BYTES + 1))
    assert refused.value.reason == Reason.REASON_TOO_LARGE


def test_a_full_batch_of_the_largest_replies_fits_a_frame() -> None:
    check_size(a_response(MAX_BATCHED_BYTES - 64))
    assert batching.MAX_BATCH * MAX_BATCHED_BYTES < 40 * 1024 * 1024


def test_an_ordinary_reply_travels_in_a_batch() -> None:
    check_size(a_response(3 * 1024))


async def test_a_load_that_takes_long_is_left_to_be_asked_for_alone_and_its_neighbours_are_answered() -> None:
    ended = asyncio.Event()

    async def load(command: LoadTable, *, caller: Caller) -> NotModified:
        del caller
        if command.ident.name == "slow":
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
        return NotModified(command.ident.name)

    methods: Any = _methods(load)
    items = [_question(name) for name in ("one", "slow", "two")]
    answer = await methods.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items), as_it_came)
    assert [item.response.not_modified for item in answer.items] == ["one", "", "two"]
    assert answer.items[1].failure.reason == Reason.REASON_TOO_LARGE
    await asyncio.wait_for(ended.wait(), 5)


def _methods(load: Any) -> Any:
    nothing: Any = None
    return TableServicer(
        tabulars=nothing,
        load=load,
        load_credentials=nothing,
        create=nothing,
        register=nothing,
        commit=nothing,
        commit_transaction=nothing,
        report_metrics=nothing,
        referenced_by_max=10,
    )


def _question(name: str) -> tables_pb2.LoadTableRequest:
    question = tables_pb2.LoadTableRequest(warehouse_id=str(uuid7()))
    question.table.name = name
    question.table.namespace.parts.append("n")
    return question


async def test_a_batch_of_no_loads_is_answered_with_none() -> None:
    house = await a_house()
    assert await house.tables.BatchLoadTables(tables_pb2.BatchLoadTablesRequest()) == (
        tables_pb2.BatchLoadTablesResponse()
    )


async def test_an_item_whose_caller_is_refused_does_not_touch_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH_SECONDS", 60.0)
    house = await a_house()
    items = [
        tables_pb2.LoadTableRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), context=context(project_id=project)
        )
        for project in ("", "no project", "")
    ]
    answer = await house.tables.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items))
    assert [item.WhichOneof("outcome") for item in answer.items] == ["response", "failure", "response"]
    assert answer.items[1].failure.reason == Reason.REASON_MALFORMED_PROJECT_ID


async def test_each_item_is_answered_for_its_own_caller() -> None:
    seen: list[Caller] = []

    async def load(command: LoadTable, *, caller: Caller) -> NotModified:
        seen.append(caller)
        return NotModified(command.ident.name)

    async def settle(about: context_pb2.RequestContext) -> Caller:
        return Caller(principal=user(about.authorization), request_id=about.request_id)

    methods: Any = _methods(load)
    items = [_question("t") for _ in "ab"]
    for item, who in zip(items, ("oidc~anna", "oidc~bob"), strict=True):
        item.context.authorization = who
    await methods.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items), settle)
    assert [caller.principal.user_id for caller in seen] == ["oidc~anna", "oidc~bob"]
