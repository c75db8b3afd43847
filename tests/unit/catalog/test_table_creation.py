"""Tables that begin: staged and real ones, and where they may lie."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.domain.model import State
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, a_house, commit_body, ident, refusal_of, tabular

STAGED: dict[str, Any] = {"stage-create": True}


def create(house: House, name: str = "new", **members: Any) -> Any:
    return house.make_table("sales", name, **members)


async def test_a_staged_table_lasts_a_day_unless_its_commit_comes() -> None:
    house = await a_house()
    reply = await create(house, **STAGED)
    assert (reply.metadata_location, reply.etag) == ("", "")
    assert (house.tabular("new").state, house.tabular("new").expires_at) == (
        State.STAGED,
        house.clock.now() + timedelta(days=1),
    )
    await house.tables.CommitTable(
        tables_pb2.CommitTableRequest(
            warehouse_id=house.warehouse_id,
            table=tabular("sales", "new"),
            body=commit_body(requirements=[{"type": "assert-create"}]),
        )
    )
    assert (house.tabular("new").state, house.tabular("new").expires_at) == (State.LIVE, None)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("a_b", None),
        ("a%25b", None),
        ("orders2", None),
        ("axb/inner", Reason.REASON_LOCATION_TAKEN),
        ("AXB/inner", None),
        ("axb/", Reason.REASON_LOCATION_TAKEN),
        ("axb/../elsewhere", Reason.REASON_MALFORMED_LOCATION),
        ("axb//elsewhere", Reason.REASON_MALFORMED_LOCATION),
    ],
)
async def test_places_are_compared_by_segments_and_not_by_patterns(place: str, reason: Reason.ValueType | None) -> None:
    house = await a_house()
    await create(house, "first", location="s3://lake/demo/axb", **STAGED)  # without files, it is known by its row
    if reason is None:
        await create(house, location=f"s3://lake/demo/{place}")
    else:
        assert (await refusal_of(create(house, location=f"s3://lake/demo/{place}"))).reason == reason


async def test_a_create_refuses_a_place_where_files_are() -> None:
    house = await a_house()
    house.files.stored["s3://lake/demo/there/data/1.parquet"] = b""
    refusal = await refusal_of(create(house, location="s3://lake/demo/there"))
    assert refusal.reason == Reason.REASON_LOCATION_NOT_EMPTY


async def test_a_load_whose_credential_can_not_be_issued_fails_and_does_not_come_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()

    async def refused(*_: Any, **__: Any) -> None:
        raise Refusal(Reason.REASON_CREDENTIAL_NOT_ISSUED, "STS would not", store="s3")

    monkeypatch.setattr(house.access, "vend", refused)
    load = house.tables.LoadTable(
        tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    assert (await refusal_of(load)).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED


async def test_a_table_is_listed_in_its_own_casing_below_a_namespace_in_its_own() -> None:
    house = await a_house()
    body = json.dumps({"name": "Upper", "schema": {"type": "struct", "fields": []}}).encode()
    await house.tables.CreateTable(
        tables_pb2.CreateTableRequest(warehouse_id=house.warehouse_id, namespace=ident("SALES"), body=body)
    )
    assert house.tabular("Upper").ident.namespace.parts == ("sales",)
    listed = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("SaLeS"))
    )
    assert [(list(each.namespace.parts), each.name) for each in listed.identifiers] == [
        (["sales"], "orders"),
        (["sales"], "Upper"),
    ]
