from __future__ import annotations

import json
import pickle

import pytest

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain import credentials
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.secret import Secret

GOOGLE = dict.fromkeys(
    [
        "type",
        "project_id",
        "private_key_id",
        "private_key",
        "client_email",
        "client_id",
        "auth_uri",
        "token_uri",
        "auth_provider_x509_cert_url",
        "client_x509_cert_url",
        "universe_domain",
    ],
    "x",
)
DOCUMENTS: dict[str, dict[str, object]] = {
    "s3:access-key": {"access-key-id": "AK", "secret-access-key": "hush", "external-id": "e"},
    "s3:aws-system-identity": {"external-id": "e"},
    "s3:cloudflare-r2": {"access-key-id": "AK", "secret-access-key": "hush", "token": "hush", "account-id": "a"},
    "s3:aliyun-oss": {"access-key-id": "AK", "secret-access-key": "hush"},
    "stackit:access-key": {"access-key-id": "AK", "secret-access-key": "hush"},
    "az:client-credentials": {"client-id": "c", "tenant-id": "t", "client-secret": "hush"},
    "az:shared-access-key": {"key": "hush"},
    "az:azure-system-identity": {},
    "gcs:service-account-key": {"key": GOOGLE | {"private_key": "hush"}},
    "gcs:gcp-system-identity": {},
}


def document(name: str, **changes: object) -> bytes:
    family, _, kind = name.partition(":")
    members = {"type": family, "credential-type": kind} | DOCUMENTS[name]
    return json.dumps(members | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


def test_every_kind_is_read() -> None:
    assert set(DOCUMENTS) == {kind.value for kind in CredentialKind}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_credential_reads_back_from_its_document_and_shows_no_secret(name: str) -> None:
    credential = credentials.parse(document(name))
    assert credential.kind.value == name
    assert credentials.parse(credential.document()) == credential
    assert "hush" not in repr(credential)
    assert json.loads(credential.document()) == json.loads(document(name))


def test_older_spellings_are_taken() -> None:
    old = {"type": "s3", "credential-type": "access-key", "aws-access-key-id": "AK", "aws-secret-access-key": "hush"}
    assert credentials.parse(json.dumps(old).encode()).text("access-key-id") == "AK"


@pytest.mark.parametrize(
    ("name", "changes", "path"),
    [
        ("s3:access-key", {"secret_access_key": None}, "secret-access-key"),
        ("s3:access-key", {"secret_access_key": 5}, "secret-access-key"),
        ("s3:access-key", {"secret_access_key": "hush\n"}, None),
        ("s3:access-key", {"secret_access_key": "hu\nsh"}, "secret-access-key"),
        ("s3:cloudflare-r2", {"token": " "}, "token"),
        ("gcs:service-account-key", {"key": {"type": "x"}}, "key.project_id"),
    ],
)
def test_a_missing_or_malformed_member_is_named_and_its_value_is_not(
    name: str, changes: dict[str, object], path: str | None
) -> None:
    if path is None:
        credentials.parse(document(name, **changes))
        return
    with pytest.raises(Refusal) as caught:
        credentials.parse(document(name, **changes))
    assert caught.value.reason == Reason.REASON_MALFORMED_DOCUMENT
    assert caught.value.metadata["path"] == f"storage-credential.{path}"
    assert "hu" not in str(caught.value)


def test_an_unknown_kind_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(Refusal) as caught:
        credentials.parse(b'{"type":"s3","credential-type":"password"}')
    assert caught.value.reason == Reason.REASON_INVALID_STORAGE_PROFILE
    assert "s3:access-key" in caught.value.message


def test_a_secret_masks_itself_in_every_form() -> None:
    secret = Secret("hush")
    assert "hush" not in f"{secret} {secret!r} {[secret]} {secret!s:>20} {secret}"
    assert secret == Secret("hush")
    assert secret != Secret("hash")
    with pytest.raises(TypeError):
        pickle.dumps(secret)
