from __future__ import annotations

import logging
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import signing_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import PREFIXED, WAREHOUSE, World, error_of

TABULAR = "0198e000-0000-7000-8000-0000000000ff"
SIGNER = f"/catalog/v1/signer/{WAREHOUSE}/tabular-id/{TABULAR}/v1/aws/s3/sign"
REQUEST: dict[str, Any] = {
    "region": "local",
    "uri": "https://s3.test/b/k?x-id=GetObject",
    "method": "get",
    "headers": {"Host": ["s3.test"], "x": ["1", "2"]},
}


def answer(*, cacheable: bool) -> signing_pb2.SignS3RequestResponse:
    return signing_pb2.SignS3RequestResponse(
        uri=REQUEST["uri"],
        headers={"Authorization": signing_pb2.HeaderValues(values=["AWS4-HMAC-SHA256 x"])},
        cacheable=cacheable,
    )


@pytest.mark.parametrize(
    ("path", "tabular"),
    [
        (SIGNER, TABULAR),
        (f"{PREFIXED}/v1/aws/s3/sign", ""),
        (f"/catalog/{WAREHOUSE}/v1/aws/s3/sign", ""),
        (f"/{WAREHOUSE}/v1/aws/s3/sign", ""),
    ],
)
async def test_a_request_is_signed_at_every_path_that_clients_know(served: World, path: str, tabular: str) -> None:
    served.catalog.answers["SignS3Request"] = answer(cacheable=True)
    response = await served.client.post(path, json=REQUEST)
    assert response.status_code == 200
    assert response.json() == {"uri": REQUEST["uri"], "headers": {"Authorization": ["AWS4-HMAC-SHA256 x"]}}
    asked = served.asked
    assert (asked.warehouse_id, asked.tabular_id, asked.method) == (WAREHOUSE, tabular, "GET")
    assert {name: list(line.values) for name, line in asked.headers.items()} == REQUEST["headers"]
    assert not asked.HasField("body")


@pytest.mark.parametrize(("cacheable", "header"), [(True, "private"), (False, "no-cache")])
async def test_the_http_header_says_whether_a_signature_may_be_used_again(
    served: World, cacheable: bool, header: str
) -> None:
    served.catalog.answers["SignS3Request"] = answer(cacheable=cacheable)
    response = await served.client.post(SIGNER, json=REQUEST)
    assert response.headers.get_list("cache-control") == [header]


@pytest.mark.parametrize(
    ("path", "headers", "properties"),
    [
        (SIGNER, {"x-lakeward-signer-scope": "s"}, None),
        (f"{SIGNER}?scope=s", {}, None),
        (SIGNER, {}, {"x-lakeward-signer-scope": "s"}),
    ],
    ids=["header", "query", "properties"],
)
async def test_the_scope_of_a_load_comes_back_in_any_of_three_ways(
    served: World, path: str, headers: dict[str, str], properties: dict[str, str] | None
) -> None:
    served.catalog.answers["SignS3Request"] = answer(cacheable=True)
    await served.client.post(path, json={**REQUEST, "properties": properties}, headers=headers)
    assert served.asked.scope == "s"


@pytest.mark.parametrize(
    "outcome",
    [answer(cacheable=True), Refusal(Reason.REASON_NO_SUCH_TABLE, "unknown", table="t"), RuntimeError("a bug")],
    ids=["signed", "refused", "failed"],
)
@pytest.mark.parametrize("place", ["header", "query", "properties"])
async def test_a_scope_is_in_no_log_line(
    served: World, caplog: pytest.LogCaptureFixture, outcome: Any, place: str
) -> None:
    served.catalog.answers["SignS3Request"] = outcome
    scope = "c2NvcGUtdGhhdC1pcy1hLXNlY3JldA"
    with caplog.at_level(logging.DEBUG):
        await served.client.post(
            f"{SIGNER}?scope={scope}" if place == "query" else SIGNER,
            json={**REQUEST, "properties": {"x-lakeward-signer-scope": scope} if place == "properties" else None},
            headers={"x-lakeward-signer-scope": scope} if place == "header" else {},
        )
    assert served.asked.scope == scope
    ours = [record for record in caplog.records if record.name.startswith("lakeward")]
    assert bool(ours) != isinstance(outcome, signing_pb2.SignS3RequestResponse)
    assert not [record for record in ours if scope in str(vars(record)) + logging.Formatter().format(record)]


async def test_a_body_that_the_signature_needs_goes_along(served: World) -> None:
    served.catalog.answers["SignS3Request"] = answer(cacheable=False)
    await served.client.post(SIGNER, json={**REQUEST, "method": "POST", "body": "<Delete/>", "provider": "s3"})
    assert served.asked.body == b"<Delete/>"


async def test_another_provider_is_refused(served: World) -> None:
    response = await served.client.post(SIGNER, json={**REQUEST, "provider": "gcs"})
    assert response.status_code == 400
    assert not served.catalog.asked


@pytest.mark.parametrize("path", ["/catalog/v1/aws/s3/sign", "/v1/aws/s3/sign"])
async def test_signing_without_a_prefix_names_the_right_path(served: World, path: str) -> None:
    response = await served.client.post(path, json=REQUEST)
    error = error_of(response)
    assert (error["code"], error["type"]) == (400, "NoPrefixProvided")
    assert "/catalog/v1/{prefix}/v1/aws/s3/sign" in error["message"]


async def test_an_unknown_table_is_a_bad_request_at_the_older_paths(served: World) -> None:
    served.catalog.answers["SignS3Request"] = Refusal(Reason.REASON_NO_SUCH_TABLE, "unknown", table="t")
    response = await served.client.post(SIGNER, json=REQUEST)
    assert (response.status_code, error_of(response)["type"]) == (400, "NoSuchTableLocationException")


async def test_what_the_signer_will_not_sign_keeps_its_word(served: World) -> None:
    served.catalog.answers["SignS3Request"] = Refusal(
        Reason.REASON_SIGNING_INVALID, "acl", cause="UnsupportedListParameter"
    )
    response = await served.client.post(SIGNER, json=REQUEST)
    assert (response.status_code, error_of(response)["type"]) == (400, "UnsupportedListParameter")
