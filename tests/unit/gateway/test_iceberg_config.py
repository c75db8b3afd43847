from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import pytest
from google.protobuf import duration_pb2

from lakeward_gateway.cycle import lines_of
from lakeward_gateway.dialects.iceberg.config import iso_duration
from lakeward_gateway.http import Header, Message
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_servicekit.errors import Reason, Refusal
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


async def test_the_configuration_lists_the_25_operations_and_those_of_generic_tables(served: World) -> None:
    served.catalog.answers["GetConfig"] = CONFIG
    endpoints = (await served.client.get("/catalog/v1/config?warehouse=demo")).json()["endpoints"]
    generic = {endpoint for endpoint in endpoints if "generic-table" in endpoint}
    assert "GET /lakekeeper/v1/{prefix}/namespaces/{namespace}/generic-tables/{table}" in generic
    assert len(endpoints) == len(set(endpoints)) == 25 + len(generic)
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


async def test_what_is_written_already_is_the_answer_that_the_catalog_gives_now() -> None:
    async with world() as served:
        path, other = "/catalog/v1/config?warehouse=demo", warehouses_pb2.GetConfigResponse(warehouse_id="other")
        said = []
        for answer in (CONFIG, other, CONFIG):
            served.catalog.answers["GetConfig"] = answer
            said.append((await served.client.get(path)).json()["overrides"]["prefix"])
        assert said == [WAREHOUSE, "other", WAREHOUSE]
        assert len(served.catalog.asked) == 3


async def test_answers_that_come_and_go_are_never_taken_for_one_another(served: World) -> None:
    for number in range(20):
        served.catalog.answers["GetConfig"] = warehouses_pb2.GetConfigResponse(warehouse_id=f"warehouse-{number}")
        told = [(await served.client.get("/catalog/v1/config?warehouse=demo")).json() for _ in range(2)]
        assert [each["overrides"]["prefix"] for each in told] == [f"warehouse-{number}"] * 2


@pytest.mark.parametrize("refusal", [Refusal(Reason.REASON_NO_SUCH_WAREHOUSE, "renamed", warehouse="demo")])
async def test_a_refusal_takes_the_place_of_what_was_written(served: World, refusal: Refusal) -> None:
    served.catalog.answers["GetConfig"] = CONFIG
    assert (await served.client.get("/catalog/v1/config?warehouse=demo")).status_code == 200
    served.catalog.answers["GetConfig"] = refusal
    assert (await served.client.get("/catalog/v1/config?warehouse=demo")).status_code == 404


async def test_each_client_gets_links_by_its_own_base_and_bytes_in_the_form_that_it_takes(served: World) -> None:
    served.catalog.answers["GetConfig"] = CONFIG
    uris, codings = set(), []
    for host in ("one.test", "two.test"):
        for coding in ("identity", "gzip", "gzip"):
            headers = {"host": host, "accept-encoding": coding}
            reply = await served.client.get("/catalog/v1/config?warehouse=demo", headers=headers)
            uris.add(reply.json()["overrides"]["uri"])
            codings.append(reply.headers.get("content-encoding", "identity"))
    assert uris == {"http://one.test/catalog", "http://two.test/catalog"}
    assert codings == ["identity", "gzip", "gzip"] * 2


class _Server:
    """As much of a request's cycle as an application replies to."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, set[bytes], bytes]] = []

    async def __call__(self, _message: Message) -> None:
        raise AssertionError("a whole reply is handed over whole")

    async def reply(self, status: int, headers: Sequence[Header], body: bytes, lines: bytes = b"") -> None:
        printed = (lines_of(headers) + lines).splitlines()
        assert len(printed) == len(set(printed))
        self.replies.append((status, set(printed), body))


@pytest.mark.parametrize("accepted", [[], [(b"accept-encoding", b"gzip")], [(b"accept-encoding", b"identity")]])
@pytest.mark.parametrize("origins", [None, ("*",)])
async def test_a_reply_that_was_sent_before_differs_by_its_requests_id_alone(
    accepted: list[Header], origins: Sequence[str] | None
) -> None:
    async with world(allow_origin=origins) as served:
        served.catalog.answers["GetConfig"] = CONFIG
        application = cast("Any", served.client)._transport.app
        server = _Server()
        for number in range(3):
            headers = [(b"host", b"lake.test"), (b"origin", b"https://a.test"), *accepted]
            scope = {
                "type": "http",
                "method": "GET",
                "scheme": "http",
                "client": ("127.0.0.1", 1),
                "raw_path": b"/catalog/v1/config",
                "query_string": b"warehouse=demo",
                "headers": [*headers, (b"x-request-id", b"r%d" % number)],
            }
            await application(scope, None, server)
        first = server.replies[0]
        assert first[0] == 200
        assert {line.partition(b":")[0] for line in first[1]} >= {
            b"Content-Type",
            b"Content-Length",
            b"Vary",
            b"Cache-Control",
            b"X-Request-Id",
        }
        for number, (status, lines, body) in enumerate(server.replies):
            assert lines == first[1] - {b"X-Request-Id: r0"} | {b"X-Request-Id: r%d" % number}
            assert (status, body) == (first[0], first[2])


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
