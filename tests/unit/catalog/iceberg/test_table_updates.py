from __future__ import annotations

import json

import pytest

from lakeward_catalog.domain.iceberg import register_table
from lakeward_catalog.domain.iceberg.updates import TABLE_UPDATES
from tests.unit.catalog.iceberg.given import (
    LOCATION,
    PLAIN,
    T0,
    UUID,
    Json,
    a_table,
    append,
    commit,
    document,
    field,
    properties,
    refused,
    schema,
)

KEY = {"key-id": "k1", "encrypted-key-metadata": "AAAA", "encrypted-by-id": "kms"}


def test_every_table_update_of_the_specification_is_known() -> None:
    assert set(TABLE_UPDATES.actions) == {
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-current-schema",
        "add-spec",
        "set-default-spec",
        "add-sort-order",
        "set-default-sort-order",
        "add-snapshot",
        "set-snapshot-ref",
        "remove-snapshots",
        "remove-snapshot-ref",
        "set-location",
        "set-properties",
        "remove-properties",
        "set-statistics",
        "remove-statistics",
        "set-partition-statistics",
        "remove-partition-statistics",
        "remove-partition-specs",
        "remove-schemas",
        "add-encryption-key",
        "remove-encryption-key",
    }


@pytest.mark.parametrize("action", ["frobnicate", "add-view-version", ""])
def test_an_update_that_is_not_a_tables_is_named(action: str) -> None:
    with refused("UNKNOWN_UPDATE", action=action):
        commit(a_table(), {"action": action})


def test_updates_that_change_nothing_need_no_new_file() -> None:
    table = a_table(properties={"a": "b"}, snapshots=1)
    result = commit(
        table,
        {"action": "assign-uuid", "uuid": UUID.upper()},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "set-location", "location": LOCATION},
        properties(a="b"),
        {"action": "remove-properties", "removals": ["z"]},
        {"action": "add-schema", "schema": PLAIN},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "remove-snapshots", "snapshot-ids": [5]},
        {"action": "remove-snapshot-ref", "ref-name": "none"},
        {"action": "remove-statistics", "snapshot-id": 5},
        {"action": "remove-partition-statistics", "snapshot-id": 5},
        {"action": "remove-partition-specs", "spec-ids": [5]},
        {"action": "remove-schemas", "schema-ids": [5]},
        {"action": "remove-encryption-key", "key-id": "none"},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": table.current_snapshot_id},
        previous_file="s3://f",
    )
    assert not result.changed
    assert result.metadata is table


def test_a_staged_table_is_finalised_by_repeating_what_created_it() -> None:
    spec = {"spec-id": 0, "fields": [{"source-id": 3, "transform": "day", "name": "d", "field-id": 1000}]}
    staged = a_table(**{"partition-spec": spec})
    result = commit(
        staged,
        {"action": "assign-uuid", "uuid": UUID},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": document(staged)["schemas"][0], "last-column-id": 3},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": spec},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": LOCATION},
        {"action": "set-properties", "updates": {}},
        *append(staged),
        requirements=({"type": "assert-create"},),
        staged=True,
    )
    after = document(result.metadata)
    assert after["metadata-log"] == []
    before = document(staged)
    for same in ("schemas", "partition-specs", "sort-orders", "current-schema-id", "default-spec-id", "table-uuid"):
        assert after[same] == before[same]


def test_another_uuid_is_refused() -> None:
    with refused("ASSIGN_UUID_NOT_ALLOWED", uuid="other"):
        commit(a_table(), {"action": "assign-uuid", "uuid": "other"})


@pytest.mark.parametrize("location", [LOCATION + "/", LOCATION + "2", "s3://elsewhere", ""])
def test_a_table_never_moves(location: str) -> None:
    with refused("SET_LOCATION_NOT_ALLOWED", location=location):
        commit(a_table(), {"action": "set-location", "location": location})


def test_the_format_version_only_goes_up() -> None:
    table = commit(a_table(format_version=1), {"action": "upgrade-format-version", "format-version": 3}).metadata
    assert (document(table)["format-version"], document(table)["next-row-id"]) == (3, 0)
    with refused("INVALID_UPDATE", action="upgrade-format-version"):
        commit(table, {"action": "upgrade-format-version", "format-version": 2})


def test_a_format_version_that_is_unknown_or_forbidden_is_refused() -> None:
    with refused("INVALID_FORMAT_VERSION", version="4"):
        commit(a_table(), {"action": "upgrade-format-version", "format-version": 4})
    with refused("FORMAT_VERSION_NOT_ALLOWED", version="3", allowed="1,2"):
        commit(
            a_table(),
            {"action": "upgrade-format-version", "format-version": 3},
            allowed_format_versions=frozenset({1, 2}),
        )


def test_properties_are_set_and_removed_and_unknown_removals_ignored() -> None:
    table = commit(a_table(properties={"a": "1", "b": "2"}), properties(b="3", c="4")).metadata
    table = commit(table, {"action": "remove-properties", "removals": ["a", "zzz"]}).metadata
    assert table.properties == {"b": "3", "c": "4"}


@pytest.mark.parametrize("key", ["write.data.path", "write.object-storage.path.x", "write.metadata.path"])
def test_a_forbidden_property_can_be_neither_set_nor_removed(key: str) -> None:
    with refused("PROPERTY_FORBIDDEN", key=key):
        commit(a_table(), properties(**{key: "x"}))
    with refused("PROPERTY_FORBIDDEN", key=key):
        commit(a_table(), {"action": "remove-properties", "removals": [key]})


@pytest.mark.parametrize("key", ["format-version", "uuid", "snapshot-count", "current-snapshot-id"])
def test_a_reserved_property_can_be_neither_set_nor_removed(key: str) -> None:
    with refused("INVALID_UPDATE", action="set-properties"):
        commit(a_table(), properties(**{key: "1"}))
    with refused("INVALID_UPDATE", action="remove-properties"):
        commit(a_table(), {"action": "remove-properties", "removals": [key]})


def test_an_encryption_key_id_is_fixed_once_it_is_set() -> None:
    table = commit(a_table(), properties(**{"encryption.key-id": "k"})).metadata
    assert not commit(table, properties(**{"encryption.key-id": "k"})).changed
    with refused("IMMUTABLE_PROPERTY", key="encryption.key-id", change="modify") as refusal:
        commit(table, properties(**{"encryption.key-id": "other"}))
    assert refusal.message.startswith("Cannot modify immutable property")
    with refused("IMMUTABLE_PROPERTY", key="encryption.key-id", change="remove") as refusal:
        commit(table, {"action": "remove-properties", "removals": ["encryption.key-id"]})
    assert refusal.message.startswith("Cannot remove immutable property")


def test_a_codec_that_is_not_served_is_refused_in_a_commit_too() -> None:
    with refused("UNSUPPORTED_COMPRESSION", codec="zstd"):
        commit(a_table(), properties(**{"write.metadata.compression-codec": "zstd"}))


def test_encryption_keys_are_added_once_and_removed() -> None:
    table = commit(a_table(format_version=3), {"action": "add-encryption-key", "encryption-key": KEY}).metadata
    assert not commit(table, {"action": "add-encryption-key", "encryption-key": KEY | {"encrypted-by-id": "x"}}).changed
    assert document(table)["encryption-keys"] == [KEY]
    table = commit(table, {"action": "remove-encryption-key", "key-id": "k1"}).metadata
    assert "encryption-keys" not in document(table)


def test_encryption_keys_need_format_version_3() -> None:
    with refused("INVALID_UPDATE", action="add-encryption-key"):
        commit(a_table(), {"action": "add-encryption-key", "encryption-key": KEY})


def test_each_commit_logs_the_file_before_it_with_that_files_time() -> None:
    table = commit(a_table(), properties(a="b"), previous_file="s3://f0", now_ms=T0 + 5).metadata
    table = commit(table, properties(a="c"), previous_file="s3://f1", now_ms=T0 + 9).metadata
    assert document(table)["metadata-log"] == [
        {"metadata-file": "s3://f0", "timestamp-ms": T0},
        {"metadata-file": "s3://f1", "timestamp-ms": T0 + 5},
    ]
    assert table.last_updated_ms == T0 + 9


@pytest.mark.parametrize(("limit", "kept"), [("2", 2), ("0", 1), ("-5", 1), ("many", 5), ("1", 1)])
def test_the_metadata_log_keeps_the_newest_and_names_what_it_drops(limit: str, kept: int) -> None:
    table, trimmed = a_table(properties={"write.metadata.previous-versions-max": limit}), list[str]()
    for number in range(5):
        result = commit(table, properties(n=str(number)), previous_file=f"s3://f{number}")
        table, trimmed = result.metadata, [*trimmed, *result.trimmed]
    assert [known.head.metadata_file for known in table.metadata_log] == [f"s3://f{n}" for n in range(5 - kept, 5)]
    assert trimmed == [f"s3://f{n}" for n in range(5 - kept)]


def test_a_clock_that_runs_behind_does_not_turn_the_log_back() -> None:
    table = commit(a_table(), properties(a="b"), now_ms=T0 - 3_600_000).metadata
    assert table.last_updated_ms == T0


def test_a_refusal_says_which_update_of_which_table() -> None:
    with refused("INVALID_UPDATE", action="set-current-schema") as refusal:
        commit(a_table(), properties(a="b"), {"action": "set-current-schema", "schema-id": 9})
    assert "update 1 of ns.t, set-current-schema (schema-id): schema 9 does not exist" in refusal.message


def test_the_base_is_the_same_after_a_commit_and_after_a_refusal() -> None:
    table = a_table(snapshots=3)
    before = table.encode()
    commit(table, *append(table), properties(a="b"))
    with refused("INVALID_UPDATE"):
        commit(table, properties(a="b"), {"action": "set-default-spec", "spec-id": 9})
    assert table.encode() == before


def statistics(snapshot_id: int, path: str) -> Json:
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": path,
        "file-size-in-bytes": 10,
        "file-footer-size-in-bytes": 5,
        "blob-metadata": [{"type": "ndv", "snapshot-id": snapshot_id, "sequence-number": 1, "fields": [1]}],
    }


@pytest.mark.parametrize("kind", ["statistics", "partition-statistics"])
def test_statistics_of_a_snapshot_are_replaced_by_content_and_kept_in_place(kind: str) -> None:
    table = a_table()
    for path, snapshot_id in (("s3://a", 1), ("s3://b", 2), ("s3://c", 1)):
        table = commit(table, {"action": f"set-{kind}", kind: statistics(snapshot_id, path)}).metadata
    assert [known["statistics-path"] for known in document(table)[kind]] == ["s3://c", "s3://b"]
    assert not commit(table, {"action": f"set-{kind}", kind: statistics(1, "s3://c")}).changed
    table = commit(table, {"action": f"remove-{kind}", "snapshot-id": 1}).metadata
    assert [known["statistics-path"] for known in document(table)[kind]] == ["s3://b"]


def test_statistics_under_another_snapshot_id_than_their_own_are_refused() -> None:
    update = {"action": "set-statistics", "snapshot-id": 2, "statistics": statistics(1, "s3://a")}
    with refused("INVALID_UPDATE", action="set-statistics"):
        commit(a_table(), update)


def test_types_of_format_version_3_can_come_with_the_upgrade_and_not_without_it() -> None:
    added = {"action": "add-schema", "schema": schema(*PLAIN["fields"], field(4, "v", "variant"))}
    assert commit(a_table(), {"action": "upgrade-format-version", "format-version": 3}, added).changed
    with refused("INVALID_UPDATE", action="add-schema"):
        commit(a_table(), added)


def test_a_file_that_the_log_still_names_is_not_among_those_that_fell_out_of_it() -> None:
    """The log of a file that was registered can name one file twice, the file itself among them."""
    table = a_table(properties={"write.metadata.previous-versions-max": "2"})
    body = document(table)
    twice = f"{LOCATION}/metadata/v1.metadata.json"
    body["metadata-log"] = [
        {"metadata-file": file, "timestamp-ms": T0} for file in (twice, "s3://old", "s3://old", twice)
    ]
    table = register_table(json.dumps(body).encode(), fresh_uuid="x", allowed_format_versions={2})
    first = commit(table, properties(a="1"), previous_file=twice)
    assert first.trimmed == ("s3://old",)
    assert [entry.head.metadata_file for entry in first.metadata.metadata_log] == [twice, twice]
    second = commit(first.metadata, properties(a="2"), previous_file="s3://second")
    assert second.trimmed == ()
    assert commit(second.metadata, properties(a="3"), previous_file="s3://third").trimmed == (twice,)
