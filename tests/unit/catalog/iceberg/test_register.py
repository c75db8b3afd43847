"""Metadata files that others wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakeward_catalog.domain.iceberg import TableMetadata, register_table, register_view
from lakeward_servicekit.json_bounds import REQUEST_LIMITS
from tests.unit.catalog.iceberg.given import (
    LOCATION,
    PLAIN,
    T0,
    UUID,
    Json,
    a_table,
    a_view,
    append,
    commit,
    document,
    field,
    refused,
    schema,
)
from tests.unit.catalog.iceberg.strained import lists

FIRST = 2**62 + 1


def register(body: Json, *, allowed: frozenset[int] = frozenset({1, 2, 3})) -> TableMetadata:
    return register_table(json.dumps(body).encode(), fresh_uuid="fresh", allowed_format_versions=allowed)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_file_that_is_whole_is_taken_as_it_is(version: int) -> None:
    body = document(a_table(format_version=version, snapshots=70))
    assert document(register(body)) == body


def test_a_file_of_the_first_days_gets_what_it_lacks() -> None:
    table = register(
        {
            "format-version": 1,
            "location": LOCATION,
            "last-updated-ms": T0,
            "last-column-id": 3,
            "schema": PLAIN,
            "partition-spec": [
                {"name": "d", "transform": "day", "source-id": 3},
                {"name": "b", "transform": "bucket[4]", "source-id": 1},
            ],
            "current-snapshot-id": 5,
            "snapshots": [{"snapshot-id": 5, "timestamp-ms": T0, "manifests": ["s3://m"]}],
        }
    )
    after = document(table)
    assert after["table-uuid"] == "fresh"
    assert after["schemas"] == [{**PLAIN, "schema-id": 0}]
    assert [known["field-id"] for known in after["partition-specs"][0]["fields"]] == [1000, 1001]
    assert (after["last-partition-id"], after["sort-orders"]) == (1001, [{"order-id": 0, "fields": []}])
    assert after["refs"] == {"main": {"snapshot-id": 5, "type": "branch"}}
    upgraded = commit(table, {"action": "upgrade-format-version", "format-version": 2}).metadata
    assert commit(upgraded, *append(upgraded)).metadata.last_sequence_number == 1


def test_the_uuid_of_the_file_wins() -> None:
    assert register(document(a_table())).table_uuid == UUID


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("location", {"location": ""}),
        ("location", {"location": None}),
        ("current-schema-id", {"current-schema-id": 7}),
        ("default-spec-id", {"default-spec-id": 7}),
        ("default-sort-order-id", {"default-sort-order-id": 7}),
        ("current-snapshot-id", {"current-snapshot-id": 7}),
        ("refs.main", {"current-snapshot-id": FIRST}),
        ("refs.b", {"refs": {"b": {"type": "branch", "snapshot-id": 9}}, "current-snapshot-id": -1}),
        ("refs.b.type", {"refs": {"b": {"type": "twig", "snapshot-id": 9}}}),
        ("last-sequence-number", {"last-sequence-number": 1}),
        ("last-updated-ms", {"last-updated-ms": T0 - 60_001}),
        ("snapshot-log", {"snapshot-log": [{"snapshot-id": FIRST, "timestamp-ms": T0}]}),
        ("snapshot-log[0].timestamp-ms", {"snapshot-log": [{"snapshot-id": FIRST, "timestamp-ms": "now"}]}),
        ("metadata-log", {"metadata-log": [{"metadata-file": "a", "timestamp-ms": t} for t in (T0, T0 - 60_001)]}),
        ("schemas[0].fields[1]", {"schemas": [schema(field(1, "a"), field(1, "b"))]}),
        ("schemas[0].fields[0].type", {"schemas": [schema(field(1, "a", "variant"))]}),
        ("schemas", {"schemas": {}}),
        ("properties[...]", {"properties": {"a": 1}}),
        ("last-column-id", {"last-column-id": 1.5}),
        ("partition-specs[0]", {"partition-specs": [{"spec-id": 0}]}),
        ("sort-orders", {"sort-orders": [{"order-id": 3, "fields": []}], "default-sort-order-id": 3}),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_at_its_path(path: str, change: dict[str, Any]) -> None:
    with refused("INVALID_METADATA", path=path):
        register({**document(a_table(snapshots=2)), **change})


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b"PK\x03\x04", b"{" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000]
)
def test_a_file_that_is_no_metadata_is_refused(body: bytes) -> None:
    with refused("INVALID_METADATA"):
        register_table(body, fresh_uuid="fresh", allowed_format_versions={2})


def test_a_file_of_a_version_that_is_unknown_or_forbidden_is_refused() -> None:
    with refused("INVALID_FORMAT_VERSION", version="4"):
        register({**document(a_table()), "format-version": 4})
    with refused("FORMAT_VERSION_NOT_ALLOWED", version="2"):
        register(document(a_table()), allowed=frozenset({1}))


def test_a_file_with_properties_that_move_files_is_refused() -> None:
    with refused("PROPERTY_FORBIDDEN", key="write.data.path"):
        register({**document(a_table()), "properties": {"write.data.path": "s3://elsewhere"}})


def test_a_transform_of_a_later_version_does_not_stop_a_table() -> None:
    body = document(a_table())
    body["partition-specs"] = [
        {"spec-id": 0, "fields": [{"name": "z", "transform": "zorder", "source-ids": [1, 3], "field-id": 1000}]}
    ]
    assert document(register(body))["partition-specs"] == body["partition-specs"]


def test_whatever_depth_a_request_may_have_its_file_can_be_registered() -> None:
    """A schema stands one level deeper in a file than in a request to create its table."""
    deepest = REQUEST_LIMITS.depth - 3  # the request, the schema and its fields stand around it
    for depth in (deepest - 3, deepest - 2, deepest - 1):
        table = a_table(schema=schema(field(1, "deep", lists(depth))))
        assert (
            register_table(table.encode(), fresh_uuid="fresh", allowed_format_versions={2}).encode() == table.encode()
        )
    with refused("MALFORMED_DOCUMENT"):
        a_table(schema=schema(field(1, "deep", lists(deepest))))
    view = a_view(schema=schema(field(1, "deep", lists(deepest - 1))))
    assert register_view(view.encode()).encode() == view.encode()


def test_a_file_of_many_wide_schemas_and_many_snapshots_is_taken() -> None:
    table = a_table(snapshots=3)
    body = json.loads(table.encode())
    columns = [field(number, f"column_{number}", doc="what it holds") for number in range(1, 2001)]
    body["schemas"] = [{**schema(*columns), "schema-id": number} for number in range(100)]
    body["last-column-id"] = 2000
    newest = body["snapshots"][-1]
    ids = range(2**40, 2**40 + 9000)
    summary = {"operation": "append", **{f"total-{n}": str(n) for n in range(20)}}
    body["snapshots"] += [{**newest, "snapshot-id": number, "summary": summary} for number in ids]
    table = register_table(json.dumps(body).encode(), fresh_uuid="fresh", allowed_format_versions={2})
    assert (len(table.schemas), len(table.snapshots)) == (100, 9003)
