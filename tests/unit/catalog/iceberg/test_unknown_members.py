"""What the engine does not know survives every commit, at every level, exactly."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward_catalog.domain.iceberg import TableMetadata, ViewMetadata, parse_table, parse_view, register_table
from tests.unit.catalog.iceberg.given import (
    PLAIN,
    UUID,
    Json,
    a_table,
    a_version,
    a_view,
    append,
    commit,
    commit_view,
    document,
    field,
    main,
    properties,
    schema,
    sql,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
UNKNOWN = st.dictionaries(st.text(max_size=6).map(lambda name: f"x-{name}"), VALUES, max_size=3)
KEY = {"key-id": "k1", "encrypted-key-metadata": "AAAA"}
STATISTICS = {
    "snapshot-id": 2**62 + 1,
    "statistics-path": "s3://a",
    "file-size-in-bytes": 10,
    "file-footer-size-in-bytes": 5,
    "blob-metadata": [{"type": "ndv", "snapshot-id": 2**62 + 1, "sequence-number": 1, "fields": [1], "x-blob": 1}],
}


def a_rich_document() -> Json:
    table = a_table(format_version=3, snapshots=3)
    table = commit(
        table,
        {"action": "set-snapshot-ref", "ref-name": "t", "type": "tag", "snapshot-id": 2**62 + 1},
        {"action": "set-statistics", "statistics": STATISTICS},
        {"action": "add-encryption-key", "encryption-key": KEY},
        {"action": "add-spec", "spec": {"fields": [{"source-id": 3, "transform": "day", "name": "d"}]}},
        {
            "action": "add-sort-order",
            "sort-order": {
                "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}]
            },
        },
        properties(a="b"),
        previous_file="s3://f0",
    ).metadata
    return document(table)


def objects(value: Any) -> list[Json]:
    """Every JSON object that is not a map of free keys."""
    if isinstance(value, list):
        return [found for item in value for found in objects(item)]
    if not isinstance(value, dict):
        return []
    free = {"properties", "summary"}
    inner = [found for name, member in value.items() if name not in free for found in objects(member)]
    holds_refs = bool(value) and all(isinstance(member, dict) and "snapshot-id" in member for member in value.values())
    return inner if holds_refs else [value, *inner]


EVERY_KIND_OF_UPDATE = [
    properties(c="d"),
    {"action": "remove-properties", "removals": ["a"]},
    {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(4, "extra"))},
    {"action": "set-current-schema", "schema-id": 1},
    {"action": "add-spec", "spec": {"fields": [{"source-id": 1, "transform": "bucket[4]", "name": "b"}]}},
    {"action": "set-default-spec", "spec-id": 2},
    {"action": "set-default-sort-order", "sort-order-id": 1},
    {"action": "set-snapshot-ref", "ref-name": "other", "type": "branch", "snapshot-id": 2**62 + 2},
    {"action": "set-partition-statistics", "partition-statistics": {**STATISTICS, "snapshot-id": 2**62 + 2}},
    {"action": "add-encryption-key", "encryption-key": {**KEY, "key-id": "k2"}},
    main(2**62 + 2),
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_unknown_members_of_every_object_survive_every_commit(data: st.DataObject) -> None:
    body = a_rich_document()
    marks = [(known, data.draw(UNKNOWN)) for known in objects(body)]
    for known, unknown in marks:
        known.update(unknown)
    table = parse_table(json.dumps(body).encode())
    for update in EVERY_KIND_OF_UPDATE:
        table = commit(table, update, previous_file="s3://f1").metadata
        table = parse_table(table.encode())
    table = commit(table, *append(table)).metadata
    after = document(table)
    survived = [json.dumps(found, sort_keys=True) for found in objects(after)]
    for known, unknown in marks:
        if known is body:
            assert unknown.items() <= after.items()
        elif known is body["refs"]["main"]:
            assert unknown.items() <= after["refs"]["main"].items()
        else:
            assert json.dumps(known, sort_keys=True) in survived, unknown


@settings(max_examples=60, deadline=None)
@given(UNKNOWN, UNKNOWN, UNKNOWN)
def test_unknown_members_of_what_a_request_brings_are_stored(one: Json, two: Json, three: Json) -> None:
    wider = schema(*PLAIN["fields"], field(4, "extra", **one), **two)
    table = commit(
        a_table(schema=schema(field(9, "id", **three), **one), properties={"k": "v"}),
        {"action": "add-schema", "schema": wider},
        {
            "action": "add-spec",
            "spec": {"fields": [{"source-id": 1, "transform": "bucket[2]", "name": "d", **one}], **two},
        },
        *append(a_table(), **three),
    ).metadata
    after = document(table)
    assert one.items() <= after["schemas"][0].items()
    assert three.items() <= after["schemas"][0]["fields"][0].items()
    assert two.items() <= after["schemas"][1].items()
    assert one.items() <= after["schemas"][1]["fields"][3].items()
    assert one.items() <= after["partition-specs"][1]["fields"][0].items()
    assert two.items() <= after["partition-specs"][1].items()
    assert three.items() <= after["snapshots"][0].items()


@settings(max_examples=40, deadline=None)
@given(UNKNOWN, UNKNOWN, UNKNOWN)
def test_unknown_members_of_a_view_survive_every_commit(one: Json, two: Json, three: Json) -> None:
    view = a_view(**{"view-version": a_version({**sql(), **one}, **two)})
    body = {**document(view), **three}
    view = parse_view(json.dumps(body).encode())
    after: ViewMetadata = commit_view(
        view,
        properties(a="b"),
        {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(4, "extra"))},
        {
            "action": "add-view-version",
            "view-version": a_version(
                sql(text="select 2"),
                **{"schema-id": -1, "timestamp-ms": view.version_log[0].head.timestamp_ms + 1, **one},
            ),
        },
        {"action": "set-current-view-version", "view-version-id": -1},
    ).metadata
    shown = document(after)
    assert three.items() <= shown.items()
    assert shown["versions"][0] == body["versions"][0]
    assert one.items() <= shown["versions"][1].items()


def test_what_a_commit_does_not_touch_keeps_its_bytes() -> None:
    body = a_rich_document()
    body["snapshots"][0]["x"] = 1.10
    text = json.dumps(body, separators=(",", ":")).replace("1.1", "1.10e0")
    table: TableMetadata = parse_table(text.encode())
    after = commit(table, *append(table), properties(z="z")).metadata
    assert b'"x":1.10e0' in after.encode()
    for name in ("schemas", "partition_specs", "sort_orders", "statistics", "encryption_keys"):
        assert getattr(after, name) is getattr(table, name)


def test_a_registered_file_keeps_unknown_members_too() -> None:
    body = a_rich_document()
    for known in objects(body):
        known["x-more"] = {"y": [2**60 + 1]}
    table = register_table(json.dumps(body, indent=2).encode(), fresh_uuid=UUID, allowed_format_versions={3})
    assert document(table) == body
