from __future__ import annotations

import json

import pytest

from lakeward_catalog.domain.iceberg import ViewMetadata, parse_view, register_view
from lakeward_catalog.domain.iceberg.views.updates import VIEW_UPDATES
from tests.unit.catalog.iceberg.given import (
    LOCATION,
    PLAIN,
    T0,
    UUID,
    Json,
    a_version,
    a_view,
    commit_view,
    document,
    field,
    properties,
    refused,
    schema,
    sql,
)

CURRENT = {"action": "set-current-view-version", "view-version-id": -1}


def add(*representations: Json, **more: object) -> Json:
    return {"action": "add-view-version", "view-version": a_version(*representations, **more)}


def versions(view: ViewMetadata) -> list[int]:
    return [version.version_id for version in view.versions]


def logged(view: ViewMetadata) -> list[int]:
    return [entry.head.version_id for entry in view.version_log]


def replaced(view: ViewMetadata, text: str, now_ms: int = T0) -> ViewMetadata:
    return commit_view(view, add(sql(text=text), **{"timestamp-ms": now_ms}), CURRENT, now_ms=now_ms).metadata


def test_every_view_update_of_the_specification_is_known() -> None:
    assert set(VIEW_UPDATES.actions) == {
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-location",
        "set-properties",
        "remove-properties",
        "add-view-version",
        "set-current-view-version",
    }


def test_a_new_view_has_version_1_of_now_with_schema_0() -> None:
    version = a_version(sql("trino"), **{"version-id": 77, "timestamp-ms": 5, "schema-id": 9, "default-catalog": "c"})
    view = document(a_view(**{"view-version": version, "schema": {**PLAIN, "schema-id": 9}, "properties": {"a": "b"}}))
    assert view == {
        "view-uuid": UUID,
        "format-version": 1,
        "location": LOCATION,
        "schemas": [{**PLAIN, "schema-id": 0}],
        "current-version-id": 1,
        "versions": [{**version, "version-id": 1, "timestamp-ms": T0, "schema-id": 0}],
        "version-log": [{"version-id": 1, "timestamp-ms": T0}],
        "properties": {"a": "b"},
    }


def test_a_view_reads_back_as_it_was() -> None:
    view = a_view()
    assert parse_view(view.encode()) == view
    assert register_view(view.encode()).encode() == view.encode()


def test_a_view_without_representation_is_refused() -> None:
    with refused("EMPTY_VIEW"):
        a_view(**{"view-version": {**a_version(), "representations": []}})
    with refused("EMPTY_VIEW"):
        commit_view(a_view(), {"action": "add-view-version", "view-version": {**a_version(), "representations": []}})


def test_two_representations_of_one_dialect_are_refused() -> None:
    with refused("VIEW_DIALECT_TWICE", dialect="SPARK") as refusal:
        a_view(**{"view-version": a_version(sql("spark"), sql("SPARK", "select 2"))})
    assert refusal.message.startswith("Invalid view version: Cannot add multiple queries for dialect spark")
    with refused("VIEW_DIALECT_TWICE", dialect="SPARK"):
        commit_view(a_view(), add(sql("spark"), sql("SPARK", "select 2")))


def test_forbidden_properties_are_refused_on_views_too() -> None:
    with refused("PROPERTY_FORBIDDEN", key="write.metadata.path"):
        a_view(properties={"write.metadata.path": "s3://elsewhere"})
    with refused("PROPERTY_FORBIDDEN", key="write.metadata.path"):
        commit_view(a_view(), properties(**{"write.metadata.path": "s3://elsewhere"}))


def test_replacing_adds_a_version_and_logs_it() -> None:
    view = replaced(a_view(), "select 2", T0 + 9)
    assert (versions(view), logged(view), view.current_version_id) == ([1, 2], [1, 2], 2)
    assert view.version_log[-1].head.timestamp_ms == T0 + 9


def test_a_version_that_behaves_as_an_earlier_one_is_that_one() -> None:
    view = replaced(replaced(a_view(), "select 2"), "select 1", T0 + 9)
    assert (versions(view), logged(view), view.current_version_id) == ([1, 2], [1, 2, 1], 1)


def test_a_version_made_current_again_is_logged_at_the_time_of_the_commit() -> None:
    view = replaced(a_view(), "select 2")
    view = commit_view(view, {"action": "set-current-view-version", "view-version-id": 1}, now_ms=T0 + 500).metadata
    assert document(view)["version-log"][-1] == {"version-id": 1, "timestamp-ms": T0 + 500}


def test_one_commit_logs_only_the_version_it_ends_at() -> None:
    view = commit_view(a_view(), add(sql(text="select 2")), CURRENT, add(sql(text="select 3")), CURRENT).metadata
    assert (versions(view), logged(view)) == ([1, 2, 3], [1, 3])


def test_a_new_schema_is_referred_to_by_minus_one() -> None:
    view = commit_view(
        a_view(),
        {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(9, "more", "variant"))},
        add(sql(text="select 2"), **{"schema-id": -1}),
        CURRENT,
    ).metadata
    assert (view.current_version.head.schema_id, [s.schema_id for s in view.schemas]) == (1, [0, 1])


def test_a_schema_that_says_the_same_is_the_one_there_is() -> None:
    view = commit_view(
        a_view(), {"action": "add-schema", "schema": PLAIN}, add(sql(text="select 2"), **{"schema-id": -1}), CURRENT
    ).metadata
    assert (view.current_version.head.schema_id, len(view.schemas)) == (0, 1)


@pytest.mark.parametrize(
    "update",
    [
        add(sql(text="select 2"), **{"schema-id": 4}),
        add(sql(text="select 2"), **{"schema-id": -1}),
        add(sql(text="select 2"), **{"timestamp-ms": T0 - 60_001}),
        add({"type": "sql", "dialect": "spark"}),
        CURRENT,
        {"action": "set-current-view-version", "view-version-id": 7},
        {"action": "add-schema", "schema": schema(field(1, "a"), field(2, "a"))},
        {"action": "set-location", "location": "/"},
    ],
)
def test_an_update_that_can_not_be_applied_is_refused(update: Json) -> None:
    with refused("INVALID_UPDATE", action=update["action"]):
        commit_view(a_view(), update)


def test_losing_a_dialect_is_refused_unless_it_is_allowed() -> None:
    view = a_view(**{"view-version": a_version(sql("spark"), sql("Trino"))})
    only_spark = (add(sql("spark", "select 2")), CURRENT)
    with refused("VIEW_DIALECT_DROPPED", dialect="trino"):
        commit_view(view, *only_spark)
    assert commit_view(view, properties(**{"replace.drop-dialect.allowed": "TRUE"}), *only_spark).changed
    assert commit_view(view, add(sql("spark", "x"), sql("TRINO"), sql("duckdb")), CURRENT).changed


def test_old_versions_expire_and_the_log_before_a_gap_with_them() -> None:
    view = a_view(properties={"version.history.num-entries": "3"})
    for number in range(2, 7):
        view = replaced(view, f"select {number}")
    assert (versions(view), logged(view)) == ([4, 5, 6], [4, 5, 6])
    view = commit_view(view, {"action": "set-current-view-version", "view-version-id": 4}).metadata
    view = commit_view(view, add(sql(text="select 7"))).metadata
    assert (versions(view), view.current_version_id) == ([4, 6, 7], 4)
    assert logged(view) == [6, 4]


@pytest.mark.parametrize(("entries", "kept"), [("0", 1), ("-1", 1), ("many", 10), ("1", 1)])
def test_a_strange_history_size_is_read_as_the_nearest_sensible_one(entries: str, kept: int) -> None:
    view = a_view(properties={"version.history.num-entries": entries})
    for number in range(2, 15):
        view = replaced(view, f"select {number}")
    assert len(view.versions) == kept


def test_at_least_the_versions_of_this_commit_are_kept() -> None:
    view = a_view(properties={"version.history.num-entries": "1"})
    view = commit_view(view, add(sql(text="select 2")), add(sql(text="select 3")), CURRENT).metadata
    assert versions(view) == [2, 3]


def test_a_view_may_move_and_trailing_slashes_are_dropped() -> None:
    view = commit_view(a_view(), {"action": "set-location", "location": "s3://bucket/elsewhere//"}).metadata
    assert view.location == "s3://bucket/elsewhere"
    assert not commit_view(view, {"action": "set-location", "location": "s3://bucket/elsewhere/"}).changed


def test_uuid_and_format_version_never_change() -> None:
    assert not commit_view(
        a_view(), {"action": "assign-uuid", "uuid": UUID}, {"action": "upgrade-format-version", "format-version": 1}
    ).changed
    with refused("ASSIGN_UUID_NOT_ALLOWED"):
        commit_view(a_view(), {"action": "assign-uuid", "uuid": "x"})
    with refused("INVALID_FORMAT_VERSION", version="2"):
        commit_view(a_view(), {"action": "upgrade-format-version", "format-version": 2})


def test_properties_of_a_view_are_set_and_removed() -> None:
    view = commit_view(a_view(properties={"a": "1", "b": "2"}), properties(c="3")).metadata
    view = commit_view(view, {"action": "remove-properties", "removals": ["a", "zzz"]}).metadata
    assert view.properties == {"b": "2", "c": "3"}


def test_a_tables_update_is_unknown_to_a_view() -> None:
    with refused("UNKNOWN_UPDATE", action="add-snapshot"):
        commit_view(a_view(), {"action": "add-snapshot", "snapshot": {}})


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("current-version-id", {"current-version-id": 9}),
        ("format-version", {"format-version": 2}),
        ("versions[0].schema-id", {"schemas": [{**PLAIN, "schema-id": 3}]}),
        ("versions[0].representations[0].dialect", {"versions": [a_version({"type": "sql", "sql": "x"})]}),
        ("schemas[0].fields[1]", {"schemas": [schema(field(1, "a"), field(1, "b"), **{"schema-id": 0})]}),
    ],
)
def test_a_view_file_that_contradicts_itself_is_refused_at_its_path(path: str, change: Json) -> None:
    with refused("INVALID_METADATA", path=path):
        register_view(json.dumps({**document(a_view()), **change}).encode())


def test_a_representation_of_another_kind_is_kept() -> None:
    strange = {"type": "substrait", "plan": "AAAA"}
    assert (
        document(a_view(**{"view-version": a_version(sql(), strange)}))["versions"][0]["representations"][1] == strange
    )
