"""Loads that arrive together: each with its own outcome, and a large one is asked for alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.tables.loaded import NotModified
from lakeward_catalog.application.tables.loading import LoadTable
from lakeward_catalog.transport import tables
from lakeward_catalog.transport.tables import MAX_BATCHED_BYTES, TableUseCases, _check_size
from lakeward_catalog.wiring import TableServicer
from lakeward_protocol.catalog.v1 import tables_pb2, types_pb2
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import a_house
from tests.support.catalog.values import uuid7


def a_response(size: int) -> tables_pb2.LoadTableResponse:
    loaded = types_pb2.LoadedTabular(metadata=types_pb2.JsonBody(plain=b"x" * size))
    return tables_pb2.LoadTableResponse(table=loaded)


def test_a_reply_that_is_too_large_for_a_batch_is_refused_there_by_that_reason() -> None:
    with pytest.raises(Refusal) as refused:
        _check_size(a_response(MAX_BATCHED_BYTES + 1))
    assert refused.value.reason == Reason.REASON_TOO_LARGE


def test_a_full_batch_of_the_largest_replies_fits_a_frame() -> None:
    _check_size(a_response(MAX_BATCHED_BYTES - 64))
    assert tables.MAX_BATCH * MAX_BATCHED_BYTES < 40 * 1024 * 1024


def test_an_ordinary_reply_travels_in_a_batch() -> None:
    _check_size(a_response(3 * 1024))


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
    answer = await methods.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items), None)
    assert [item.response.not_modified for item in answer.items] == ["one", "", "two"]
    assert answer.items[1].failure.reason == Reason.REASON_TOO_LARGE
    await asyncio.wait_for(ended.wait(), 5)


def _methods(load: Any) -> Any:
    class Known:
        async def authenticate(self, _context: object) -> Identified:
            return Identified(ANONYMOUS)

    nothing: Any = None
    metadata = TableUseCases(
        load=load,
        load_credentials=nothing,
        create=nothing,
        register=nothing,
        commit=nothing,
        commit_transaction=nothing,
    )
    known: Any = Known()
    return TableServicer(known, metadata, nothing)


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
