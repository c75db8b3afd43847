from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import tables_pb2, types_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import PREFIXED, WAREHOUSE, World, error_of

TABLE = f"{PREFIXED}/namespaces/a%1Fb/tables/t"
IDENT = types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["a", "b"]), name="t")
METADATA = b'{"format-version":2,"last-sequence-number":9223372036854775807}'


def plain(metadata: bytes = METADATA) -> types_pb2.JsonBody:
    return types_pb2.JsonBody(plain=metadata)


def deflated(metadata: bytes = METADATA) -> types_pb2.JsonBody:
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = compressor.compress(metadata) + compressor.flush(zlib.Z_FULL_FLUSH)
    return types_pb2.JsonBody(deflated=types_pb2.DeflatedJson(raw=raw, crc32=zlib.crc32(metadata), size=len(metadata)))


def loaded(**changes: Any) -> types_pb2.LoadedTabular:
    values: dict[str, Any] = {
        "etag": 'W/"lk2.1"',
        "metadata_location": "s3://b/t/metadata/1.json",
        "metadata": plain(),
        "has_config": True,
        "config": {"client.region": "local"},
    }
    return types_pb2.LoadedTabular(**{**values, **changes})


def load_answer(**changes: Any) -> tables_pb2.LoadTableResponse:
    return tables_pb2.LoadTableResponse(table=loaded(**changes))


async def test_a_load_asks_for_the_table_and_shows_it(served: World) -> None:
    served.catalog.answers["LoadTable"] = load_answer()
    response = await served.client.get(TABLE)
    assert response.status_code == 200
    assert response.json() == {
        "metadata-location": "s3://b/t/metadata/1.json",
        "metadata": {"format-version": 2, "last-sequence-number": 9223372036854775807},
        "config": {"client.region": "local"},
    }
    assert response.headers["etag"] == 'W/"lk2.1"'
    assert response.headers["cache-control"] == "private"
    assert {"authorization", "x-project-id", "x-iceberg-access-delegation"} <= set(response.headers["vary"].split(", "))
    assert served.asked.warehouse_id == WAREHOUSE
    assert served.asked.table == IDENT
    assert served.asked.snapshots == tables_pb2.SNAPSHOTS_UNSPECIFIED
    assert served.asked.accept_deflate
    assert served.asked.context.base_uri == "http://lake.test"


@pytest.mark.parametrize("accept_encoding", ["gzip", "identity"])
@pytest.mark.parametrize("body", [plain(METADATA * 100), deflated(METADATA * 100)], ids=["plain", "deflated"])
async def test_a_load_reads_alike_whatever_the_body_and_the_client_are_encoded_in(
    served: World, accept_encoding: str, body: types_pb2.JsonBody
) -> None:
    served.catalog.answers["LoadTable"] = load_answer(metadata=body)
    async with served.client.stream("GET", TABLE, headers={"accept-encoding": accept_encoding}) as response:
        sent = b"".join([piece async for piece in response.aiter_raw()])
    assert response.headers.get("content-encoding") == (accept_encoding if accept_encoding == "gzip" else None)
    assert int(response.headers["content-length"]) == len(sent)
    text = gzip.decompress(sent) if accept_encoding == "gzip" else sent
    assert text == (
        b'{"metadata-location":"s3://b/t/metadata/1.json","metadata":'
        + METADATA * 100
        + b',"config":{"client.region":"local"}}'
    )


async def test_a_caller_without_data_rights_gets_no_config(served: World) -> None:
    served.catalog.answers["LoadTable"] = load_answer(has_config=False, config={})
    assert (await served.client.get(TABLE)).json().keys() == {"metadata-location", "metadata"}


async def test_a_credential_entry_without_a_credential_is_never_sent(served: World) -> None:
    entries = [
        types_pb2.StorageCredential(prefix="s3://b/t", config={"s3.access-key-id": "k"}),
        types_pb2.StorageCredential(prefix="s3://b/u"),
    ]
    served.catalog.answers["LoadTable"] = load_answer(storage_credentials=entries)
    document = (await served.client.get(TABLE)).json()
    assert document["storage-credentials"] == [{"prefix": "s3://b/t", "config": {"s3.access-key-id": "k"}}]
    served.catalog.answers["LoadTable"] = load_answer(storage_credentials=entries[1:])
    assert "storage-credentials" not in (await served.client.get(TABLE)).json()


async def test_what_has_not_changed_is_a_304_without_a_body(served: World) -> None:
    served.catalog.answers["LoadTable"] = tables_pb2.LoadTableResponse(not_modified='W/"lk2.1"')
    response = await served.client.get(TABLE, headers={"if-none-match": '"x", W/"lk2.1"'})
    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["etag"] == 'W/"lk2.1"'
    assert "content-length" not in response.headers
    assert list(served.asked.if_none_match) == ['"x"', 'W/"lk2.1"']


async def test_every_tag_of_every_if_none_match_line_counts(served: World) -> None:
    served.catalog.answers["LoadTable"] = load_answer()
    await served.client.get(TABLE, headers=[("if-none-match", "*"), ("if-none-match", '"y"')])
    assert list(served.asked.if_none_match) == ["*", '"y"']


@pytest.mark.parametrize(
    ("value", "expected"), [("all", tables_pb2.SNAPSHOTS_ALL), ("refs", tables_pb2.SNAPSHOTS_REFS)]
)
async def test_a_load_says_which_snapshots_it_shows(served: World, value: str, expected: int) -> None:
    served.catalog.answers["LoadTable"] = load_answer()
    await served.client.get(TABLE, params={"snapshots": value})
    assert served.asked.snapshots == expected


@pytest.mark.parametrize("value", ["", "some", "ALL"])
async def test_unknown_snapshots_are_a_bad_request(served: World, value: str) -> None:
    response = await served.client.get(TABLE, params={"snapshots": value})
    assert error_of(response)["type"] == "BadRequestException"
    assert response.status_code == 400
    assert not served.catalog.asked


async def test_the_chain_of_views_is_passed_on_outermost_first(served: World) -> None:
    served.catalog.answers["LoadTable"] = load_answer()
    await served.client.get(f"{TABLE}?referenced-by=prod%1Fouter+view%2Ca%1Fb%1Finner")
    assert list(served.asked.referenced_by) == [
        types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["prod"]), name="outer view"),
        types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["a", "b"]), name="inner"),
    ]


@pytest.mark.parametrize(
    ("segment", "name"), [("a+b", "a b"), ("a%2Bb", "a b"), ("a%20b", "a b"), ("x%2Fy", "x/y"), ("%C3%A9", "é")]
)
async def test_a_name_in_a_path_is_decoded_as_clients_encode_it(served: World, segment: str, name: str) -> None:
    served.catalog.answers["LoadTable"] = load_answer()
    await served.client.get(f"{PREFIXED}/namespaces/{segment}/tables/{segment}")
    assert served.asked.table.name == name
    assert list(served.asked.table.namespace.parts) == [name]


async def test_a_namespace_that_is_too_deep_is_absent_to_a_probe_and_bad_elsewhere(served: World) -> None:
    too_deep = Refusal(Reason.REASON_NAMESPACE_TOO_DEEP, "too deep", namespace="a.b.c.d.e.f", limit="5")
    served.catalog.answers |= {"LoadTable": too_deep, "TableExists": too_deep, "ListTables": too_deep}
    assert (await served.client.get(TABLE)).status_code == 404
    assert (await served.client.head(TABLE)).status_code == 404
    assert (await served.client.get(f"{PREFIXED}/namespaces/a/tables")).status_code == 400


async def test_an_absent_table_reads_as_engines_expect(served: World) -> None:
    served.catalog.answers["LoadTable"] = Refusal(Reason.REASON_NO_SUCH_TABLE, "no table a.b.t", table="a.b.t")
    response = await served.client.get(TABLE)
    assert response.json() == {
        "error": {"message": "no table a.b.t", "type": "NoSuchTableException", "code": 404, "stack": []}
    }


async def test_existence_is_a_204(served: World) -> None:
    served.catalog.answers["TableExists"] = tables_pb2.TableExistsResponse()
    response = await served.client.head(TABLE)
    assert (response.status_code, response.content) == (204, b"")
    assert served.asked.table == IDENT


async def test_a_listing_without_paging_asks_for_everything(served: World) -> None:
    served.catalog.answers["ListTables"] = tables_pb2.ListTablesResponse(namespace=IDENT.namespace, names=["t", "u"])
    response = await served.client.get(f"{PREFIXED}/namespaces/A%1FB/tables")
    assert response.json() == {
        "identifiers": [{"namespace": ["a", "b"], "name": "t"}, {"namespace": ["a", "b"], "name": "u"}]
    }
    assert served.asked.with_names
    assert not served.asked.HasField("page")


async def test_a_listing_of_a_catalog_that_knows_no_names_yet_is_shown_too(served: World) -> None:
    served.catalog.answers["ListTables"] = tables_pb2.ListTablesResponse(identifiers=[IDENT])
    response = await served.client.get(f"{PREFIXED}/namespaces/A%1FB/tables")
    assert response.json() == {"identifiers": [{"namespace": ["a", "b"], "name": "t"}]}


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("pageToken=", context_pb2.Page(token="")),
        ("pageToken=abc", context_pb2.Page(token="abc")),
        ("pageSize=7", context_pb2.Page(size=7)),
        ("pageToken=abc&pageSize=0", context_pb2.Page(token="abc", size=1)),
    ],
)
async def test_a_listing_asks_for_the_page_that_the_client_wants(
    served: World, query: str, page: context_pb2.Page
) -> None:
    served.catalog.answers["ListTables"] = tables_pb2.ListTablesResponse(next_page_token="next")
    response = await served.client.get(f"{PREFIXED}/namespaces/a/tables?{query}")
    assert response.json() == {"identifiers": [], "next-page-token": "next"}
    assert served.asked.page == page


async def test_a_listing_shows_ids_and_protection_where_they_are_asked_for(served: World) -> None:
    served.catalog.answers["ListTables"] = tables_pb2.ListTablesResponse(
        namespace=IDENT.namespace, names=["t"], ids=["uuid"], protection=[True]
    )
    response = await served.client.get(f"{PREFIXED}/namespaces/a/tables?returnUuids=True&returnProtectionStatus=1")
    assert response.json()["table-uuids"] == ["uuid"]
    assert response.json()["protection-status"] == [True]
    assert served.asked.with_ids
    assert served.asked.with_protection


async def test_a_create_passes_the_document_on_untouched(served: World) -> None:
    served.catalog.answers["CreateTable"] = tables_pb2.CreateTableResponse(table=loaded())
    body = b'{ "name": "t", "schema": {"unknown": 1e400} }'
    response = await served.client.post(
        f"{PREFIXED}/namespaces/a/tables",
        content=body,
        headers={"content-type": "application/json", "x-iceberg-access-delegation": "vended-credentials"},
    )
    assert response.status_code == 200
    assert response.headers["etag"] == 'W/"lk2.1"'
    assert served.asked.body == body
    assert list(served.asked.context.delegation) == [context_pb2.DELEGATION_VENDED_CREDENTIALS]


async def test_a_staged_table_has_no_location_and_no_tag(served: World) -> None:
    served.catalog.answers["CreateTable"] = tables_pb2.CreateTableResponse(table=loaded(etag="", metadata_location=""))
    response = await served.client.post(f"{PREFIXED}/namespaces/a/tables", json={})
    assert response.json()["metadata-location"] is None
    assert "etag" not in response.headers


async def test_a_register_is_read_and_passed_on(served: World) -> None:
    served.catalog.answers["RegisterTable"] = tables_pb2.RegisterTableResponse(table=loaded())
    response = await served.client.post(
        f"{PREFIXED}/namespaces/a/register",
        json={"name": "a+b", "metadata-location": "s3://b/m.json", "overwrite": True, "unknown": 1},
    )
    assert response.status_code == 200
    assert (served.asked.name, served.asked.metadata_location) == ("a+b", "s3://b/m.json")
    assert served.asked.overwrite


async def test_a_commit_answers_the_table_and_its_tag(served: World) -> None:
    served.catalog.answers["CommitTable"] = tables_pb2.CommitTableResponse(
        table=loaded(has_config=False, config={}, metadata=deflated())
    )
    key = "0198e000-0000-7000-8000-00000000000a"
    response = await served.client.post(TABLE, json={"updates": []}, headers={"idempotency-key": key})
    assert response.json() == {
        "metadata-location": "s3://b/t/metadata/1.json",
        "metadata": json.loads(METADATA),
    }
    assert response.headers["etag"] == 'W/"lk2.1"'
    assert served.asked.context.idempotency_key == key
    assert served.asked.body == b'{"updates":[]}'


async def test_a_commit_that_broke_inside_is_said_to_be_unknown(served: World) -> None:
    served.catalog.answers["CommitTable"] = RuntimeError("a bug")
    response = await served.client.post(TABLE, json={})
    error = error_of(response)
    assert (error["code"], error["type"]) == (500, "CommitStateUnknownException")
    assert "a bug" not in response.text


async def test_a_transaction_answers_204(served: World) -> None:
    served.catalog.answers["CommitTransaction"] = tables_pb2.CommitTransactionResponse()
    response = await served.client.post(f"{PREFIXED}/transactions/commit", json={"table-changes": []})
    assert (response.status_code, response.content) == (204, b"")
    assert served.asked.warehouse_id == WAREHOUSE


@pytest.mark.parametrize(
    ("query", "purge"), [("", None), ("?purgeRequested=True", True), ("?purgeRequested=false", False)]
)
async def test_a_drop_tells_unset_purge_from_a_declined_one(served: World, query: str, purge: bool | None) -> None:
    served.catalog.answers["DropTable"] = tables_pb2.DropTableResponse()
    assert (await served.client.delete(TABLE + query)).status_code == 204
    assert (served.asked.purge if served.asked.HasField("purge") else None) is purge
    assert not served.asked.force


async def test_a_rename_takes_both_names_as_they_are(served: World) -> None:
    served.catalog.answers["RenameTable"] = tables_pb2.RenameTableResponse()
    body = {"source": {"namespace": ["a", "b"], "name": "t"}, "destination": {"namespace": ["c"], "name": "x+y"}}
    assert (await served.client.post(f"{PREFIXED}/tables/rename", json=body)).status_code == 204
    assert served.asked.source == IDENT
    assert served.asked.destination.name == "x+y"


async def test_a_report_is_passed_on(served: World) -> None:
    served.catalog.answers["ReportMetrics"] = tables_pb2.ReportMetricsResponse()
    response = await served.client.post(f"{TABLE}/metrics", content=b'{"report-type":"scan-report"}')
    assert response.status_code == 204
    assert served.asked.body == b'{"report-type":"scan-report"}'


async def test_credentials_are_always_a_list(served: World) -> None:
    served.catalog.answers["LoadCredentials"] = tables_pb2.LoadCredentialsResponse()
    assert (await served.client.get(f"{TABLE}/credentials?planId=x")).json() == {"storage-credentials": []}
