from __future__ import annotations

import json
from typing import Any

import pytest

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import S3Profile, UrlStyle
from lakeward_vending.domain.profiles.stackit import StackitProfile, as_s3

KEY = CredentialKind.S3_ACCESS_KEY
S3: dict[str, Any] = {"type": "s3", "bucket": "lake", "region": "eu-central-1", "sts-enabled": False}
STACKIT: dict[str, Any] = {
    "type": "stackit",
    "bucket": "lake",
    "region": "eu01",
    "credentials-group-urn": "urn:sgws:identity::12:group/g-1",
}
ADLS: dict[str, Any] = {"type": "adls", "filesystem": "lake", "account-name": "account"}
ONELAKE: dict[str, Any] = {
    "type": "onelake",
    "workspace-id": "11111111-1111-1111-1111-111111111111",
    "lakehouse-id": "22222222-2222-2222-2222-222222222222",
}
GCS: dict[str, Any] = {"type": "gcs", "bucket": "lake"}
AZ, GC = CredentialKind.AZURE_CLIENT_CREDENTIALS, CredentialKind.GCS_SERVICE_ACCOUNT


def text(document: dict[str, Any], **changes: object) -> bytes:
    return json.dumps(document | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


def normalise(
    document: dict[str, Any],
    *,
    credential: CredentialKind | None = KEY,
    replaces: dict[str, Any] | None = None,
    **changes: object,
) -> profiles.Profile:
    old = None if replaces is None else text(replaces)
    return profiles.normalise(text(document, **changes), credential=credential, replaces=old)


def s3(**changes: Any) -> S3Profile:
    return as_s3(normalise(S3, **changes))


def refused(reason: Reason.ValueType, document: dict[str, Any], **changes: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        normalise(document, **changes)
    assert caught.value.reason == reason
    return caught.value


@pytest.mark.parametrize(
    ("document", "credential", "base", "place"),
    [
        (S3, KEY, "s3://lake", "s3 aws"),
        (S3 | {"key-prefix": " /a/b/ "}, KEY, "s3://lake/a/b", "s3 aws"),
        (S3 | {"endpoint": "HTTP://Store:9000/lake/"}, KEY, "s3://lake", "s3 store:9000"),
        (S3 | {"endpoint": "https://s3.eu-west-1.amazonaws.com"}, KEY, "s3://lake", "s3 aws"),
        (STACKIT, CredentialKind.STACKIT_ACCESS_KEY, "s3://lake", "s3 object.storage.eu01.onstackit.cloud"),
        (ADLS, AZ, "abfss://lake@account.dfs.core.windows.net", "azure"),
        (
            ONELAKE,
            AZ,
            "abfss://11111111111111111111111111111111@onelake.dfs.fabric.microsoft.com/22222222-2222-2222-2222-222222222222/Files",
            "azure",
        ),
        (GCS, GC, "gs://lake", "gcs"),
    ],
)
def test_a_normal_form_is_its_own_normal_form_and_names_its_place(
    document: dict[str, Any], credential: CredentialKind, base: str, place: str
) -> None:
    profile = normalise(document, credential=credential)
    again = normalise(profile.document(), credential=credential, replaces=profile.document())
    assert again == profile == profiles.parse(text(profile.document()))
    assert profile.base == Location.parse(base)
    assert profile.place == place
    assert profile.schemes[0] == base.partition(":")[0]


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("bucket", {"bucket": "ab"}),
        ("bucket", {"bucket": "a..b"}),
        ("bucket", {"bucket": "Lake"}),
        ("bucket", {"bucket": "-lake"}),
        ("region", {"region": ""}),
        ("region", {"region": "x" * 129, "endpoint": "http://h"}),
        ("region", {"region": "evil.example.org/#"}),
        ("key_prefix", {"key-prefix": "a/../b"}),
        ("key_prefix", {"key-prefix": "a//b"}),
        ("key_prefix", {"key-prefix": "x" * 897}),
        ("S3Endpoint", {"endpoint": "http://sto\nre"}),
        ("S3Endpoint", {"endpoint": "ftp://h"}),
        ("S3Endpoint", {"endpoint": "http://h/other"}),
        ("S3Endpoint", {"endpoint": "http://user:pw@h"}),
        ("S3Endpoint", {"endpoint": "http://h?x=1"}),
        ("S3Endpoint", {"endpoint": "http://h:99999"}),
        ("S3Endpoint", {"endpoint": "http://"}),
        ("StsEndpoint", {"sts-endpoint": "h:9000"}),
        ("sts-role-arn", {"sts-enabled": True}),
        ("sts-role-arn", {"sts-role-arn": "a b"}),
        ("sts-token-validity-seconds", {"sts-token-validity-seconds": 899}),
        ("sts-token-validity-seconds", {"sts-token-validity-seconds": 43_201}),
        ("sts_session_tags", {"sts-session-tags": {"": "x"}}),
        ("flavor", {"flavor": "ceph"}),
        ("remote-signing-url-style", {"remote-signing-url-style": "vhost"}),
        ("storage-layout", {"storage-layout": {"type": "tabular-only", "tabular": "{name}"}}),
        ("storage-layout", {"storage-layout": {"type": "tabular-only", "tabular": "*{uuid}"}}),
        ("key-prefix", {"key-prefix": "a/b*"}),
        ("key-prefix", {"key-prefix": "${aws:username}"}),
        ("type", {"type": "s4"}),
    ],
)
def test_a_bad_field_is_refused_by_its_name(field: str, changes: dict[str, Any]) -> None:
    refusal = refused(Reason.REASON_INVALID_STORAGE_PROFILE, S3 | changes)
    assert refusal.metadata["field"] == field


@pytest.mark.parametrize(
    "changes",
    [
        {"bucket": 3},
        {"sts-enabled": "yes"},
        {"sts-enabled": None},
        {"sts-token-validity-seconds": True},
        {"sts-token-validity-seconds": 1.5},
        {"sts-session-tags": {"a": 1}},
        {"key-prefix": "\ud800"},
    ],
)
def test_a_member_of_the_wrong_type_is_refused_with_its_path(changes: dict[str, Any]) -> None:
    refusal = refused(Reason.REASON_MALFORMED_DOCUMENT, S3 | changes)
    assert refusal.metadata["path"] == f"storage-profile.{next(iter(changes))}"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 60_000, b'{"a":' * 9_000])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        profiles.parse(body)
    assert caught.value.reason == Reason.REASON_MALFORMED_DOCUMENT


@pytest.mark.parametrize(
    ("spelling", "style"),
    [
        ("path", UrlStyle.PATH),
        ("path-style", UrlStyle.PATH),
        ("virtual_host", UrlStyle.VIRTUAL_HOST),
        ("virtual-host", UrlStyle.VIRTUAL_HOST),
        ("auto", UrlStyle.AUTO),
    ],
)
def test_both_spellings_of_url_styles_are_taken(spelling: str, style: UrlStyle) -> None:
    assert s3(remote_signing_url_style=spelling).remote_signing_url_style is style
    assert s3(s3_url_detection_mode=spelling).remote_signing_url_style is style


def test_an_older_flavor_name_is_taken_and_needs_no_role() -> None:
    profile = s3(flavor="minio", sts_enabled=True, endpoint="http://h")
    assert profile.document()["flavor"] == "s3-compat"


def test_what_no_policy_can_name_stays_where_it_is_older_than_that_rule() -> None:
    old = S3 | {"key-prefix": "a*", "storage-layout": {"type": "tabular-only", "tabular": "*{uuid}"}}
    assert s3(replaces=old, key_prefix="a*", region="eu-central-1").layout.tabular == "*{uuid}"


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("bucket", {"bucket": "other"}),
        ("region", {"region": "us-east-1"}),
        ("key-prefix", {"key-prefix": "other"}),
        ("type", {"type": "gcs"}),
    ],
)
def test_what_would_leave_files_behind_can_not_change(field: str, changes: dict[str, Any]) -> None:
    refusal = refused(Reason.REASON_STORAGE_PROFILE_IMMUTABLE, S3 | changes, replaces=S3)
    assert refusal.metadata["field"] == field


def test_an_account_can_not_change() -> None:
    refusal = refused(
        Reason.REASON_STORAGE_PROFILE_IMMUTABLE, ADLS | {"account-name": "other"}, replaces=ADLS, credential=AZ
    )
    assert refusal.metadata["field"] == "account-name"


def test_a_default_that_is_written_out_is_no_change() -> None:
    normalise(ADLS | {"host": "dfs.core.windows.net"}, replaces=ADLS, credential=AZ)


def test_the_region_may_change_beside_an_endpoint() -> None:
    assert s3(replaces=S3, region="us-east-1", endpoint="http://h").region == "us-east-1"


def test_a_layout_and_a_true_alternative_protocol_are_kept_when_left_out_and_dropped_when_said() -> None:
    layout = {"type": "tabular-only", "tabular": "{name}-{uuid}"}
    old = S3 | {"storage-layout": layout, "allow-alternative-protocols": True}
    kept = s3(replaces=old)
    assert kept.allow_alternative_protocols
    assert kept.layout.document() == layout
    changed = s3(replaces=old, storage_layout={"type": "default"}, allow_alternative_protocols=False)
    assert not changed.allow_alternative_protocols
    assert changed.layout.document() == {"type": "default"}


def test_a_credential_of_another_family_is_refused() -> None:
    refusal = refused(Reason.REASON_CREDENTIAL_MISMATCH, S3, credential=AZ)
    assert refusal.metadata == {"profile": "s3", "credential": "az"}


@pytest.mark.parametrize("document", [ADLS, ONELAKE, GCS])
def test_clouds_other_than_s3_need_a_credential(document: dict[str, Any]) -> None:
    refused(Reason.REASON_CREDENTIAL_MISSING, document, credential=None)


def test_r2_forces_what_it_can_do() -> None:
    r2 = CredentialKind.S3_CLOUDFLARE_R2
    profile = s3(credential=r2, endpoint="https://a.r2.cloudflarestorage.com", assume_role_arn="arn:aws:iam::1:role/x")
    assert (profile.sts_enabled, profile.flavor, profile.role_to_vend) == (True, "s3-compat", None)
    refused(Reason.REASON_INVALID_STORAGE_PROFILE, S3, credential=r2)


def test_a_change_of_credential_alone_normalises_too() -> None:
    stored = s3(endpoint="https://a.r2.cloudflarestorage.com", assume_role_arn="arn:aws:iam::1:role/x").document()
    swapped = s3(
        **{key.replace("-", "_"): value for key, value in stored.items()}, credential=CredentialKind.S3_CLOUDFLARE_R2
    )
    assert swapped.sts_enabled


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("endpoint", {}),
        ("path-style-access", {"endpoint": "https://oss", "path-style-access": True}),
        ("sts-role-arn", {"endpoint": "https://oss"}),
    ],
)
def test_oss_needs_an_endpoint_virtual_hosts_and_a_role(field: str, changes: dict[str, Any]) -> None:
    refusal = refused(Reason.REASON_INVALID_STORAGE_PROFILE, S3 | changes, credential=CredentialKind.S3_ALIYUN_OSS)
    assert refusal.metadata["field"] == field


def test_stackit_becomes_an_s3_that_is_addressed_by_virtual_host() -> None:
    profile = normalise(STACKIT, credential=CredentialKind.STACKIT_ACCESS_KEY)
    assert isinstance(profile, StackitProfile)
    converted = as_s3(profile)
    assert converted.endpoint == "https://object.storage.eu01.onstackit.cloud"
    assert converted.role_to_vend == "urn:sgws:identity::12:group/g-1"
    assert converted.remote_signing_url_style is UrlStyle.VIRTUAL_HOST


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("bucket", {"bucket": "a.b"}),
        ("region", {"region": "eu01.evil"}),
        ("credentials-group-urn", {"credentials-group-urn": "arn:aws:iam::1:role/x"}),
        ("credentials-group-urn", {"credentials-group-urn": None}),
        ("remote-signing-enabled", {"sts-enabled": False, "remote-signing-enabled": False}),
    ],
)
def test_a_bad_stackit_field_is_refused(field: str, changes: dict[str, Any]) -> None:
    refusal = refused(
        Reason.REASON_INVALID_STORAGE_PROFILE, STACKIT | changes, credential=CredentialKind.STACKIT_ACCESS_KEY
    )
    assert refusal.metadata["field"] == field


@pytest.mark.parametrize(
    ("document", "credential", "changes"),
    [
        (ADLS, AZ, {"filesystem": "a--b"}),
        (ADLS, AZ, {"account-name": "Account"}),
        (ADLS, AZ, {"host": "h/x"}),
        (ADLS, AZ, {"sas-token-validity-seconds": 0}),
        (ONELAKE, AZ, {"top-level-folder": "Other"}),
        (ONELAKE, AZ, {"directory-rel-path": "a/../b"}),
        (ONELAKE, AZ, {"endpoint-mode": {"type": "regional", "region": "1"}}),
        (ONELAKE, AZ, {"storage-layout": {"type": "tabular-only", "tabular": "{uuid}"}}),
        (ONELAKE, CredentialKind.AZURE_SHARED_KEY, {}),
        (GCS, GC, {"bucket": "google-lake"}),
        (GCS, GC, {"bucket": "192.168.1.1"}),
        (GCS, GC, {"key-prefix": ".well-known/acme-challenge/x"}),
    ],
)
def test_bad_fields_of_other_clouds_are_refused(
    document: dict[str, Any], credential: CredentialKind, changes: dict[str, Any]
) -> None:
    refused(Reason.REASON_INVALID_STORAGE_PROFILE, document | changes, credential=credential)


def test_a_private_link_names_the_workspace() -> None:
    mode = {"type": "workspace-private-link"}
    profile = normalise(ONELAKE, credential=AZ, endpoint_mode=mode)
    assert profile.base.host.endswith("@11111111111111111111111111111111.z11.dfs.fabric.microsoft.com")


@pytest.mark.parametrize(("document", "credential"), [(GCS, GC), (ADLS, AZ), (ONELAKE, AZ)])
def test_no_other_cloud_s_profile_is_taken_for_one_that_speaks_s3(
    document: dict[str, Any], credential: CredentialKind
) -> None:
    with pytest.raises(TypeError, match="speaks S3"):
        as_s3(normalise(document, credential=credential))
