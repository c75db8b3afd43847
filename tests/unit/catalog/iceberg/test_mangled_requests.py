"""Requests with any part replaced by anything: refused with a reason, or applied to a whole document; never an error."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward_catalog.domain.iceberg import (
    TableMetadata,
    apply_to_table,
    apply_to_view,
    create_table,
    create_view,
    parse_commit,
    parse_create_table,
    parse_create_view,
    parse_view_commit,
    register_table,
    register_view,
)
from lakeward_servicekit.errors import Refusal
from tests.unit.catalog.iceberg.given import (
    LOCATION,
    PLAIN,
    T0,
    UUID,
    Json,
    a_table,
    a_version,
    a_view,
    append,
    commit,
    document,
    field,
    main,
    properties,
    schema,
    sql,
)

NOISE = st.recursive(
    st.sampled_from(
        [None, True, -1, 0, 1, 2, 999, 1000, 2**31, 2**63, 2**70, 1.5, "", "main", "int", "day", "add-spec"]
    )
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "type", "fields", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
TABLES = [
    commit(
        a_table(format_version=version, snapshots=3),
        {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(4, "more"))},
        {"action": "set-snapshot-ref", "ref-name": "b", "type": "branch", "snapshot-id": 2**62 + 1},
        previous_file="s3://f",
    ).metadata
    for version in (1, 2, 3)
]
VIEW = a_view()


def updates(table: TableMetadata) -> list[Json]:
    statistics = {"snapshot-id": 2**62 + 1, "statistics-path": "s3://p", "file-size-in-bytes": 1}
    order = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}
    nested = {"type": "map", "key-id": 8, "key": "string", "value-id": 9, "value": "int", "value-required": True}
    return [
        *append(table),
        {"action": "assign-uuid", "uuid": UUID},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(7, "m", nested)), "last-column-id": 9},
        {"action": "set-current-schema", "schema-id": -1},
        {
            "action": "add-spec",
            "spec": {"fields": [{"source-id": 3, "transform": "day", "name": "d", "field-id": 1000}]},
        },
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [order]}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "remove-snapshots", "snapshot-ids": [2**62 + 1]},
        {"action": "remove-snapshot-ref", "ref-name": "b"},
        {"action": "set-partition-statistics", "partition-statistics": statistics},
        {"action": "remove-schemas", "schema-ids": [0]},
        {"action": "remove-partition-specs", "spec-ids": [1]},
        {"action": "remove-properties", "removals": ["a"]},
        properties(a="b"),
        main(2**62 + 2),
    ]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return (
        [at, *(place for key, member in inner for place in places(member, (*at, key)))]
        if at
        else [place for key, member in inner for place in places(member, (key,))]
    )


def mangled(data: st.DataObject, body: Json) -> bytes:
    """The body with one to three parts replaced or removed."""
    body = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 3))):
        known = places(body)
        if not known:
            break
        *way, last = data.draw(st.sampled_from(known))
        parent: Any = body
        for step in way:
            parent = parent[step]
        if data.draw(st.booleans()):
            parent[last] = data.draw(NOISE)
        else:
            del parent[last]
    return json.dumps(body).encode()


MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@MANY
@given(st.data())
def test_a_mangled_commit_is_refused_or_makes_a_document_that_could_be_registered(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(TABLES))
    chosen = data.draw(st.lists(st.sampled_from(updates(table)), min_size=1, max_size=3))
    body = mangled(data, {"requirements": [{"type": "assert-table-uuid", "uuid": UUID}], "updates": chosen})
    before = table.encode()
    try:
        request = parse_commit(body)
        made = apply_to_table(
            table, request.requirements, request.updates, object_name="ns.t", now_ms=T0 + 5, previous_file="s3://f"
        ).metadata
    except Refusal:
        return
    finally:
        assert table.encode() == before
    assert register_table(made.encode(), fresh_uuid="x", allowed_format_versions={1, 2, 3}).encode() == made.encode()


@MANY
@given(st.data())
def test_a_mangled_create_is_refused_or_makes_a_document_that_could_be_registered(data: st.DataObject) -> None:
    body = {
        "name": "t",
        "schema": updates(TABLES[2])[4]["schema"] | {"identifier-field-ids": [1]},
        "partition-spec": {"fields": [{"source-id": 3, "transform": "day", "name": "d"}]},
        "write-order": updates(TABLES[2])[8]["sort-order"],
        "properties": {"a": "b"},
    }
    version = data.draw(st.sampled_from([1, 2, 3]))
    try:
        request = parse_create_table(mangled(data, body))
        made = create_table(request, table_uuid=UUID, location=LOCATION, format_version=version, now_ms=T0)
    except Refusal:
        return
    assert register_table(made.encode(), fresh_uuid="x", allowed_format_versions={1, 2, 3}).encode() == made.encode()


@MANY
@given(st.data())
def test_a_mangled_file_is_refused_or_registered_as_a_whole_document(data: st.DataObject) -> None:
    body = mangled(data, document(data.draw(st.sampled_from(TABLES))))
    try:
        made = register_table(body, fresh_uuid="x", allowed_format_versions={1, 2, 3})
    except Refusal:
        return
    assert register_table(made.encode(), fresh_uuid="y", allowed_format_versions={1, 2, 3}).encode() == made.encode()


@MANY
@given(st.data())
def test_a_mangled_view_request_is_refused_or_makes_a_document_that_could_be_registered(data: st.DataObject) -> None:
    version = a_version(sql("spark", "select 2"), **{"timestamp-ms": T0 + 1, "schema-id": -1})
    changes = [
        {"action": "add-schema", "schema": schema(field(1, "a"))},
        {"action": "add-view-version", "view-version": version},
        {"action": "set-current-view-version", "view-version-id": -1},
    ]
    creating = {"name": "v", "schema": PLAIN, "view-version": a_version(), "properties": {"a": "b"}}
    try:
        if data.draw(st.booleans()):
            request = parse_view_commit(mangled(data, {"updates": changes}))
            made = apply_to_view(
                VIEW, request.requirements, request.updates, object_name="ns.v", now_ms=T0 + 1
            ).metadata
        else:
            create = parse_create_view(mangled(data, creating))
            made = create_view(create, view_uuid=UUID, location=LOCATION, now_ms=T0)
    except Refusal:
        return
    assert register_view(made.encode()).encode() == made.encode()
