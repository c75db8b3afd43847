"""Which ids names have: for the gateway, which hands them to authz and shows none."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from lakeward_protocol.catalog.v1 import names_pb2, names_pb2_grpc, tabulars_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Caller, stub
from tests.support.catalog.house import House, a_house, ident

TABLE, VIEW = tabulars_pb2.TABULAR_KIND_TABLE, tabulars_pb2.TABULAR_KIND_VIEW


def names(house: House) -> names_pb2_grpc.NameServiceAsyncStub:
    found: names_pb2_grpc.NameServiceAsyncStub = stub(
        names_pb2_grpc.NameServiceStub, house.host.channel(caller=Caller.CALLER_GATEWAY)
    )
    return found


def named(house: House, *path: str, **members: Any) -> names_pb2.NamedObject:
    return names_pb2.NamedObject(**{"warehouse_id": house.warehouse_id, "namespace": ident(*path), **members})


async def test_names_are_found_in_their_order_each_of_its_own_kind() -> None:
    house = await a_house()
    orders, recent = house.tabular("orders").tabular_id, house.tabular("recent").tabular_id
    asked = {
        str(house.namespace("sales").namespace_id): named(house, "sales"),
        "as names compare": named(house, "SALES"),
        str(orders): named(house, "sales", name="orders", kind=TABLE),
        str(recent): named(house, "sales", name="Recent", kind=VIEW),
    }
    asked_twice = [*asked.values(), *asked.values()]
    ids = (await names(house).FindByName(names_pb2.FindByNameRequest(names=asked_twice))).ids
    sales = str(house.namespace("sales").namespace_id)
    assert [*ids] == [sales, sales, str(orders), str(recent)] * 2


async def test_what_nothing_is_called_has_no_id() -> None:
    house = await a_house()
    asked = [
        named(house, "nowhere"),
        named(house, "sales", "inner"),
        named(house, "sales", name="nothing", kind=TABLE),
        named(house, "sales", name="orders", kind=VIEW),
        named(house, "sales", name="", kind=TABLE),
        named(house, "sales", warehouse_id=str(uuid4())),
        named(house, *"abcdefgh"),
        named(house, "a.b"),
        named(house),
    ]
    assert [*(await names(house).FindByName(names_pb2.FindByNameRequest(names=asked))).ids] == [""] * len(asked)


@pytest.mark.parametrize("count", [0, 1001])
async def test_no_name_and_too_many_are_refused(count: int) -> None:
    house = await a_house()
    request = names_pb2.FindByNameRequest(names=[named(house, "sales")] * count)
    with pytest.raises(Refusal) as refused:
        await names(house).FindByName(request)
    assert refused.value.reason == Reason.REASON_INVALID_FIELD
