"""What libraries are told of credentials, in their own words; no store is asked."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import urllib3
from lance_namespace import DescribeTableRequest, TableNotFoundError

from lakeward.credentials import AzureSas, Credentials, GcsToken, S3Keys
from lakeward.credentials.duckdb import secret
from lakeward.credentials.shapes import Shapes
from lakeward.errors import AnswerError, ConfigurationError, NoCredentialsError
from tests.support.engines import duckdb_with_installed_extensions

ENDS = datetime(2100, 1, 1, tzinfo=UTC)
ENDS_MS = str(int(ENDS.timestamp() * 1000))
S3 = {
    "s3.access-key-id": "AK",
    "s3.secret-access-key": "it's secret",
    "s3.session-token": "ST",
    "s3.region": "eu-west-1",
    "s3.endpoint": "http://127.0.0.1:9000",
    "s3.path-style-access": "true",
    "s3.session-token-expires-at-ms": ENDS_MS,
}
KMS = {"s3.sse.type": "kms", "s3.sse.key": "arn:k"}
ACCOUNT = "acc.dfs.core.windows.net"
AZURE = {f"adls.sas-token.{ACCOUNT}": "?sv=1&sig=x", f"adls.sas-token-expires-at-ms.{ACCOUNT}": ENDS_MS}
GOOGLE = {"gcs.oauth2.token": "ya29", "gcs.oauth2.token-expires-at": ENDS_MS, "gcs.project-id": "p"}


def s3(**more: str) -> Credentials:
    return Credentials.of("s3a://lake/a/t", {**S3, **more})


def azure(host: str = ACCOUNT) -> Credentials:
    return Credentials.of(f"abfss://fs@{host}/a/t", {f"adls.sas-token.{host}": "?sv=1&sig=x"})


def google() -> Credentials:
    return Credentials.of("gs://lake/a/t", GOOGLE)


@pytest.mark.parametrize(
    ("location", "config", "store"),
    [
        (
            "s3://lake/a/t",
            S3,
            S3Keys("lake", "AK", "it's secret", "ST", "eu-west-1", "http://127.0.0.1:9000", path_style=True),
        ),
        (f"abfss://fs@{ACCOUNT}/a/t", AZURE, AzureSas("fs", "acc", "dfs.core.windows.net", "sv=1&sig=x")),
        (
            "wasbs://fs@acc.blob.core.windows.net/a/t",
            AZURE,
            AzureSas("fs", "acc", "dfs.core.windows.net", "sv=1&sig=x"),
        ),
        ("gs://lake/a/t", GOOGLE, GcsToken("lake", "ya29", "p")),
    ],
)
def test_each_store_is_understood(location: str, config: Mapping[str, str], store: object) -> None:
    found = Credentials.of(location, config)
    assert (found.store, found.expires_at, found.prefix) == (store, ENDS, "a/t")


def test_no_secret_is_shown() -> None:
    for found in (s3(), azure(), google()):
        for word in ("it's secret", "ST", "sig=x", "ya29"):
            assert word not in repr(found)


@pytest.mark.parametrize(
    ("location", "config"),
    [
        ("s3://lake/t", {}),
        ("s3://lake/t", {"s3.region": "eu", "s3.signer": "S3V4RestSigner"}),
        ("gs://lake/t", S3),
        ("s3://lake/t", GOOGLE),
        ("file:///t", S3),
    ],
)
def test_where_no_store_is_opened_that_is_said(location: str, config: Mapping[str, str]) -> None:
    with pytest.raises(NoCredentialsError, match=location):
        Credentials.of(location, config)


@pytest.mark.parametrize(
    ("location", "config"),
    [
        ("s3://lake/t", {"s3.access-key-id": "AK"}),
        ("s3://lake/t", {**S3, "expiration-time": "soon"}),
        ("s3://lake/t", {**S3, "s3.session-token-expires-at-ms": str(10**30)}),
        ("abfss://fs@other.dfs.core.windows.net/t", AZURE),
    ],
)
def test_credentials_that_are_none_are_an_answer_that_cant_be_read(location: str, config: Mapping[str, str]) -> None:
    with pytest.raises(AnswerError):
        Credentials.of(location, config)


def test_the_first_end_that_is_told_holds() -> None:
    found = s3(**{"expiration-time": str(int(ENDS_MS) - 1000)})
    assert found.expires_at is not None
    assert (ENDS - found.expires_at).total_seconds() == 1


def test_object_stores_are_told_in_their_names() -> None:
    assert s3(**KMS).storage_options() == {
        "aws_access_key_id": "AK",
        "aws_secret_access_key": "it's secret",
        "aws_session_token": "ST",
        "aws_region": "eu-west-1",
        "aws_endpoint": "http://127.0.0.1:9000",
        "allow_http": "true",
        "aws_virtual_hosted_style_request": "false",
        "aws_server_side_encryption": "aws:kms",
        "aws_sse_kms_key_id": "arn:k",
    }
    assert azure().storage_options() == {
        "azure_storage_account_name": "acc",
        "azure_storage_sas_token": "sv=1&sig=x",
    }
    assert google().storage_options() == {"google_bearer_token": "ya29"}


def test_sovereign_clouds_and_fabric_have_their_hosts() -> None:
    china = azure("acc.dfs.core.chinacloudapi.cn")
    assert china.storage_options()["azure_storage_endpoint"] == "https://acc.blob.core.chinacloudapi.cn"
    assert china.fsspec_options()["account_host"] == "acc.blob.core.chinacloudapi.cn"
    assert azure("onelake.dfs.fabric.microsoft.com").storage_options()["azure_use_fabric_endpoint"] == "true"


def test_deltalake_is_given_a_scheme_that_it_knows() -> None:
    assert s3().deltalake()["table_uri"] == "s3://lake/a/t"


def test_polars_is_given_secrets_by_a_provider_alone() -> None:
    told = s3().polars()
    assert "aws_secret_access_key" not in told["storage_options"]
    secrets, ends = told["credential_provider"]()
    assert (secrets["aws_session_token"], ends) == ("ST", int(ENDS.timestamp()))


def test_lance_is_told_of_one_table_and_when_its_credentials_end() -> None:
    arguments = s3().lance()
    namespace = arguments["namespace_client"]
    answer = namespace.describe_table(DescribeTableRequest(id=arguments["table_id"]))
    assert answer.location == "s3://lake/a/t"
    assert answer.storage_options["expires_at_millis"] == ENDS_MS
    with pytest.raises(TableNotFoundError):
        namespace.describe_table(DescribeTableRequest(id=["another"]))


def test_two_callers_namespaces_share_no_store_in_lance() -> None:
    assert s3().lance()["namespace_client"].namespace_id() != s3().lance()["namespace_client"].namespace_id()


@pytest.mark.parametrize("made", [s3, azure, google])
def test_obstore_begins_at_the_tables_place(made: Any) -> None:
    assert made().obstore().prefix == "a/t"


def test_duckdbs_secret_is_for_the_tables_place_and_nothing_beside_it() -> None:
    told = secret(s3())
    assert "SECRET 'it''s secret'" in told
    assert "SCOPE 's3://lake/a/t/'" in told
    with pytest.raises(ConfigurationError, match="NUL"):
        secret(s3(**{"s3.region": "eu\x00"}))
    assert secret(s3(), name='a"b').startswith('CREATE OR REPLACE SECRET "a""b" ')


def test_duckdb_takes_the_secrets_of_s3_and_google(tmp_path: Path) -> None:
    with duckdb_with_installed_extensions(tmp_path) as connection:
        for made in (s3(), google()):
            made.duckdb(connection)
            made.duckdb(connection)
        assert connection.execute("select count(*) from duckdb_secrets()").fetchall() == [(2,)]
        for row in connection.execute("select secret_string from duckdb_secrets()").fetchall():
            assert "it's secret" not in row[0]


def test_hadoop_is_told_for_one_bucket_alone() -> None:
    told = s3(**KMS).hadoop()
    assert all(name.startswith("fs.s3a.bucket.lake.") for name in told)
    assert told["fs.s3a.bucket.lake.session.token"] == "ST"
    assert told["fs.s3a.bucket.lake.aws.credentials.provider"].endswith("TemporaryAWSCredentialsProvider")
    assert azure().hadoop()[f"fs.azure.sas.fixed.token.fs.{ACCOUNT}"] == "sv=1&sig=x"
    with pytest.raises(ConfigurationError, match="ACCESS_TOKEN_PROVIDER"):
        google().hadoop()


def test_filesystems_are_told_in_their_names() -> None:
    assert s3(**KMS).fsspec_options() == {
        "key": "AK",
        "secret": "it's secret",
        "token": "ST",
        "client_kwargs": {"region_name": "eu-west-1", "endpoint_url": "http://127.0.0.1:9000"},
        "config_kwargs": {"s3": {"addressing_style": "path"}},
        "s3_additional_kwargs": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "arn:k"},
    }
    assert azure().fsspec_options() == {"account_name": "acc", "sas_token": "sv=1&sig=x"}
    assert google().fsspec_options()["token"].token == "ya29"


def test_a_library_of_another_store_is_refused() -> None:
    for call in (azure().boto3, s3().azure, s3().google):
        with pytest.raises(ConfigurationError, match="is not in"):
            call()


def test_each_filesystem_can_be_made() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # gcsfs says that it has no project
        for found in (s3(), azure(), google()):
            assert found.fsspec() is not found.fsspec()
            assert found.pyarrow().type_name == "py::lakeward"


class Renewed(Shapes):
    """Other credentials at each asking."""

    def __init__(self, *found: Credentials) -> None:
        self.found = list(found)

    def get(self) -> Credentials:
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[requests.PreparedRequest]:
    """What is sent by the SDKs, all of which is found to be empty."""
    seen: list[requests.PreparedRequest] = []

    def send(_: object, request: requests.PreparedRequest, **__: object) -> requests.Response:
        seen.append(request)
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = 200, request, request.url or ""
        answer.headers["content-type"] = "application/json"
        answer.raw = urllib3.HTTPResponse(body=io.BytesIO(b"{}"), status=200, preload_content=False)
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    return seen


def test_azures_sdk_sends_the_signature_of_now_with_each_request(sent: list[requests.PreparedRequest]) -> None:
    now = azure()
    later = Credentials.of(now.location, {f"adls.sas-token.{ACCOUNT}": "sv=2&sig=y"})
    container = Renewed(now, now, now, later).azure()
    for _ in range(2):
        container.get_container_properties()
    assert [urlsplit(each.url).netloc for each in sent] == ["acc.blob.core.windows.net"] * 2
    assert [parse_qs(urlsplit(each.url).query)["sig"] for each in sent] == [["x"], ["y"]]


def test_googles_sdk_sends_the_token_of_now_once_the_one_that_it_has_ended(
    sent: list[requests.PreparedRequest],
) -> None:
    soon = Credentials.of("gs://lake/a/t", {**GOOGLE, "gcs.oauth2.token-expires-at": "1000"})
    later = Credentials.of("gs://lake/a/t", {**GOOGLE, "gcs.oauth2.token": "ya30"})
    client = Renewed(soon, soon, later).google()
    client.bucket("lake").blob("a/t/x").exists()
    google().google().bucket("lake").blob("a/t/x").exists()
    # A thread of the SDK's own asks about the bucket whenever it likes.
    of_the_blob = [each for each in sent if "/o/" in (each.url or "")]
    assert [each.headers["authorization"] for each in of_the_blob] == ["Bearer ya30", "Bearer ya29"]
