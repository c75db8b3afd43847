from __future__ import annotations

import json
from typing import Any

import pytest

from lakeward_gateway.dialects.generic.storage_options import storage_options
from lakeward_protocol.catalog.v1 import generic_tables_pb2 as pb
from lakeward_protocol.catalog.v1 import types_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.conformance.documents import document
from tests.unit.gateway.fakes import WAREHOUSE, World

NAMESPACE = f"/lakekeeper/v1/{WAREHOUSE}/namespaces/ai%1Ftest"
TABLES = f"{NAMESPACE}/generic-tables"
TABLE = f"{TABLES}/image%20embeddings"
LOCATION = "s3://lake/demo/0198"
S3 = {
    "s3.access-key-id": "id",
    "s3.secret-access-key": "secret",
    "s3.session-token": "token",
    "s3.region": "eu",
    "s3.endpoint": "http://store:9000",
    "s3.path-style-access": "true",
}
TABLE_IDENT = types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["ai", "test"]), name="image embeddings")


def loaded(**members: Any) -> pb.LoadedGenericTable:
    table = pb.GenericTable(
        tabular_id="0198e000-0000-7000-8000-000000000002",
        ident=TABLE_IDENT,
        format="lance",
        location=LOCATION,
        properties={"embedding-dim": "768"},
        schema=b'{"fields":[1.0,9007199254740993]}',
        **members,
    )
    return pb.LoadedGenericTable(
        table=table,
        etag='"lwg1.a.1"',
        has_config=True,
        config=S3,
        storage_credentials=[types_pb2.StorageCredential(prefix=LOCATION, config=S3)],
    )


async def test_a_load_shows_what_is_recorded_and_access_and_the_location_at_the_top(served: World) -> None:
    served.catalog.answers["LoadGenericTable"] = pb.LoadGenericTableResponse(table=loaded(doc="CLIP"))
    response = await served.client.get(TABLE, headers={"X-Iceberg-Access-Delegation": "vended-credentials"})
    assert (response.status_code, response.headers["etag"]) == (200, '"lwg1.a.1"')
    assert response.json() == {
        "table": {
            "id": "0198e000-0000-7000-8000-000000000002",
            "name": "image embeddings",
            "format": "lance",
            "base-location": LOCATION,
            "doc": "CLIP",
            "properties": {"embedding-dim": "768"},
            "schema": {"fields": [1.0, 9007199254740993]},
            "protected": False,
            "registered": False,
        },
        "location": LOCATION,
        "config": S3,
        "storage-credentials": [{"prefix": LOCATION, "config": S3}],
    }
    assert '"fields":[1.0,9007199254740993]' in response.text
    asked = served.asked
    assert (asked.warehouse_id, asked.table) == (WAREHOUSE, TABLE_IDENT)
    assert list(asked.context.delegation) == [context_pb2.DELEGATION_VENDED_CREDENTIALS]


async def test_who_may_not_read_data_is_shown_no_configuration(served: World) -> None:
    message = loaded()
    message.ClearField("has_config")
    served.catalog.answers["LoadGenericTable"] = pb.LoadGenericTableResponse(table=message)
    assert (await served.client.get(TABLE)).json().keys() == {"table", "location"}


@pytest.mark.parametrize(("path", "register"), [(TABLES, False), (f"{NAMESPACE}/register-generic-table", True)])
async def test_a_create_answers_200_and_sends_the_body_as_it_came(served: World, path: str, *, register: bool) -> None:
    served.catalog.answers["CreateGenericTable"] = pb.CreateGenericTableResponse(table=loaded())
    body = b'{"name": "t",  "format": "lance", "schema": 1.0}'
    response = await served.client.post(path, content=body)
    assert response.status_code == 200
    asked = served.asked
    assert (asked.body, asked.register, list(asked.namespace.parts)) == (body, register, ["ai", "test"])


async def test_a_listing_shows_ids_and_formats_and_hands_the_token_out(served: World) -> None:
    served.catalog.answers["ListGenericTables"] = pb.ListGenericTablesResponse(
        namespace=types_pb2.NamespaceIdent(parts=["AI", "test"]),
        names=["a", "b"],
        ids=["1", "2"],
        formats=["lance", "delta"],
        next_page_token="next",
    )
    response = await served.client.get(f"{TABLES}?pageSize=2&pageToken=")
    assert response.json() == {
        "identifiers": [
            {"namespace": ["AI", "test"], "name": "a", "id": "1", "format": "lance"},
            {"namespace": ["AI", "test"], "name": "b", "id": "2", "format": "delta"},
        ],
        "next-page-token": "next",
    }
    assert (served.asked.page.size, served.asked.page.token) == (2, "")
    served.catalog.answers["ListGenericTables"] = pb.ListGenericTablesResponse()
    assert (await served.client.get(TABLES)).json() == {"identifiers": []}


async def test_credentials_come_in_icebergs_names_and_in_object_stores(served: World) -> None:
    response = pb.LoadGenericTableCredentialsResponse(
        storage_credentials=[types_pb2.StorageCredential(prefix=LOCATION, config=S3)]
    )
    response.expires_at.FromMilliseconds(1_700_000_000_123)
    served.catalog.answers["LoadGenericTableCredentials"] = response
    found = (await served.client.get(f"{TABLE}/credentials?referenced-by=ai%1Fv")).json()
    assert found == {
        "storage-credentials": [{"prefix": LOCATION, "config": S3}],
        "storage-options": {
            "aws_access_key_id": "id",
            "aws_secret_access_key": "secret",
            "aws_session_token": "token",
            "aws_region": "eu",
            "aws_endpoint": "http://store:9000",
            "allow_http": "true",
            "aws_virtual_hosted_style_request": "false",
        },
        "expires-at-ms": 1_700_000_000_123,
    }
    assert [(list(each.namespace.parts), each.name) for each in served.asked.referenced_by] == [(["ai"], "v")]
    served.catalog.answers["LoadGenericTableCredentials"] = pb.LoadGenericTableCredentialsResponse()
    assert (await served.client.get(f"{TABLE}/credentials")).json() == {"storage-credentials": []}


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("", 0), ("?min-validity-ms=0", 0), ("?min-validity-ms=90500", 90.5), ("?min-validity-ms=" + "9" * 50, 604800)],
)
async def test_how_long_credentials_should_last_is_asked_for_up_to_a_week(
    served: World, asked: str, seconds: float
) -> None:
    served.catalog.answers["LoadGenericTableCredentials"] = pb.LoadGenericTableCredentialsResponse()
    assert (await served.client.get(f"{TABLE}/credentials{asked}")).status_code == 200
    assert served.asked.min_validity.ToTimedelta().total_seconds() == seconds


@pytest.mark.parametrize("asked", ["", "-1", "1.5", "1e3", "²", "soon"])
async def test_a_time_that_is_no_number_is_refused(served: World, asked: str) -> None:
    response = await served.client.get(f"{TABLE}/credentials", params={"min-validity-ms": asked})
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ({"s3.endpoint": "https://store"}, {"aws_endpoint": "https://store"}),
        (
            {"s3.sse.type": "kms", "s3.sse.key": "arn"},
            {"aws_server_side_encryption": "aws:kms", "aws_sse_kms_key_id": "arn"},
        ),
        (
            {"adls.sas-token.lake.dfs.core.windows.net": "?sv=1&sig=2", "expiration-time": "7"},
            {"azure_storage_account_name": "lake", "azure_storage_sas_token": "sv=1&sig=2"},
        ),
        (
            {"adls.sas-token.lake.dfs.core.usgovcloudapi.net": "sv"},
            {
                "azure_storage_account_name": "lake",
                "azure_storage_sas_token": "sv",
                "azure_storage_endpoint": "https://lake.blob.core.usgovcloudapi.net",
            },
        ),
        (
            {"adls.sas-token.onelake.dfs.fabric.microsoft.com": "sv"},
            {
                "azure_storage_account_name": "onelake",
                "azure_storage_sas_token": "sv",
                "azure_use_fabric_endpoint": "true",
            },
        ),
        ({"gcs.oauth2.token": "ya29", "gcs.project-id": "p"}, {"google_bearer_token": "ya29"}),
        ({}, {}),
    ],
)
def test_each_stores_credential_is_said_in_the_names_of_object_stores(
    config: dict[str, str], options: dict[str, str]
) -> None:
    assert storage_options(config) == options


@pytest.mark.parametrize(
    ("query", "purge", "force"),
    [("", None, False), ("?purgeRequested=True&force=true", True, True), ("?purgeRequested=FALSE", False, False)],
)
async def test_a_drop_says_what_was_said(served: World, query: str, *, purge: bool | None, force: bool) -> None:
    served.catalog.answers["DropGenericTable"] = pb.DropGenericTableResponse()
    assert (await served.client.delete(TABLE + query)).status_code == 204
    asked = served.asked
    assert (asked.purge if asked.HasField("purge") else None, asked.force, asked.table) == (purge, force, TABLE_IDENT)


async def test_a_rename_names_both_ends(served: World) -> None:
    served.catalog.answers["RenameGenericTable"] = pb.RenameGenericTableResponse()
    body = {
        "source": {"namespace": ["ai", "test"], "name": "image embeddings"},
        "destination": {"namespace": ["b"], "name": "c"},
    }
    response = await served.client.post(f"/lakekeeper/v1/{WAREHOUSE}/generic-tables/rename", json=body)
    assert response.status_code == 204
    assert (served.asked.source, served.asked.destination.name) == (TABLE_IDENT, "c")


@pytest.mark.parametrize(
    ("header", "tags"),
    [(None, []), ('"a", W/"b"', ['"a"', 'W/"b"']), ("*", ["*"]), ("no tag", ["no tag"]), ("", [""])],
)
async def test_an_update_carries_the_tags_of_which_one_must_hold(
    served: World, header: str | None, tags: list[str]
) -> None:
    served.catalog.answers["UpdateGenericTable"] = pb.UpdateGenericTableResponse(table=loaded())
    headers = {} if header is None else {"If-Match": header}
    response = await served.client.post(TABLE, content=json.dumps({"doc": None}), headers=headers)
    assert (response.status_code, response.headers["etag"]) == (200, '"lwg1.a.1"')
    assert (list(served.asked.if_match), served.asked.body) == (tags, b'{"doc": null}')


async def test_a_head_tells_that_it_is_there_and_its_state(served: World) -> None:
    served.catalog.answers["GenericTableExists"] = pb.GenericTableExistsResponse(etag='"lwg1.a.1"')
    response = await served.client.head(TABLE)
    assert (response.status_code, response.headers["etag"], response.content) == (204, '"lwg1.a.1"', b"")


@pytest.mark.parametrize(
    ("refusal", "method", "path", "shown"),
    [
        (
            Refusal(Reason.REASON_TABULAR_EXISTS, "x", tabular="t"),
            "POST",
            TABLES,
            (409, "GenericTableAlreadyExists"),
        ),
        (
            Refusal(Reason.REASON_TABULAR_EXISTS, "x", tabular="t"),
            "RENAME",
            f"/lakekeeper/v1/{WAREHOUSE}/generic-tables/rename",
            (409, "AlreadyExistsException"),
        ),
        (Refusal(Reason.REASON_LOCATION_TAKEN, "x", location="l"), "POST", TABLES, (409, "LocationAlreadyTaken")),
        (Refusal(Reason.REASON_INVALID_TABLE_FORMAT, "x", format=""), "POST", TABLES, (400, "InvalidFormat")),
        (Refusal(Reason.REASON_INVALID_TABULAR_NAME, "x", name="a+b"), "POST", TABLES, (400, "InvalidName")),
        (
            Refusal(Reason.REASON_INVALID_TABULAR_NAME, "x", name=""),
            "RENAME",
            f"/lakekeeper/v1/{WAREHOUSE}/generic-tables/rename",
            (400, "IdentifierNameEmpty"),
        ),
        (Refusal(Reason.REASON_TOO_LARGE, "x", what="schema", limit="1"), "POST", TABLES, (400, "PayloadTooLarge")),
        (Refusal(Reason.REASON_TOO_LARGE, "x", what="document", limit="1"), "POST", TABLES, (413, "PayloadTooLarge")),
        (Refusal(Reason.REASON_LOCATION_EMPTY, "x", location="l"), "POST", TABLES, (400, "InvalidLocation")),
        (
            Refusal(Reason.REASON_NO_SUCH_GENERIC_TABLE, "x", table="t"),
            "GET",
            TABLE,
            (404, "NoSuchGenericTableException"),
        ),
        (
            Refusal(Reason.REASON_FORBIDDEN, "x", kind="generic_table", action="drop"),
            "DELETE",
            TABLE,
            (403, "GenericTableActionForbidden"),
        ),
        (
            Refusal(Reason.REASON_TABULAR_PROTECTED, "x", tabular="t"),
            "DELETE",
            TABLE,
            (409, "ProtectedTabularDeletionWithoutForce"),
        ),
        (
            Refusal(Reason.REASON_COMMIT_CONFLICT, "x", object="t", requirement="if-match"),
            "UPDATE",
            TABLE,
            (412, "PreconditionFailed"),
        ),
        (
            Refusal(Reason.REASON_COMMIT_CONFLICT, "x", object="t", requirement=""),
            "UPDATE",
            TABLE,
            (409, "ConcurrentUpdateError"),
        ),
    ],
)
async def test_refusals_have_upstreams_words(
    served: World, refusal: Refusal, method: str, path: str, shown: tuple[int, str]
) -> None:
    methods = ("Create", "Load", "Drop", "Rename", "Update")
    served.catalog.answers |= {f"{each}GenericTable": refusal for each in methods}
    ident = {"namespace": ["a"], "name": "b"}
    verb, body = {
        "RENAME": ("POST", {"source": ident, "destination": ident}),
        "UPDATE": ("POST", {}),
    }.get(method, (method, None))
    response = await served.client.request(verb, path, json=body)
    assert (response.status_code, response.json()["error"]["type"]) == shown


async def test_a_path_without_the_prefix_says_which_would_be_right(served: World) -> None:
    response = await served.client.get("/lakekeeper/v1/namespaces/a/generic-tables/t")
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (400, "NoPrefixProvided")
    assert "/lakekeeper/v1/{prefix}/namespaces/{namespace}/generic-tables/{table}" in error["message"]
    assert not served.catalog.asked


def test_the_document_says_that_an_update_of_another_state_is_a_412() -> None:
    update = document("generic-table")["paths"][
        "/lakekeeper/v1/{prefix}/namespaces/{namespace}/generic-tables/{table}"
    ]["post"]
    assert "412" in update["responses"]
