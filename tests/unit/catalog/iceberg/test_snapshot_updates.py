from __future__ import annotations

from typing import Any

import pytest

from lakeward_catalog.domain.iceberg.history import CHUNK_SIZE
from tests.unit.catalog.iceberg.given import (
    T0,
    Json,
    a_snapshot,
    a_table,
    append,
    commit,
    document,
    main,
    properties,
    refused,
)

FIRST = 2**62 + 1


def ref(name: str, snapshot_id: int, kind: Any = "branch", **more: Any) -> Json:
    return {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": snapshot_id, **more}


def remove(*snapshot_ids: int) -> Json:
    return {"action": "remove-snapshots", "snapshot-ids": list(snapshot_ids)}


def logged(table: object) -> list[int]:
    return [entry["snapshot-id"] for entry in document(table)["snapshot-log"]]  # type: ignore[arg-type]


def test_an_append_moves_main_and_logs_it_at_the_snapshots_time() -> None:
    table = commit(a_table(), *append(a_table())).metadata
    after = document(table)
    assert after["current-snapshot-id"] == FIRST
    assert after["refs"] == {"main": {"type": "branch", "snapshot-id": FIRST}}
    assert after["snapshot-log"] == [{"snapshot-id": FIRST, "timestamp-ms": T0 + 1}]
    assert (after["last-updated-ms"], after["last-sequence-number"]) == (T0 + 1, 1)


def test_ids_of_64_bits_are_exact() -> None:
    for snapshot_id in (2**63 - 1, -(2**63), 2**53 + 1):
        table = commit(a_table(), *append(a_table(), snapshot_id)).metadata
        assert document(table)["current-snapshot-id"] == snapshot_id
        assert document(table)["snapshots"][0]["snapshot-id"] == snapshot_id


@pytest.mark.parametrize("snapshot_id", [2**63, 1.0, "1", True, None])
def test_an_id_that_is_no_64_bit_integer_is_malformed(snapshot_id: object) -> None:
    with refused("MALFORMED_DOCUMENT", path="updates[0].snapshot"):
        commit(a_table(), *append(a_table(), **{"snapshot-id": snapshot_id}))


def test_a_snapshot_that_exists_is_refused() -> None:
    table = a_table(snapshots=CHUNK_SIZE + 3)
    with refused("INVALID_UPDATE", action="add-snapshot"):
        commit(table, {"action": "add-snapshot", "snapshot": a_snapshot(table, FIRST)})


def test_a_sequence_number_that_is_behind_is_a_conflict() -> None:
    table = a_table(snapshots=2)
    with refused("COMMIT_CONFLICT", object="ns.t", requirement="sequence-number"):
        commit(table, *append(table, **{"sequence-number": 2}))


def test_a_snapshot_without_a_parent_may_have_an_old_sequence_number_and_the_tables_stays() -> None:
    table = a_table(snapshots=2)
    snapshot = a_snapshot(table, **{"sequence-number": 1})
    del snapshot["parent-snapshot-id"]
    assert commit(table, {"action": "add-snapshot", "snapshot": snapshot}).metadata.last_sequence_number == 2


def test_two_snapshots_of_one_commit_need_rising_sequence_numbers() -> None:
    table = a_table(snapshots=1)
    first, second = a_snapshot(table, 7), a_snapshot(table, 8)
    with refused("COMMIT_CONFLICT", requirement="sequence-number"):
        commit(table, {"action": "add-snapshot", "snapshot": first}, {"action": "add-snapshot", "snapshot": second})


def test_a_snapshot_from_more_than_a_minute_ago_is_refused() -> None:
    table = commit(a_table(), properties(a="b"), now_ms=T0 + 100_000).metadata
    assert commit(table, *append(table, **{"timestamp-ms": T0 + 40_000})).changed
    with refused("INVALID_UPDATE", action="add-snapshot"):
        commit(table, *append(table, **{"timestamp-ms": T0 + 39_999}))


def test_format_version_3_counts_row_ids() -> None:
    table = a_table(format_version=3, snapshots=2)
    assert document(table)["next-row-id"] == 20
    assert commit(table, *append(table, **{"first-row-id": 25})).metadata.next_row_id == 35


def test_a_first_row_id_that_is_behind_is_a_conflict() -> None:
    table = a_table(format_version=3, snapshots=2)
    with refused("COMMIT_CONFLICT", requirement="first-row-id"):
        commit(table, *append(table, **{"first-row-id": 19}))


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        (2, "sequence-number"),
        (2, "manifest-list"),
        (2, "summary"),
        (3, "first-row-id"),
        (3, "added-rows"),
        (1, "manifest-list"),
    ],
)
def test_a_snapshot_without_what_its_format_needs_is_refused(version: int, missing: str) -> None:
    snapshot = a_snapshot(a_table(format_version=version))
    del snapshot[missing]
    with refused("INVALID_UPDATE", action="add-snapshot"):
        commit(a_table(format_version=version), {"action": "add-snapshot", "snapshot": snapshot})


def test_a_summary_needs_an_operation() -> None:
    with refused("INVALID_UPDATE", action="add-snapshot"):
        commit(a_table(), *append(a_table(), summary={"added": "1"}))


def test_format_version_1_has_no_sequence_numbers() -> None:
    table = a_table(format_version=1, snapshots=2)
    assert "sequence-number" not in document(table)["snapshots"][1]
    with refused("INVALID_UPDATE", action="add-snapshot"):
        commit(table, *append(table, **{"sequence-number": 3}))


def test_branches_and_tags_keep_their_retention() -> None:
    table = a_table(snapshots=1)
    branch = ref(
        "b", FIRST, **{"min-snapshots-to-keep": 3, "max-snapshot-age-ms": 5, "max-ref-age-ms": 7, "x-more": [1]}
    )
    table = commit(table, branch, ref("t", FIRST, "tag", **{"max-ref-age-ms": 9})).metadata
    refs = document(table)["refs"]
    assert refs["b"] == {
        "type": "branch",
        "snapshot-id": FIRST,
        "min-snapshots-to-keep": 3,
        "max-snapshot-age-ms": 5,
        "max-ref-age-ms": 7,
        "x-more": [1],
    }
    assert refs["t"] == {"type": "tag", "snapshot-id": FIRST, "max-ref-age-ms": 9}


def test_a_reference_is_replaced_whole() -> None:
    table = commit(a_table(snapshots=1), ref("b", FIRST, **{"max-ref-age-ms": 7})).metadata
    assert "max-ref-age-ms" not in document(commit(table, ref("b", FIRST)).metadata)["refs"]["b"]


def test_a_reference_to_a_snapshot_that_does_not_exist_is_refused() -> None:
    with refused("INVALID_UPDATE", action="set-snapshot-ref"):
        commit(a_table(snapshots=1), ref("b", 5))


@pytest.mark.parametrize(
    "bad",
    [
        ref("main", FIRST, "tag"),
        ref("", FIRST),
        ref("t", FIRST, "tag", **{"min-snapshots-to-keep": 1}),
        ref("t", FIRST, "tag", **{"max-snapshot-age-ms": 1}),
    ],
)
def test_a_reference_that_readers_refuse_is_refused(bad: Json) -> None:
    with refused("INVALID_UPDATE", action="set-snapshot-ref"):
        commit(a_table(snapshots=1), bad)


@pytest.mark.parametrize("limit", ["min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"])
def test_a_retention_limit_is_at_least_1(limit: str) -> None:
    with refused("MALFORMED_DOCUMENT"):
        commit(a_table(snapshots=1), ref("b", FIRST, **{limit: 0}))


def test_a_rollback_is_logged_at_the_time_of_the_commit() -> None:
    table = commit(a_table(snapshots=2), main(FIRST), now_ms=T0 + 500).metadata
    assert document(table)["snapshot-log"][-1] == {"snapshot-id": FIRST, "timestamp-ms": T0 + 500}
    assert (table.current_snapshot_id, table.last_updated_ms) == (FIRST, T0 + 500)


def test_a_snapshot_added_and_superseded_in_one_commit_stays_out_of_the_log() -> None:
    table = a_table(snapshots=1)
    first, second = a_snapshot(table, 7), a_snapshot(table, 8, **{"sequence-number": 3})
    table = commit(
        table,
        {"action": "add-snapshot", "snapshot": first},
        main(7),
        {"action": "add-snapshot", "snapshot": second},
        main(8),
    ).metadata
    assert logged(table) == [FIRST, 8]
    assert len(table.snapshots) == 3


def test_removing_a_logged_snapshot_removes_the_history_before_it() -> None:
    table = commit(a_table(snapshots=5), remove(FIRST + 1, FIRST + 2)).metadata
    assert logged(table) == [FIRST + 3, FIRST + 4]
    assert [known.snapshot_id for known in table.snapshots] == [FIRST, FIRST + 3, FIRST + 4]


def test_removed_snapshots_take_their_references_and_statistics_along() -> None:
    table = commit(a_table(snapshots=3), ref("b", FIRST), ref("t", FIRST, "tag"), ref("c", FIRST + 1)).metadata
    partition = {"snapshot-id": FIRST, "statistics-path": "s3://p", "file-size-in-bytes": 1}
    table = commit(table, {"action": "set-partition-statistics", "partition-statistics": partition}).metadata
    table = commit(table, remove(FIRST, 404)).metadata
    assert set(document(table)["refs"]) == {"main", "c"}
    assert document(table)["partition-statistics"] == []


def test_removing_the_snapshot_of_main_is_a_conflict() -> None:
    table = a_table(snapshots=2)
    with refused("COMMIT_CONFLICT", requirement="remove-snapshots"):
        commit(table, remove(FIRST + 1))


def test_the_snapshot_of_main_can_go_if_main_moves_or_goes_in_the_same_commit() -> None:
    table = a_table(snapshots=2)
    moved = commit(table, remove(FIRST + 1), main(FIRST)).metadata
    assert (moved.current_snapshot_id, logged(moved)) == (FIRST, [FIRST])
    gone = commit(table, remove(FIRST + 1), {"action": "remove-snapshot-ref", "ref-name": "main"}).metadata
    assert (gone.current_snapshot_id, document(gone)["refs"], logged(gone)) == (None, {}, [])


def test_removing_main_clears_the_current_snapshot() -> None:
    table = commit(a_table(snapshots=1), {"action": "remove-snapshot-ref", "ref-name": "main"}).metadata
    assert document(table)["current-snapshot-id"] == -1
    assert len(table.snapshots) == 1


def test_no_current_snapshot_is_null_in_format_version_3() -> None:
    assert document(a_table(format_version=3))["current-snapshot-id"] is None


def test_a_snapshot_added_and_removed_in_one_commit_leaves_no_trace() -> None:
    table = a_table(snapshots=1)
    after = commit(table, {"action": "add-snapshot", "snapshot": a_snapshot(table, 7)}, remove(7)).metadata
    assert [known.snapshot_id for known in after.snapshots] == [FIRST]
