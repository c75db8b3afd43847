"""Whatever a commit writes, the engine reads back, and the table can be committed to again.

The oracles of `tests/integration/iceberg_oracle` read what the same commits write.
"""

from __future__ import annotations

import contextlib
import json
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeward_catalog.domain.iceberg import (
    TableMetadata,
    parse_commit,
    parse_table,
    parse_view,
    register_table,
    register_view,
)
from lakeward_servicekit.errors import Refusal
from tests.unit.catalog.iceberg.given import (
    T0,
    a_snapshot,
    a_table,
    a_version,
    a_view,
    append,
    commit,
    commit_view,
    document,
    field,
    properties,
    refused,
    schema,
)
from tests.unit.catalog.iceberg.strained import NUMBERS, StrainedTables, StrainedViews, extreme_tables

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


def read_back(table: TableMetadata) -> TableMetadata:
    """The table as our readers have it, of its file and of its body, which must say the same."""
    body = table.encode()
    assert register_table(body, fresh_uuid="fresh", allowed_format_versions={1, 2, 3}).encode() == body
    read = parse_table(body)
    assert read.encode() == body
    return read


@given(random=st.randoms(use_true_random=False))
def test_whatever_a_commit_to_a_table_writes_is_read_back_and_can_be_committed_to(random: Random) -> None:
    tables = StrainedTables(random)
    for _ in range(4):
        tables.step()
        again = commit(read_back(tables.table), properties(a="again"), now_ms=T0 + 20_000_000)
        read_back(again.metadata)


@given(random=st.randoms(use_true_random=False))
def test_whatever_a_commit_to_a_view_writes_is_read_back_and_can_be_committed_to(random: Random) -> None:
    views = StrainedViews(random)
    for _ in range(4):
        views.step()
        body = views.view.encode()
        assert register_view(body).encode() == body
        assert commit_view(parse_view(body), properties(a="again"), now_ms=T0 + 20_000_000).metadata.encode()


MEMBERS = (
    "snapshot-id",
    "timestamp-ms",
    "sequence-number",
    "first-row-id",
    "added-rows",
    "parent-snapshot-id",
    "schema-id",
)


@given(version=st.sampled_from((1, 2, 3)), members=st.dictionaries(st.sampled_from(MEMBERS), st.sampled_from(NUMBERS)))
@example(version=3, members={"first-row-id": LONG_MAX})
@example(version=3, members={"added-rows": LONG_MAX})
@example(version=2, members={"snapshot-id": -1})
@example(version=1, members={"timestamp-ms": -LONG_MAX})
def test_a_snapshot_of_any_numbers_is_refused_or_read_back(version: int, members: dict[str, int]) -> None:
    table = a_table(format_version=version, snapshots=1)
    with contextlib.suppress(Refusal):
        table = commit(table, *append(table, **members)).metadata
    read_back(table)


@pytest.mark.parametrize("table", extreme_tables(), ids=["deep", "long"])
def test_a_table_at_the_ends_of_what_a_request_may_hold_is_read_back(table: TableMetadata) -> None:
    read_back(table)


def test_rows_beyond_the_last_row_id_are_refused() -> None:
    table = a_table(format_version=3)
    last = commit(table, *append(table, **{"first-row-id": LONG_MAX - 5, "added-rows": 5})).metadata
    assert read_back(last).next_row_id == LONG_MAX
    with refused("INVALID_UPDATE") as refusal:
        commit(table, *append(table, **{"first-row-id": LONG_MAX - 5, "added-rows": 6}))
    assert f"the next row id {2**63}; it must stay within {LONG_MAX}" in refusal.message


def a_file(**members: object) -> TableMetadata:
    """A table whose ids are the last ones."""
    body = document(a_table())
    body["schemas"].append({**schema(field(1, "id")), "schema-id": INT_MAX})
    body["partition-specs"].append(
        {
            "spec-id": INT_MAX,
            "fields": [{"name": "p", "transform": "void", "source-id": 1, "field-id": INT_MAX}],
        }
    )
    order = {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
    body["sort-orders"].append({"order-id": INT_MAX, "fields": [order]})
    body["last-partition-id"] = INT_MAX
    return register_table(json.dumps(body | members).encode(), fresh_uuid="x", allowed_format_versions={2})


@pytest.mark.parametrize(
    ("update", "what"),
    [
        ({"action": "add-schema", "schema": schema(field(1, "other"))}, "schema id"),
        (
            {"action": "add-spec", "spec": {"fields": [{"name": "q", "transform": "bucket[2]", "source-id": 1}]}},
            "partition field id",
        ),
        (
            {
                "action": "add-spec",
                "spec": {"fields": [{"name": "q", "transform": "bucket[2]", "source-id": 1, "field-id": 1000}]},
            },
            "partition spec id",
        ),
        (
            {
                "action": "add-sort-order",
                "sort-order": {
                    "fields": [
                        {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"}
                    ]
                },
            },
            "sort order id",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_an_id_after_the_last_one_is_a_bad_request_and_not_a_lost_race(update: dict[str, object], what: str) -> None:
    with refused("INVALID_UPDATE") as refusal:
        commit(a_file(), update)
    assert f"there is no {what} after {INT_MAX}" in refusal.message


def test_a_view_has_no_id_after_the_last_one_either() -> None:
    body = document(a_view())
    body["schemas"].append({**schema(field(1, "id")), "schema-id": INT_MAX})
    body["versions"].append(a_version(**{"version-id": INT_MAX, "default-namespace": ["other"]}))
    view = register_view(json.dumps(body).encode())
    for update in (
        {"action": "add-schema", "schema": schema(field(1, "other"))},
        {"action": "add-view-version", "view-version": a_version(**{"default-namespace": ["third"]})},
    ):
        with refused("INVALID_UPDATE") as refusal:
            commit_view(view, update)
        assert f"after {INT_MAX}" in refusal.message


def test_the_id_that_stands_for_no_snapshot_is_no_snapshots() -> None:
    table = a_table()
    with refused("INVALID_UPDATE") as refusal:
        commit(table, *append(table, -1))
    assert "-1 stands for no snapshot" in refusal.message
    body = document(a_table(snapshots=1))
    body["snapshots"].append({**a_snapshot(a_table(snapshots=1)), "snapshot-id": -1, "sequence-number": 1})
    with refused("INVALID_METADATA"):
        register_table(json.dumps(body).encode(), fresh_uuid="x", allowed_format_versions={2})


@pytest.mark.parametrize("value", [str(LONG_MAX + 1), str(-LONG_MAX - 2), "9" * 40])
def test_a_total_of_a_summary_that_is_beyond_64_bits_is_refused(value: str) -> None:
    table = a_table()
    for name in ("total-records", "added-files-size", "deleted-data-files"):
        with refused("INVALID_UPDATE") as refusal:
            commit(table, *append(table, summary={"operation": "append", name: value}))
        assert f"snapshot.summary.{name}" in refusal.message
    ours = {"operation": "append", "total-records": str(LONG_MAX), "my-number": value}
    read_back(commit(table, *append(table, summary=ours)).metadata)


@pytest.mark.parametrize(
    ("update", "said"),
    [
        (properties(**{"k" * 50_001: "v"}), "name of 50001 characters"),
        (properties(**{'k"' * 30_000: "v"}), "name of 60000 characters"),
        (properties(a="v" * 20_000_001), "text has 20000001 characters"),
        ({"action": "x", "unknown": [10**1000]}, "more than 1000 digits"),
        ({"action": "x", "unknown": [-(10**1000)]}, "more than 1000 digits"),
    ],
    ids=["name", "name with quotes", "text", "number", "negative number"],
)
def test_what_icebergs_own_reader_can_not_take_is_refused(update: dict[str, object], said: str) -> None:
    with refused("MALFORMED_DOCUMENT") as refusal:
        parse_commit(json.dumps({"updates": [update]}).encode())
    assert said in refusal.message
    assert len(refusal.message) < 500


@pytest.mark.parametrize(
    "updates",
    [
        {"k" * 50_000: "v", 'q"' * 25_000: "v"},
        {"a": "v" * 20_000_000},
        {"a": "7" * 5000, "b": "7" * 60_000},
    ],
    ids=["name", "text", "digits in a text"],
)
def test_what_is_as_long_as_readers_take_is_taken(updates: dict[str, str]) -> None:
    (update,) = parse_commit(json.dumps({"updates": [properties(**updates)]}).encode()).updates
    assert update.updates == updates  # type: ignore[attr-defined]


def test_a_file_with_a_name_or_a_number_that_readers_can_not_take_is_not_registered() -> None:
    for members in ({"k" * 50_001: 1}, {"x": {"k" * 50_001: 1}}, {"x": [10**1000]}):
        body = json.dumps(document(a_table()) | members).encode()
        with refused("INVALID_METADATA"):
            register_table(body, fresh_uuid="x", allowed_format_versions={2})
