from __future__ import annotations

import fnmatch
import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeward_locations import Location
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3 import session_policy

TABLE = Location.parse("s3://lake/wh/t1")


def statements(policy: str) -> dict[str, dict[str, Any]]:
    return {statement["Sid"]: statement for statement in json.loads(policy)["Statement"]}


def build(location: Location = TABLE, **changes: Any) -> dict[str, dict[str, Any]]:
    arguments: dict[str, Any] = {"access": Access.READ, "partition": "aws", "kms_key": None} | changes
    return statements(session_policy.build(location, **arguments))


def matches(pattern: str, text: str) -> bool:
    """AWS's own matching: * and ? are wild, ${x} is the character x."""
    parts = re.split(r"(\$\{[*?$]\}|[*?])", pattern)
    rendered = "".join(
        re.escape(part[2]) if part.startswith("${") else {"*": ".*", "?": "."}.get(part, re.escape(part))
        for part in parts
    )
    return re.fullmatch(rendered, text, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("access", "actions"),
    [
        (Access.READ, {"GetObject", "GetObjectVersion"}),
        (
            Access.READ_WRITE,
            {"GetObject", "GetObjectVersion", "PutObject", "AbortMultipartUpload", "ListMultipartUploadParts"},
        ),
        (
            Access.READ_WRITE_DELETE,
            {
                "GetObject",
                "GetObjectVersion",
                "PutObject",
                "AbortMultipartUpload",
                "ListMultipartUploadParts",
                "DeleteObject",
            },
        ),
    ],
)
def test_each_level_grants_what_the_reference_lists_and_no_more(access: Access, actions: set[str]) -> None:
    policy = build(access=access)
    assert {action.removeprefix("s3:") for action in policy["TableAccess"]["Action"]} == actions
    assert policy["TableAccess"]["Resource"] == "arn:aws:s3:::lake/wh/t1/*"
    assert policy["ListBucketForFolder"]["Condition"] == {"StringLike": {"s3:prefix": "wh/t1/*"}}
    assert policy["GetBucketLocation"]["Resource"] == "arn:aws:s3:::lake"
    assert policy.keys() == {"TableAccess", "ListBucketForFolder", "GetBucketLocation"}


def test_a_reader_may_decrypt_and_make_no_data_keys() -> None:
    assert build(kms_key="arn:k")["KmsAccess"]["Action"] == ["kms:Decrypt"]
    assert build(kms_key="arn:k", access=Access.READ_WRITE)["KmsAccess"]["Action"] == [
        "kms:Decrypt",
        "kms:GenerateDataKey",
    ]


@pytest.mark.parametrize(
    ("role", "region", "partition"),
    [
        (None, "eu-central-1", "aws"),
        (None, "cn-north-1", "aws-cn"),
        (None, "us-gov-west-1", "aws-us-gov"),
        (None, "us-isob-east-1", "aws-iso-b"),
        (None, "us-iso-east-1", "aws-iso"),
        ("arn:aws-cn:iam::1:role/x", "eu-central-1", "aws-cn"),
        ("arn:aws:iam::1:role/x", "cn-north-1", "aws"),
        ("urn:sgws:identity::1:group/x", "eu01", "aws"),
    ],
)
def test_the_partition_comes_from_the_role_or_the_region(role: str | None, region: str, partition: str) -> None:
    assert session_policy.partition_of(role=role, region=region) == partition


SEGMENT = st.text(alphabet="ab*${}", min_size=1, max_size=5)


@given(segment=SEGMENT, other=SEGMENT)
@example(segment="a*", other="ab")
@example(segment="a", other="ab")
@example(segment="${*}", other="*")
@example(segment="$${*}", other="$*")
def test_a_pattern_matches_its_own_directory_alone(segment: str, other: str) -> None:
    policy = build(Location.parse("s3://lake").join(segment))
    for pattern, place in (
        (policy["TableAccess"]["Resource"], "arn:aws:s3:::lake/{}/file"),
        (policy["ListBucketForFolder"]["Condition"]["StringLike"]["s3:prefix"], "{}/"),
    ):
        assert matches(pattern, place.format(segment))
        assert matches(pattern, place.format(other)) is (segment == other)


def test_every_wild_mark_of_a_pattern_and_every_beginning_of_a_variable_is_escaped() -> None:
    assert session_policy.escape("a*b?c${d}e$f") == "a${*}b${?}c${$}{d}e$f"


def test_the_oracle_of_patterns_agrees_with_shell_patterns_where_they_mean_the_same() -> None:
    for pattern, text in (("a*", "ab"), ("a?", "ab"), ("a", "ab"), ("*", "x/y")):
        assert matches(pattern, text) is fnmatch.fnmatchcase(text, pattern)
