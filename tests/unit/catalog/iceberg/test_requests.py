"""Bodies that are not what they should be."""

from __future__ import annotations

import json

import pytest

from lakeward_catalog.domain.iceberg import (
    parse_commit,
    parse_create_table,
    parse_create_view,
    parse_transaction,
    parse_view_commit,
)
from tests.unit.catalog.iceberg.given import PLAIN, Json, a_version, field, refused, schema

READERS = [parse_commit, parse_create_table, parse_create_view, parse_transaction, parse_view_commit]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"null",
        b"1",
        b'"text"',
        b"{}",
        b'{"name": "t"} trailing',
        b"\xef\xbb\xbf{}",
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'{"name": NaN}',
        b"[" * 100_000,
        b'{"updates":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"schema":' + b"9" * 100_000 + b"}",
        b'{"schema": 1e999}',
    ],
)
def test_a_body_that_is_not_a_request_is_malformed(reader: object, body: bytes) -> None:
    with refused("MALFORMED_DOCUMENT"):
        reader(body)  # type: ignore[operator]


def nested(levels: int) -> object:
    kind: object = "int"
    for level in range(levels):
        kind = {"type": "list", "element-id": level, "element": kind, "element-required": False}
    return kind


def test_a_schema_may_be_nested_deeply_but_not_without_end() -> None:
    body = {"name": "t", "schema": schema(field(1_000_000, "deep", nested(90)))}
    assert parse_create_table(json.dumps(body).encode()).name == "t"
    with refused("MALFORMED_DOCUMENT"):
        parse_create_table(json.dumps({"name": "t", "schema": schema(field(1, "deep", nested(110)))}).encode())


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"schema": PLAIN}, "$"),
        ({"name": 1, "schema": PLAIN}, "name"),
        ({"name": "t"}, "$"),
        ({"name": "t", "schema": []}, "schema"),
        ({"name": "t", "schema": {"type": "list", "fields": []}}, "schema"),
        ({"name": "t", "schema": schema(field(1, "a", "intt"))}, "schema"),
        ({"name": "t", "schema": schema(field(1, "a", "decimal(39, 2)"))}, "schema"),
        ({"name": "t", "schema": schema(field(2**40, "a"))}, "schema"),
        ({"name": "t", "schema": schema(field(1, "a", {"type": "list"}))}, "schema"),
        ({"name": "t", "schema": PLAIN, "properties": {"a": 1}}, "properties[...]"),
        (
            {"name": "t", "schema": PLAIN, "partition-spec": {"fields": [{"name": "a", "transform": "day"}]}},
            "partition-spec",
        ),
        ({"name": "t", "schema": PLAIN, "stage-create": "yes"}, "stage-create"),
        ({"name": "t", "schema": PLAIN, "location": 4}, "location"),
    ],
)
def test_a_create_is_refused_at_the_path_of_what_is_wrong(body: Json, path: str) -> None:
    with refused("MALFORMED_DOCUMENT", path=path):
        parse_create_table(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("update", "path"),
    [
        ({}, "updates[1].action"),
        ({"action": 5}, "updates[1].action"),
        ({"action": "add-schema"}, "updates[1]"),
        ({"action": "assign-uuid", "uuid": None}, "updates[1].uuid"),
        ({"action": "set-current-schema", "schema-id": "1"}, "updates[1].schema-id"),
        ({"action": "set-current-schema", "schema-id": 2**31}, "updates[1].schema-id"),
        ({"action": "remove-snapshots", "snapshot-ids": [1, 2.5]}, "updates[1].snapshot-ids[1]"),
        ({"action": "set-snapshot-ref", "type": "branch", "snapshot-id": 1}, "updates[1].ref-name"),
        ({"action": "set-snapshot-ref", "ref-name": "b", "type": "twig", "snapshot-id": 1}, "updates[1].type"),
        ({"action": "set-statistics", "statistics": {}}, "updates[1].statistics"),
        ({"action": "set-properties", "updates": {"a": None}}, "updates[1].updates[...]"),
    ],
)
def test_an_update_is_refused_at_the_path_of_what_is_wrong(update: Json, path: str) -> None:
    body = {"requirements": [], "updates": [{"action": "assign-uuid", "uuid": "x"}, update]}
    with refused("MALFORMED_DOCUMENT", path=path):
        parse_commit(json.dumps(body).encode())


def test_a_requirement_is_refused_at_the_path_of_what_is_wrong() -> None:
    body = {"table-changes": [{"updates": [], "requirements": [{"type": "assert-default-spec-id"}]}]}
    with refused("MALFORMED_DOCUMENT", path="table-changes[0].requirements[0]"):
        parse_transaction(json.dumps(body).encode())


def test_a_transaction_is_its_commits_in_order() -> None:
    changes = [
        {"identifier": {"namespace": ["a", "b"], "name": name}, "requirements": [], "updates": []}
        for name in ("t", "u")
    ]
    commits = parse_transaction(json.dumps({"table-changes": changes}).encode())
    identifiers = [known.identifier for known in commits]
    assert [(i.namespace, i.name) for i in identifiers if i is not None] == [(("a", "b"), "t"), (("a", "b"), "u")]


def test_a_commit_without_identifier_and_requirements_is_read() -> None:
    commit = parse_commit(b'{"updates": [], "x-unknown": {}}')
    assert (commit.identifier, commit.requirements, commit.updates) == (None, (), ())


def test_a_create_with_nulls_is_a_create_without_them() -> None:
    body = {"name": "t", "schema": PLAIN} | dict.fromkeys(
        ["location", "partition-spec", "write-order", "stage-create", "properties"]
    )
    request = parse_create_table(json.dumps(body).encode())
    assert (request.location, request.partition_spec, request.stage_create, request.properties) == (
        None,
        None,
        False,
        {},
    )


def test_a_view_needs_a_version() -> None:
    with refused("MALFORMED_DOCUMENT"):
        parse_create_view(json.dumps({"name": "v", "schema": PLAIN, "properties": {}}).encode())
    body = {"name": "v", "schema": PLAIN, "properties": {}, "view-version": a_version(**{"default-namespace": "ns"})}
    with refused("MALFORMED_DOCUMENT", path="view-version"):
        parse_create_view(json.dumps(body).encode())


def test_a_commit_of_very_many_updates_or_requirements_is_refused_and_one_of_many_snapshots_is_not() -> None:
    update = {"action": "remove-properties", "removals": []}
    assert len(parse_commit(json.dumps({"updates": [update] * 10_000}).encode()).updates) == 10_000
    for member, entry in (("updates", update), ("requirements", {"type": "assert-create"})):
        body = {"updates": [], member: [entry] * 10_001}
        for reader in (parse_commit, parse_view_commit):
            with refused("MALFORMED_DOCUMENT", path=member):
                reader(json.dumps(body).encode())
        with refused("MALFORMED_DOCUMENT", path=f"table-changes[0].{member}"):
            parse_transaction(json.dumps({"table-changes": [body]}).encode())
