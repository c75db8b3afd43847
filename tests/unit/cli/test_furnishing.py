"""What a first visitor finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lakeward_cli.furnishing import WAREHOUSE, furnish
from lakeward_gateway.peers import Peers
from lakeward_protocol.catalog.v1 import server_pb2, warehouses_pb2
from lakeward_servicekit.errors import Reason, Refusal


class Answers:
    """A channel that answers or refuses by method; one that nothing is said of is a failure."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def unary_unary(self, method: str, *_: Any, **__: Any) -> Callable[[Any], Awaitable[Any]]:
        async def call(request: Any) -> Any:
            answer = self.answers[method.rpartition("/")[2]]
            if isinstance(answer, Refusal):
                raise answer
            return answer

        return call

    unary_stream = unary_unary


def peers(refusal: Refusal) -> Peers:
    stored = warehouses_pb2.Warehouse(name=WAREHOUSE, warehouse_id="w", storage_profile=b'{"endpoint": "http://s3/"}')
    catalog = Answers(
        GetServerInfo=server_pb2.GetServerInfoResponse(bootstrapped=True),
        ListWarehouses=warehouses_pb2.ListWarehousesResponse(warehouses=[stored]),
        CreateNamespace=refusal,
    )
    return Peers(authz=Answers(), catalog=catalog, vending=Answers())


class Store:
    endpoint = "http://s3"


async def test_a_start_in_read_only_maintenance_furnishes_nothing_and_goes_on() -> None:
    store: Any = Store()
    assert await furnish(peers(Refusal(Reason.REASON_MAINTENANCE, "read-only")), store) == WAREHOUSE


async def test_a_namespace_that_is_there_is_fine_and_an_outage_is_not() -> None:
    store: Any = Store()
    assert await furnish(peers(Refusal(Reason.REASON_NAMESPACE_EXISTS, "is there", namespace="d")), store) == WAREHOUSE
    with pytest.raises(Refusal):
        await furnish(peers(Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")), store)
