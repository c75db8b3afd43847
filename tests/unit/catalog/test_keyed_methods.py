"""Every method whose contract says that a key makes it repeatable, sent twice under one key."""

from __future__ import annotations

import copy
from typing import Any
from uuid import uuid4

import pytest
from google.protobuf import descriptor_pool

from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.rpc import Caller
from tests.support.catalog.expectations import EXPECTED
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.house import House, a_house, refusal_of


def _is_keyed(path: str) -> bool:
    _, service, method = path.split("/")
    found = descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]
    return bool(found.GetOptions().Extensions[options_pb2.rule].repeat == options_pb2.REPEAT_KEYED)


KEYED = [
    pytest.param(path, case, id=f"{path.rpartition('.')[2]} {number}")
    for path, cases in EXPECTED.items()
    if _is_keyed(path)
    for number, case in enumerate(cases)
]


async def _called(path: str, case: Case) -> tuple[House, Any]:
    """A house after a keyed call, and the request."""
    house = await a_house()
    if case.prepare is not None:
        await case.prepare(house)
    request = case.request(house)
    request.context.idempotency_key = str(uuid4())
    await _call(house, path, request)
    return house, request


async def _call(house: House, path: str, request: Any) -> None:
    await house.host.channel(caller=Caller.CALLER_GATEWAY).unary_unary(path)(copy.deepcopy(request))


@pytest.mark.parametrize(("path", "case"), KEYED)
async def test_the_second_call_under_a_key_succeeds_and_changes_nothing(path: str, case: Case) -> None:
    house, request = await _called(path, case)
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    await _call(house, path, request)
    assert house.catalog.rows == rows
    assert house.files.stored == files


GONE_BY = (
    "/lakeward.catalog.v1.WarehouseService/DeleteWarehouse",
    "/lakeward.catalog.v1.ServerService/DeleteProject",
    "/lakeward.catalog.v1.TagService/DeleteTagDefinition",
)


# Of a warehouse, project or tag that is gone nothing is left that could be asked about.
@pytest.mark.parametrize(("path", "case"), [each for each in KEYED if each.values[0] not in GONE_BY])
async def test_a_repetition_is_authorised_again(path: str, case: Case) -> None:
    house, request = await _called(path, case)
    house.authorizer.replace()
    refusal = await refusal_of(_call(house, path, request))
    assert refusal.reason in {Reason.REASON_NO_SUCH_WAREHOUSE, Reason.REASON_NO_SUCH_PROJECT}
