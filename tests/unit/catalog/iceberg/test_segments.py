"""What is shared between versions of a table, and what an append costs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lakeward_catalog.domain.iceberg import Selection, TableMetadata, parse_table
from lakeward_catalog.domain.iceberg.history import CHUNK_SIZE, History
from lakeward_catalog.domain.iceberg.snapshots import SnapshotLogEntry
from tests.unit.catalog.iceberg.given import a_table, append, commit, document, properties

MANY = 9000


def entries(*ids: int) -> list[SnapshotLogEntry]:
    return [SnapshotLogEntry.at(snapshot_id=snapshot_id, timestamp_ms=snapshot_id) for snapshot_id in ids]


@pytest.fixture(scope="module")
def long_table() -> TableMetadata:
    return a_table(snapshots=MANY)


@pytest.mark.parametrize("snapshots", [0, 1, CHUNK_SIZE, CHUNK_SIZE + 1])
def test_segments_join_to_the_document(snapshots: int) -> None:
    table = a_table(snapshots=snapshots)
    segments = table.segments()
    assert segments.join() == table.encode()
    assert sum(len(chunk.entries) for chunk in segments.snapshots) == snapshots
    assert len(document(table)["snapshots"]) == len(document(table)["snapshot-log"]) == snapshots


def test_full_chunks_are_the_same_objects_after_a_commit() -> None:
    table = a_table(snapshots=3 * CHUNK_SIZE + 5)
    after = commit(table, *append(table)).metadata
    for name in ("snapshots", "snapshot_log"):
        before_chunks, after_chunks = getattr(table, name).chunks, getattr(after, name).chunks
        assert [old is new for old, new in zip(before_chunks, after_chunks, strict=True)] == [True] * 3 + [False]
        assert after_chunks[-1].entries[: len(before_chunks[-1].entries)] == before_chunks[-1].entries


def test_a_commit_that_adds_no_snapshot_shares_all_of_them() -> None:
    table = a_table(snapshots=70)
    after = commit(table, properties(a="b")).metadata
    assert after.snapshots is table.snapshots
    assert after.snapshot_log is table.snapshot_log


def test_expiring_the_oldest_keeps_the_other_chunks() -> None:
    table = a_table(snapshots=4 * CHUNK_SIZE)
    oldest = [known.snapshot_id for known in table.snapshots.chunks[0].entries]
    after = commit(table, {"action": "remove-snapshots", "snapshot-ids": oldest}).metadata
    assert [chunk is old for chunk, old in zip(after.snapshots.chunks, table.snapshots.chunks[1:], strict=True)] == [
        True
    ] * 3
    assert len(after.snapshots) == 3 * CHUNK_SIZE
    assert after.snapshot_log.chunks[-1] is table.snapshot_log.chunks[-1]
    assert len(after.snapshot_log) == 3 * CHUNK_SIZE


def test_sparse_chunks_are_joined() -> None:
    history = History.of(entries(*range(20 * CHUNK_SIZE)))
    kept = history.only(set(range(0, 20 * CHUNK_SIZE, CHUNK_SIZE)))
    assert len(kept) == 20
    assert len(kept.chunks) == 1


def test_a_history_finds_its_entries_and_the_last_of_several() -> None:
    history = History.of(entries(*range(200)))
    found = history.find(7)
    assert found is not None
    assert found.snapshot_id == 7
    assert history.find(200) is None
    assert (History[SnapshotLogEntry]().last, len(History[SnapshotLogEntry]())) == (None, 0)


def test_two_histories_that_grew_from_one_do_not_see_each_others_entries() -> None:
    history = History.of(entries(*range(70)))
    assert history.find(1000) is None
    one, two = history.append(entries(1000)[0]), history.append(entries(2000)[0])
    assert [known.find(1000) is not None for known in (history, one, two)] == [False, True, False]
    assert [known.find(2000) is not None for known in (history, one, two)] == [False, False, True]
    assert (len(history), len(one), len(two)) == (70, 71, 71)


def test_selecting_refs_leaves_out_other_snapshots_and_nothing_else() -> None:
    table = a_table(snapshots=150)
    tag = {"action": "set-snapshot-ref", "ref-name": "t", "type": "tag", "snapshot-id": 2**62 + 9}
    table = commit(table, tag).metadata
    everything, selected = document(table), parse_table(table.encode(Selection.REFS))
    assert [known.snapshot_id for known in selected.snapshots] == [2**62 + 9, 2**62 + 150]
    shown = document(selected)
    assert {**everything, "snapshots": None} == {**shown, "snapshots": None}


def test_selecting_refs_of_a_table_without_snapshots_is_the_same_document() -> None:
    assert a_table().encode(Selection.REFS) == a_table().encode()


def test_what_was_written_long_ago_reads_back_byte_for_byte(long_table: TableMetadata) -> None:
    body = long_table.encode()
    assert parse_table(body).encode() == body


def test_an_append_to_a_long_table_touches_a_bounded_number_of_entries(long_table: TableMetadata) -> None:
    after = commit(long_table, *append(long_table)).metadata
    known = {id(chunk) for chunk in long_table.snapshots.chunks}
    new = [chunk for chunk in after.snapshots.chunks if id(chunk) not in known]
    assert len(new) == 1
    assert len(new[0].entries) <= CHUNK_SIZE


def test_log_entries_stay_in_order_through_many_commits(long_table: TableMetadata) -> None:
    assert all(a.head.timestamp_ms <= b.head.timestamp_ms for a, b in pairwise(long_table.snapshot_log))
