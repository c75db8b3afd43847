from __future__ import annotations

from datetime import timedelta

import pytest
from google.protobuf import duration_pb2

from lakeward_gateway.dialects.iceberg.config import iso_duration
from lakeward_protocol.catalog.v1 import warehouses_pb2
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of, world

CONFIG = warehouses_pb2.GetConfigResponse(
    warehouse_id=WAREHOUSE,
    defaults={"rest-page-size": "100"},
    overrides={"k": "v"},
    idempotency_key_lifetime=duration_pb2.Duration(seconds=1800),
)


async def test_the_configuration_leads_back_here_by_the_warehouses_id(served: World) -> None:
    served.catalog.answers["GetConfig"] = CONFIG
    response = await served.client.get("/catalog/v1/config", params={"warehouse": "project/demo"})
    document = response.json()
    assert document["overrides"] == {"k": "v", "uri": "http://lake.test/catalog", "prefix": WAREHOUSE}
    assert document["defaults"]["rest-page-size"] == "100"
    assert document["idempotency-key-lifetime"] == "PT30M"
    assert served.asked.warehouse == "project/demo"


async def test_the_configuration_lists_the_25_operations(served: World) -> None:
    served.catalog.answers["GetConfig"] = CONFIG
    endpoints = (await served.client.get("/catalog/v1/config?warehouse=demo")).json()["endpoints"]
    assert len(endpoints) == len(set(endpoints)) == 25
    assert "POST /v1/{prefix}/transactions/commit" in endpoints
    assert not any("sign" in endpoint for endpoint in endpoints)


async def test_without_a_lifetime_no_idempotency_is_promised(served: World) -> None:
    served.catalog.answers["GetConfig"] = warehouses_pb2.GetConfigResponse(warehouse_id=WAREHOUSE)
    assert "idempotency-key-lifetime" not in (await served.client.get("/catalog/v1/config?warehouse=a")).json()


async def test_the_prefix_follows_its_template() -> None:
    async with world(prefix_template="lake/{warehouse_id}") as served:
        served.catalog.answers["GetConfig"] = CONFIG
        document = (await served.client.get("/catalog/v1/config?warehouse=demo")).json()
        assert document["overrides"]["prefix"] == f"lake/{WAREHOUSE}"


async def test_a_request_that_names_no_host_gets_no_links(served: World) -> None:
    response = await served.client.get("/catalog/v1/config?warehouse=demo", headers={"host": "not a host"})
    assert (response.status_code, error_of(response)["type"]) == (400, "NoHostHeader")
    assert not served.catalog.asked


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(0), "PT0S"),
        (timedelta(minutes=30), "PT30M"),
        (timedelta(days=2, seconds=5), "PT48H5S"),
        (timedelta(hours=1, minutes=1, seconds=1), "PT1H1M1S"),
    ],
)
def test_a_span_of_time_is_written_as_java_reads_it(span: timedelta, text: str) -> None:
    assert iso_duration(span) == text
