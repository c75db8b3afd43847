"""Requests that are alike and arrive together share one answer, which is never older than any of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lakeward_gateway.http import Request, Response
from lakeward_gateway.sharing import Shared
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal

PATH = b"/catalog/v1/w/namespaces/n/tables/t"


def a_request(
    path: bytes = PATH,
    *,
    query: bytes = b"",
    tag: bytes | None = None,
    takes_gzip: bool = False,
    request_id: str = "",
    delegation: tuple[context_pb2.Delegation.ValueType, ...] = (),
    **context: str,
) -> Request:
    return Request(
        method="GET",
        raw_path=path,
        arguments=(),
        query_string=query,
        headers={} if tag is None else {b"if-none-match": tag},
        context=context_pb2.RequestContext(request_id=request_id, delegation=delegation, **context),
        takes_gzip=takes_gzip,
        body=b"",
    )


class Table:
    """Answers with how often it was asked, once it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.let = asyncio.Event()
        self.let.set()
        self.failure: Exception | None = None

    async def __call__(self, _request: Request, /) -> Response:
        self.asked += 1
        mine = self.asked
        await self.let.wait()
        if self.failure is not None:
            raise self.failure
        return Response(200, body=b"%d" % mine)


@pytest.fixture
def table() -> Table:
    return Table()


async def test_alike_requests_of_one_turn_are_asked_once_whatever_they_are_called(table: Table) -> None:
    shared = Shared(table)
    answers = await asyncio.gather(*(shared(a_request(request_id=str(n))) for n in range(20)))
    assert (table.asked, {answer.body for answer in answers}) == (1, {b"1"})


DIFFERENT: dict[str, Callable[[], Request]] = {
    "another path": lambda: a_request(PATH + b"2"),
    "another query": lambda: a_request(query=b"snapshots=refs"),
    "another tag": lambda: a_request(tag=b'W/"x"'),
    "another encoding": lambda: a_request(takes_gzip=True),
    "another token": lambda: a_request(authorization="Bearer other"),
    "another link base": lambda: a_request(base_uri="https://other"),
    "another project": lambda: a_request(project_id="other"),
    "another role": lambda: a_request(assumed_role="other"),
    "another client": lambda: a_request(user_agent="other"),
    "another delegation": lambda: a_request(delegation=(context_pb2.DELEGATION_REMOTE_SIGNING,)),
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT)
async def test_a_request_that_differs_is_asked_by_itself(table: Table, other: Callable[[], Request]) -> None:
    shared = Shared(table)
    one, two = await asyncio.gather(shared(a_request(authorization="Bearer mine")), shared(other()))
    assert (table.asked, one.body == two.body) == (2, False)


async def test_a_request_never_joins_one_that_was_asked_already(table: Table) -> None:
    shared = Shared(table)
    table.let.clear()
    first = asyncio.create_task(shared(a_request()))
    while not table.asked:
        await asyncio.sleep(0)
    second = asyncio.create_task(shared(a_request()))
    while table.asked < 2:
        await asyncio.sleep(0)
    table.let.set()
    assert [(await first).body, (await second).body] == [b"1", b"2"]


@pytest.mark.parametrize("failure", [Refusal(Reason.REASON_NO_SUCH_TABLE, "gone", table="t"), ValueError("a fault")])
async def test_a_failure_is_everyones(table: Table, failure: Exception) -> None:
    shared = Shared(table)
    table.failure = failure
    answers = await asyncio.gather(*(shared(a_request()) for _ in range(3)), return_exceptions=True)
    assert [(type(answer), str(answer)) for answer in answers] == [(type(failure), str(failure))] * 3
    assert table.asked == 1


@pytest.mark.parametrize("turns", range(4))
async def test_a_client_that_goes_takes_the_answer_from_nobody(table: Table, turns: int) -> None:
    shared = Shared(table)
    table.let.clear()
    leader, *others = [asyncio.create_task(shared(a_request())) for _ in range(4)]
    for _ in range(turns):
        await asyncio.sleep(0)
    leader.cancel()
    others.pop().cancel()
    table.let.set()
    bodies = {(await other).body for other in others}
    assert len(bodies) == 1
    with pytest.raises(asyncio.CancelledError):
        await leader
