"""Loads that arrive together go to a catalog in another process as few calls, of which several are under way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lakeward_gateway.coalescing import coalesced_loads
from lakeward_gateway.peers import LoadTable
from lakeward_protocol.catalog.v1 import tables_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import failure_of
from lakeward_servicekit.rpc.lanes import SPREAD

TOO_LARGE = Refusal(Reason.REASON_TOO_LARGE, "it is large; ask for it alone", what="batch item", limit="1")


class Catalog:
    """Answers a batch when it is told to, each load by its table's name; tables named "large" do not go in one."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.alone: list[str] = []
        self.answers = asyncio.Semaphore(0)

    async def BatchLoadTables(self, request: pb.BatchLoadTablesRequest) -> pb.BatchLoadTablesResponse:
        self.batches.append([item.table.name for item in request.items])
        await self.answers.acquire()
        return pb.BatchLoadTablesResponse(items=map(_item, request.items))

    async def LoadTable(self, request: pb.LoadTableRequest) -> pb.LoadTableResponse:
        self.alone.append(request.table.name)
        return pb.LoadTableResponse(not_modified=request.table.name)


def _item(request: pb.LoadTableRequest) -> pb.BatchLoadTablesItem:
    if request.table.name == "large":
        return pb.BatchLoadTablesItem(failure=failure_of(TOO_LARGE))
    return pb.BatchLoadTablesItem(response=pb.LoadTableResponse(not_modified=request.table.name))


def a_load(name: str, *, request_id: str = "") -> pb.LoadTableRequest:
    request = pb.LoadTableRequest()
    request.table.name = name
    request.context.request_id = request_id
    return request


async def turns() -> None:
    """Let everything happen that waits for nothing outside."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture
def load(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> LoadTable:
    stub: Any = catalog
    loads: Any = coalesced_loads(stub)
    monkeypatch.setattr(loads._coalescer, "_patience", None)  # how long a turn takes here is the machine's affair
    made: LoadTable = loads
    return made


async def one_after_the_other(load: LoadTable, names: Sequence[str]) -> list[asyncio.Future[pb.LoadTableResponse]]:
    """Ask for each once the one before it is on its way, where it may be."""
    asked: list[asyncio.Future[pb.LoadTableResponse]] = []
    for name in names:
        asked.append(asyncio.ensure_future(load(a_load(name))))
        await turns()
    return asked


async def test_as_many_batches_are_under_way_as_calls_stay_open_and_what_comes_then_shares_the_next(
    load: LoadTable, catalog: Catalog
) -> None:
    first, later = [f"first {number}" for number in range(SPREAD)], ["later 1", "later 2", "later 3"]
    asked = await one_after_the_other(load, [*first, *later])
    assert catalog.batches == [[name] for name in first]
    catalog.answers.release()
    await turns()
    assert catalog.batches[SPREAD:] == [later]
    for _ in range(SPREAD):
        catalog.answers.release()
    assert [answer.not_modified for answer in await asyncio.gather(*asked)] == [*first, *later]


async def test_a_load_joins_no_batch_that_was_sent_though_it_is_alike_and_goes_once_that_was_answered(
    load: LoadTable, catalog: Catalog
) -> None:
    asked = await one_after_the_other(load, ["same", "same", "same"])
    assert catalog.batches == [["same"]]
    catalog.answers.release()
    await turns()
    assert catalog.batches == [["same"], ["same"]]
    catalog.answers.release()
    assert [answer.not_modified for answer in await asyncio.gather(*asked)] == ["same"] * 3


async def test_loads_of_one_moment_share_a_batch_and_those_that_differ_in_their_ids_alone_a_place(
    load: LoadTable, catalog: Catalog
) -> None:
    catalog.answers.release()
    requests = [a_load("one", request_id="a"), a_load("two"), a_load("one", request_id="b")]
    answers = await asyncio.gather(*map(load, requests))
    assert [answer.not_modified for answer in answers] == ["one", "two", "one"]
    assert catalog.batches == [["one", "two"]]
    assert [request.context.request_id for request in requests] == ["a", "", "b"]


async def test_what_is_too_large_for_a_batch_is_asked_for_alone(load: LoadTable, catalog: Catalog) -> None:
    catalog.answers.release()
    answers = await asyncio.gather(load(a_load("small")), load(a_load("large")))
    assert [answer.not_modified for answer in answers] == ["small", "large"]
    assert (catalog.batches, catalog.alone) == ([["small", "large"]], ["large"])
