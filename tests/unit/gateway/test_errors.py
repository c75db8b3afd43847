from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_gateway.dialects.iceberg import errors as iceberg
from lakeward_gateway.dialects.management import errors as management
from lakeward_gateway.errors import Rendering, Renderings, rendered
from lakeward_protocol.errors.v1 import reason_pb2
from lakeward_servicekit.errors import Reason, ReasonValue, Refusal, name_of, rule_of

REASONS = [value for value in Reason.values() if value != Reason.REASON_UNSPECIFIED]
TABLES = {
    "iceberg": iceberg.RENDERED,
    "probes": iceberg.PROBED,
    "commits": iceberg.COMMITTED,
    "view commits": iceberg.VIEW_COMMITTED,
    "view creation": iceberg.VIEW_CREATED,
    "namespace creation": iceberg.NAMESPACE_CREATED,
    "signing": iceberg.SIGNED,
    "management": management.RENDERED,
}
# What a family may be shown as, whatever the dialect.
STATUSES: dict[int, set[int]] = {
    reason_pb2.FAMILY_INVALID_ARGUMENT: {400, 404, 405, 415, 422},
    reason_pb2.FAMILY_DEADLINE_EXCEEDED: {504},
    reason_pb2.FAMILY_NOT_FOUND: {404, 400},
    reason_pb2.FAMILY_ALREADY_EXISTS: {409},
    reason_pb2.FAMILY_PERMISSION_DENIED: {403, 500},
    reason_pb2.FAMILY_RESOURCE_EXHAUSTED: {429},
    reason_pb2.FAMILY_FAILED_PRECONDITION: {400, 409, 424},
    reason_pb2.FAMILY_ABORTED: {409},
    reason_pb2.FAMILY_OUT_OF_RANGE: {413, 410},
    reason_pb2.FAMILY_UNIMPLEMENTED: {400, 405, 406, 501},
    reason_pb2.FAMILY_INTERNAL: {500},
    reason_pb2.FAMILY_UNAVAILABLE: {503, 502},
    reason_pb2.FAMILY_UNKNOWN: {500},
    reason_pb2.FAMILY_UNAUTHENTICATED: {401},
}


def refusal_for(reason: ReasonValue, **metadata: str) -> Refusal:
    return Refusal(reason, "said", **{**dict.fromkeys(rule_of(reason).metadata_keys, "x"), **metadata})


def rendering(table: Renderings, refusal: Refusal) -> Rendering:
    entry = table[refusal.reason]
    return entry if isinstance(entry, Rendering) else entry(refusal.metadata)


@pytest.mark.parametrize("dialect", TABLES)
@pytest.mark.parametrize("reason", REASONS, ids=name_of)
def test_every_reason_has_a_status_of_its_family_in_every_dialect(dialect: str, reason: ReasonValue) -> None:
    shown = rendering(TABLES[dialect], refusal_for(reason))
    assert shown.status in STATUSES[rule_of(reason).family]
    assert shown.type


@pytest.mark.parametrize("dialect", TABLES)
def test_no_dialect_shows_a_reason_that_does_not_exist(dialect: str) -> None:
    assert set(TABLES[dialect]) == set(REASONS)


@pytest.mark.parametrize("reason", REASONS, ids=name_of)
def test_a_reply_is_the_envelope_and_a_fault_has_an_id_alone(reason: ReasonValue) -> None:
    response = rendered(refusal_for(reason), iceberg.RENDERED, new_id=lambda: "made")
    error = json.loads(response.body)["error"]
    assert error["message"] == "said"
    assert error["code"] == response.status
    expected = "x" if reason == Reason.REASON_INTERNAL else "made"
    assert error["stack"] == ([f"Error ID: {expected}"] if response.status >= 500 else [])


@pytest.mark.parametrize("reason", REASONS, ids=name_of)
def test_only_what_can_be_retried_says_when(reason: ReasonValue) -> None:
    for table in TABLES.values():
        if rendering(table, refusal_for(reason)).retry_after is not None:
            assert rule_of(reason).retryable


WORDS = [
    (refusal_for(Reason.REASON_NO_SUCH_TABLE), 404, "NoSuchTableException"),
    (refusal_for(Reason.REASON_NO_SUCH_VIEW), 404, "NoSuchViewException"),
    (refusal_for(Reason.REASON_NO_SUCH_NAMESPACE), 404, "NoSuchNamespaceException"),
    (refusal_for(Reason.REASON_NO_SUCH_WAREHOUSE), 404, "NoSuchWarehouseException"),
    (refusal_for(Reason.REASON_TABULAR_EXISTS), 409, "AlreadyExistsException"),
    (refusal_for(Reason.REASON_NAMESPACE_NOT_EMPTY), 409, "NamespaceNotEmptyException"),
    (refusal_for(Reason.REASON_COMMIT_CONFLICT), 409, "CommitFailedException"),
    (refusal_for(Reason.REASON_COMMIT_STATE_UNKNOWN), 500, "CommitStateUnknownException"),
    (refusal_for(Reason.REASON_STORE_UNAVAILABLE), 503, "ServiceUnavailableException"),
    (refusal_for(Reason.REASON_STORE_DENIED), 424, "PermissionDenied"),
    (refusal_for(Reason.REASON_CREDENTIAL_NOT_ISSUED), 424, "ShortTermCredentialError"),
    (refusal_for(Reason.REASON_PROPERTY_FORBIDDEN), 400, "FailedToSetProperties"),
    (refusal_for(Reason.REASON_PROPERTY_SET_AND_REMOVED), 422, "UnprocessableEntityException"),
    (refusal_for(Reason.REASON_DATABASE_UNAVAILABLE), 503, "CatalogBackendError"),
    (refusal_for(Reason.REASON_STORE_UNAVAILABLE), 503, "ServiceUnavailableException"),
    (refusal_for(Reason.REASON_OVERLOADED), 429, "TooManyRequestsException"),
    (refusal_for(Reason.REASON_PROPERTY_NOT_LOWERCASE, key="owner-Name"), 400, "Owner-NameNotLowercase"),
    (refusal_for(Reason.REASON_FORBIDDEN, kind="table"), 403, "TableActionForbidden"),
    (refusal_for(Reason.REASON_FORBIDDEN, kind="generic_table"), 403, "GenericTableActionForbidden"),
    (refusal_for(Reason.REASON_SIGNING_INVALID, cause="UriNotS3"), 400, "UriNotS3"),
    (refusal_for(Reason.REASON_SIGNING_INVALID, cause="SignWithoutCredentials"), 424, "SignWithoutCredentials"),
    (refusal_for(Reason.REASON_DUPLICATE_HEADER, header="idempotency-key"), 400, "DuplicateIdempotencyKey"),
    (refusal_for(Reason.REASON_NAMESPACE_LOCATION_FIXED, change="removed"), 400, "LocationCannotBeRemoved"),
    (refusal_for(Reason.REASON_NAMESPACE_LOCATION_FIXED, change="updated"), 400, "LocationCannotBeUpdated"),
    (refusal_for(Reason.REASON_IMMUTABLE_PROPERTY, change="modify"), 400, "ImmutablePropertyModification"),
    (refusal_for(Reason.REASON_IMMUTABLE_PROPERTY, change="remove"), 400, "ImmutablePropertyRemoval"),
    (refusal_for(Reason.REASON_VIEW_DIALECT_TWICE), 400, "IllegalArgumentException"),
    (refusal_for(Reason.REASON_PROPERTY_PROTECTED), 403, "ProtectedPropertyModification"),
    (refusal_for(Reason.REASON_VIEW_OWNER_UNCLEAR), 403, "AuthzBadRequest"),
    (refusal_for(Reason.REASON_PROJECT_NOT_EMPTY), 409, "ProjectNotEmpty"),
    (refusal_for(Reason.REASON_PROJECT_EXISTS), 409, "ProjectIdAlreadyExists"),
    (refusal_for(Reason.REASON_INVALID_PROJECT_NAME, name=" "), 400, "EmptyProjectName"),
    (refusal_for(Reason.REASON_INVALID_PROJECT_NAME, name="n" * 128), 400, "ProjectNameTooLong"),
    (refusal_for(Reason.REASON_INVALID_PROJECT_NAME, name="a\nb"), 400, "InvalidProjectName"),
    (refusal_for(Reason.REASON_INVALID_WAREHOUSE_NAME, name=""), 400, "EmptyWarehouseName"),
    (refusal_for(Reason.REASON_INVALID_WAREHOUSE_NAME, name=" "), 400, "EmptyWarehouseName"),
    (refusal_for(Reason.REASON_INVALID_WAREHOUSE_NAME, name="n" * 128), 400, "WarehouseNameTooLong"),
    (refusal_for(Reason.REASON_INVALID_WAREHOUSE_NAME, name="n" * 126 + "/x"), 400, "InvalidWarehouseName"),
    (refusal_for(Reason.REASON_INVALID_WAREHOUSE_NAME, name="a/b"), 400, "InvalidWarehouseName"),
    (refusal_for(Reason.REASON_TOKEN_MISSING), 401, "MissingAuthorizationHeader"),
]


@pytest.mark.parametrize(("refusal", "status", "word"), WORDS)
def test_clients_find_the_words_they_match_on(refusal: Refusal, status: int, word: str) -> None:
    shown = rendering(iceberg.RENDERED, refusal)
    assert (shown.status, shown.type) == (status, word)


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (refusal_for(Reason.REASON_INTERNAL), 500),
        (refusal_for(Reason.REASON_DEADLINE_EXCEEDED), 504),
        (refusal_for(Reason.REASON_SERVICE_UNAVAILABLE, service="catalog"), 502),
        (refusal_for(Reason.REASON_COMMIT_STATE_UNKNOWN), 500),
    ],
    ids=lambda value: name_of(value.reason) if isinstance(value, Refusal) else None,
)
def test_a_commit_that_may_have_happened_is_said_to_be_unknown(refusal: Refusal, status: int) -> None:
    shown = rendering(iceberg.COMMITTED, refusal)
    assert (shown.status, shown.type) == (status, "CommitStateUnknownException")
    assert shown.retry_after is None


def test_a_commit_that_surely_did_not_happen_is_not() -> None:
    for reason in (Reason.REASON_DATABASE_UNAVAILABLE, Reason.REASON_OVERLOADED, Reason.REASON_STORE_UNAVAILABLE):
        assert rendering(iceberg.COMMITTED, refusal_for(reason)).type != "CommitStateUnknownException"
    inner = refusal_for(Reason.REASON_SERVICE_UNAVAILABLE, service="vending")
    assert rendering(iceberg.COMMITTED, inner).status == 503


def challenge_of(refusal: Refusal) -> str:
    response = rendered(refusal, iceberg.RENDERED, new_id=str)
    (challenge,) = [value for name, value in response.headers if name == b"www-authenticate"]
    return challenge.decode("ascii")


def test_who_sent_no_token_is_told_where_one_counts_and_nothing_of_an_error() -> None:
    assert challenge_of(refusal_for(Reason.REASON_TOKEN_MISSING)) == 'Bearer realm="lakeward"'


def test_who_sent_a_bad_token_is_told_what_is_wrong_with_it() -> None:
    refusal = Refusal(Reason.REASON_TOKEN_REFUSED, "it is expired; get a new one", cause="expired")
    assert challenge_of(refusal) == (
        'Bearer realm="lakeward", error="invalid_token", error_description="it is expired; get a new one"'
    )


def test_who_sent_two_tokens_is_told_that_the_request_is_what_is_wrong() -> None:
    refusal = Refusal(Reason.REASON_DUPLICATE_HEADER, "send one", header="authorization")
    assert challenge_of(refusal).startswith('Bearer realm="lakeward", error="invalid_request", error_description=')
    other = rendered(refusal_for(Reason.REASON_DUPLICATE_HEADER), iceberg.RENDERED, new_id=str)
    assert not [name for name, _ in other.headers if name == b"www-authenticate"]


@given(message=st.text(max_size=600) | st.sampled_from(['a"b', "a\\b", "a\r\nset-cookie: x=1", "\x7f", "é€😀"]))
def test_no_message_ends_the_challenge_early_or_begins_another_header(message: str) -> None:
    refusal = Refusal(Reason.REASON_TOKEN_REFUSED, message, cause="issuer")
    assert re.fullmatch(
        r'Bearer realm="lakeward", error="invalid_token", error_description="[\x20\x21\x23-\x5b\x5d-\x7e]{0,400}"',
        challenge_of(refusal),
    )
