from __future__ import annotations

import asyncio
import gzip
import json
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from lakeward_gateway.health import Probe
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.telemetry import current
from tests.unit.gateway.fakes import PREFIXED, World, error_of, world

TABLE = f"{PREFIXED}/namespaces/a/tables/t"
NAMESPACES = f"{PREFIXED}/namespaces"


@pytest.mark.parametrize(
    "path", ["/", "/nope", "/catalog", f"{PREFIXED}/tables/x/y", "/catalog/v1/config/", "/metrics"]
)
async def test_what_is_served_nowhere_is_a_404_in_the_envelope(served: World, path: str) -> None:
    response = await served.client.get(path)
    assert (response.status_code, error_of(response)["type"]) == (404, "NotFoundException")


async def test_a_path_without_its_mount_is_told_where_the_api_is(served: World) -> None:
    assert "/catalog/v1/config" in error_of(await served.client.get("/v1/config"))["message"]


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("GET", "/catalog/v1/namespaces", "/catalog/v1/{prefix}/namespaces"),
        ("GET", "/catalog/v1/namespaces/a/tables/t", "/catalog/v1/{prefix}/namespaces/{namespace}/tables/{table}"),
        ("POST", "/catalog/v1/tables/rename", "/catalog/v1/{prefix}/tables/rename"),
        ("POST", "/catalog/v1/transactions/commit", "/catalog/v1/{prefix}/transactions/commit"),
        ("DELETE", "/catalog/v1/namespaces/a/views/v", "/catalog/v1/{prefix}/namespaces/{namespace}/views/{view}"),
    ],
)
async def test_a_path_without_its_prefix_names_the_right_one(served: World, method: str, path: str, right: str) -> None:
    response = await served.client.request(method, path)
    assert (response.status_code, error_of(response)["type"]) == (400, "NoPrefixProvided")
    assert right in error_of(response)["message"]


@pytest.mark.parametrize("method", ["PATCH", "PUT", "OPTIONS", "TRACE", "BREW"])
async def test_another_method_is_a_405_that_says_which_are_served(served: World, method: str) -> None:
    response = await served.client.request(method, TABLE)
    assert (response.status_code, error_of(response)["type"]) == (405, "MethodNotAllowed")
    assert response.headers["allow"] == "DELETE, GET, HEAD, POST"


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
async def test_a_body_of_another_media_type_is_a_415(served: World, media_type: str) -> None:
    response = await served.client.post(NAMESPACES, content=b"{}", headers={"content-type": media_type})
    assert (response.status_code, error_of(response)["type"]) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"])
async def test_json_is_known_by_all_its_names(served: World, media_type: str) -> None:
    response = await served.client.post(NAMESPACES, content=b"{}", headers={"content-type": media_type})
    assert response.status_code == 400


async def test_a_body_above_the_limit_is_a_413(served: World) -> None:
    response = await served.client.post(TABLE, content=b" " * (64 * 1024 + 1))
    assert response.status_code == 413
    assert error_of(response)["type"] == "PayloadTooLarge"
    assert not served.catalog.asked


async def test_a_body_that_does_not_say_how_long_it_is_is_stopped_at_the_limit(served: World) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1024
            yield b" " * 1024

    response = await served.client.post(TABLE, content=endless())
    assert error_of(response)["code"] == 413
    assert taken < 80 * 1024


async def test_a_body_at_the_limit_is_taken(served: World) -> None:
    served.catalog.answers["CommitTransaction"] = tables_pb2.CommitTransactionResponse()
    response = await served.client.post(f"{PREFIXED}/transactions/commit", content=b" " * (64 * 1024))
    assert response.status_code == 204


async def test_a_gzipped_body_counts_by_what_it_holds(served: World) -> None:
    served.catalog.answers["CommitTransaction"] = tables_pb2.CommitTransactionResponse()
    path = f"{PREFIXED}/transactions/commit"
    zipped = {"content-encoding": "gzip"}
    assert (await served.client.post(path, content=gzip.compress(b'{"a":1}'), headers=zipped)).status_code == 204
    assert served.asked.body == b'{"a":1}'
    bomb = gzip.compress(b" " * 10_000_000)
    assert (await served.client.post(path, content=bomb, headers=zipped)).status_code == 413
    assert (await served.client.post(path, content=b"{}", headers=zipped)).status_code == 400
    assert (await served.client.post(path, content=b"{}", headers={"content-encoding": "br"})).status_code == 415


@pytest.mark.parametrize("segment", ["%ff", "%c3%28", "%ed%a0%80"])
async def test_a_segment_that_is_not_text_is_a_bad_request(served: World, segment: str) -> None:
    response = await served.client.get(f"{NAMESPACES}/{segment}")
    assert (response.status_code, error_of(response)["type"]) == (400, "BadRequestException")


async def test_a_header_twice_is_a_bad_request_with_upstreams_word(served: World) -> None:
    key = str(uuid.UUID(int=7))
    response = await served.client.get(TABLE, headers=[("idempotency-key", key), ("idempotency-key", key)])
    assert (response.status_code, error_of(response)["type"]) == (400, "DuplicateIdempotencyKey")


async def test_every_reply_says_its_request_id(served: World) -> None:
    assert (await served.client.get("/nope", headers={"x-request-id": "mine"})).headers["x-request-id"] == "mine"
    made = (await served.client.get("/nope")).headers["x-request-id"]
    assert uuid.UUID(made).version == 7


async def test_work_is_done_under_the_requests_id(served: World) -> None:
    seen: list[str] = []

    async def load(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        correlation = current()
        assert correlation is not None
        seen.append(correlation.request_id)
        return tables_pb2.LoadTableResponse(not_modified='"x"')

    served.catalog.answers["LoadTable"] = load
    await served.client.get(TABLE, headers={"x-request-id": "mine"})
    assert seen == ["mine"]


async def test_a_fault_shows_an_id_and_nothing_of_what_happened(served: World) -> None:
    served.catalog.answers["LoadTable"] = ZeroDivisionError("secret detail")
    response = await served.client.get(TABLE, headers={"authorization": "Bearer hush"})
    error = error_of(response)
    assert (error["code"], error["type"]) == (500, "InternalServerError")
    assert len(error["stack"]) == 1
    assert error["stack"][0].startswith("Error ID: ")
    assert "secret" not in response.text
    assert "hush" not in response.text


async def test_a_fault_of_the_gateways_own_reads_alike(served: World) -> None:
    served.catalog.answers["LoadTable"] = None  # no reply at all: the handler stumbles over it
    response = await served.client.get(TABLE)
    assert error_of(response)["code"] == 500
    assert error_of(response)["stack"]


async def test_an_answer_that_takes_too_long_is_a_504() -> None:
    async def never(request: object) -> None:
        del request
        await asyncio.Event().wait()

    async with world(max_request_time=timedelta(milliseconds=20)) as served:
        served.catalog.answers |= {"LoadTable": never, "CommitTable": never}
        assert error_of(await served.client.get(TABLE))["code"] == 504
        error = error_of(await served.client.post(TABLE, json={}))
        assert (error["code"], error["type"]) == (504, "CommitStateUnknownException")


async def test_a_body_that_does_not_arrive_is_a_408_even_for_a_commit() -> None:
    async def stalled() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with world(max_request_time=timedelta(milliseconds=20)) as served:
        error = error_of(await served.client.post(TABLE, content=stalled()))
        assert (error["code"], error["type"]) == (408, "RequestTimeout")
        assert not served.catalog.asked


async def test_more_requests_than_are_served_at_once_are_a_429_before_any_work() -> None:
    release = asyncio.Event()
    begun = asyncio.Event()

    async def slow(request: object) -> tables_pb2.LoadTableResponse:
        del request
        begun.set()
        await release.wait()
        return tables_pb2.LoadTableResponse(not_modified='"x"')

    async with world(max_in_flight=1) as served:
        served.catalog.answers["LoadTable"] = slow
        first = asyncio.create_task(served.client.get(TABLE))
        await begun.wait()
        refused = await served.client.get(TABLE)
        assert (error_of(refused)["code"], refused.headers["retry-after"]) == (429, "1")
        assert (await served.client.get("/health")).status_code == 200
        release.set()
        assert (await first).status_code == 304
        assert len(served.catalog.asked) == 1
        assert (await served.client.get(TABLE)).status_code == 304


async def test_maintenance_says_when_to_come_back(served: World) -> None:
    served.catalog.answers["DropTable"] = Refusal(Reason.REASON_MAINTENANCE, "read-only")
    response = await served.client.delete(TABLE)
    assert (response.status_code, response.headers["retry-after"]) == (503, "60")
    assert error_of(response)["type"] == "MaintenanceModeError"


@pytest.mark.parametrize("path", ["/health", "/health/ready"])
@pytest.mark.parametrize(
    ("states", "status", "word"),
    [((True,), 200, "ok"), ((True, False), 503, "error"), ((True, None), 503, "unknown"), ((), 503, "error")],
)
async def test_health_is_good_only_while_everything_is(
    served: World, path: str, states: tuple[bool | None, ...], status: int, word: str
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    served.probes[:] = [Probe("catalog", f"p{index}", state, now) for index, state in enumerate(states)]
    response = await served.client.get(path)
    assert (response.status_code, response.json()["health"]) == (status, word)
    assert response.json()["maintenance_mode"] == "off"
    assert "vary" not in response.headers
    assert (await served.client.head(path)).status_code == status


async def test_a_process_lives_while_what_it_needs_does_not(served: World) -> None:
    served.probes.clear()
    assert (await served.client.get("/health/live")).status_code == 200


async def test_without_origins_browsers_are_told_nothing(served: World) -> None:
    response = await served.client.get("/health", headers={"origin": "https://app.test"})
    assert "access-control-allow-origin" not in response.headers
    assert "origin" not in response.headers.get("vary", "")


async def test_a_configured_origin_may_call_and_ask_before() -> None:
    asking = {
        "origin": "https://app.test",
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "idempotency-key",
    }
    async with world(allow_origin=("https://app.test",)) as served:
        preflight = await served.client.options(TABLE, headers=asking)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == "https://app.test"
        assert "PATCH" in preflight.headers["access-control-allow-methods"]
        for name in ("idempotency-key", "x-assume-role", "authorization", "if-none-match"):
            assert name in preflight.headers["access-control-allow-headers"]
        failed = await served.client.get("/nope", headers={"origin": "https://app.test"})
        assert failed.headers["access-control-allow-origin"] == "https://app.test"
        assert "etag" in failed.headers["access-control-expose-headers"]
        assert "origin" in failed.headers["vary"]
        other = await served.client.options(TABLE, headers={**asking, "origin": "https://evil.test"})
        assert "access-control-allow-origin" not in other.headers


async def test_every_origin_may_call_where_that_is_configured() -> None:
    async with world(allow_origin=("*",)) as served:
        response = await served.client.get("/health", headers={"origin": "https://any.test"})
        assert response.headers["access-control-allow-origin"] == "*"


async def test_a_trusted_proxys_word_reaches_the_links() -> None:
    async with world(client_address="127.0.0.1") as served:
        served.catalog.answers["LoadTable"] = tables_pb2.LoadTableResponse(not_modified='"x"')
        await served.client.get(TABLE, headers={"x-forwarded-host": "lake.example.org"})
        assert served.asked.context.base_uri == "https://lake.example.org"


async def test_a_long_plain_reply_is_compressed_for_who_takes_it(served: World) -> None:
    response = await served.client.get("/api-docs/catalog/v1/openapi.json", headers={"accept-encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert response.json()["openapi"] == "3.1.0"


async def test_the_documentation_can_be_switched_off() -> None:
    async with world(serve_swagger_ui=False) as served:
        for path in ("/swagger-ui", "/api-docs/catalog/v1/openapi.json", "/api-docs/management/v1/openapi.json"):
            assert (await served.client.get(path)).status_code == 404


async def test_the_documentation_page_loads_nothing_from_elsewhere(served: World) -> None:
    for path in ("/swagger-ui", "/swagger-ui/"):
        response = await served.client.get(path)
        assert response.status_code == 200
        assert "http://" not in response.text
        assert "https://" not in response.text
        assert "connect-src 'self'" in response.headers["content-security-policy"]


async def test_the_documents_name_every_schema_they_use(served: World) -> None:
    for name in ("catalog", "management"):
        document = (await served.client.get(f"/api-docs/{name}/v1/openapi.json")).json()
        text = json.dumps(document)
        used = {piece.split('"')[0] for piece in text.split('"#/components/schemas/')[1:]}
        assert used <= document["components"]["schemas"].keys()
