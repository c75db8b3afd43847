from __future__ import annotations

import pytest

from lakeward_catalog.domain.iceberg.requirements import TABLE_REQUIREMENTS, VIEW_REQUIREMENTS
from tests.unit.catalog.iceberg.given import UUID, Json, a_table, a_view, commit, commit_view, properties, refused

HOLD: list[Json] = [
    {"type": "assert-table-uuid", "uuid": UUID.upper()},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2**62 + 2},
    {"type": "assert-ref-snapshot-id", "ref": "other", "snapshot-id": None},
    {"type": "assert-ref-snapshot-id", "ref": "other"},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
]
MAIN: Json = {"type": "assert-ref-snapshot-id", "ref": "main"}
OTHER_UUID = "0198c0de-0000-7000-8000-000000000002"
# with what Iceberg's library says of each, and what is expected and found
FAIL: list[tuple[Json, str]] = [
    ({"type": "assert-create"}, f"table already exists: expected none, found one with UUID {UUID}"),
    ({"type": "assert-table-uuid", "uuid": OTHER_UUID}, f"UUID does not match: expected {OTHER_UUID}, found {UUID}"),
    (MAIN | {"snapshot-id": 5}, f"branch main has changed: expected 5, found {2**62 + 2}"),
    (MAIN | {"snapshot-id": None}, f"branch main was created concurrently: expected none, found {2**62 + 2}"),
    (MAIN | {"ref": "other", "snapshot-id": 1}, "branch or tag other is missing: expected 1, found none"),
    (
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
        "last assigned field id changed: expected 2, found 3",
    ),
    ({"type": "assert-current-schema-id", "current-schema-id": 1}, "current schema changed: expected 1, found 0"),
    (
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
        "last assigned partition id changed: expected 1000, found 999",
    ),
    ({"type": "assert-default-spec-id", "default-spec-id": 1}, "default partition spec changed: expected 1, found 0"),
    (
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 1},
        "default sort order changed: expected 1, found 0",
    ),
]


@pytest.mark.parametrize("requirement", HOLD)
def test_a_requirement_that_holds_lets_the_commit_through(requirement: Json) -> None:
    assert commit(a_table(snapshots=2), properties(a="b"), requirements=(requirement,)).changed


@pytest.mark.parametrize(("requirement", "words"), FAIL)
def test_a_requirement_that_fails_is_a_conflict_that_names_it_in_icebergs_words(requirement: Json, words: str) -> None:
    with refused("COMMIT_CONFLICT", object="ns.t", requirement=requirement["type"]) as refusal:
        commit(a_table(snapshots=2), properties(a="b"), requirements=(requirement,))
    assert refusal.message.startswith(f"Requirement failed: {words}")


def test_every_requirement_of_the_specification_is_tried_both_ways() -> None:
    specified = {
        "assert-create",
        "assert-table-uuid",
        "assert-ref-snapshot-id",
        "assert-last-assigned-field-id",
        "assert-current-schema-id",
        "assert-last-assigned-partition-id",
        "assert-default-spec-id",
        "assert-default-sort-order-id",
    }
    assert specified == set(TABLE_REQUIREMENTS)
    assert {known["type"] for known, _ in FAIL} == specified
    assert {known["type"] for known in HOLD} == specified - {"assert-create"}
    assert set(VIEW_REQUIREMENTS) == {"assert-view-uuid"}


def test_a_staged_table_passes_assert_create_and_nothing_else() -> None:
    table = a_table()
    assert commit(table, requirements=({"type": "assert-create"},), staged=True).changed
    with refused("COMMIT_CONFLICT", requirement="assert-table-uuid"):
        commit(table, requirements=({"type": "assert-table-uuid", "uuid": UUID},), staged=True)


def test_requirements_are_held_against_the_base_and_not_the_updates() -> None:
    upgrade = {"action": "add-schema", "schema": {"type": "struct", "fields": []}}
    requirement = {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3}
    assert commit(a_table(), upgrade, requirements=(requirement,)).changed


def test_a_view_requirement_compares_the_uuid() -> None:
    assert commit_view(a_view(), properties(a="b"), requirements=({"type": "assert-view-uuid", "uuid": UUID},)).changed
    with refused("COMMIT_CONFLICT", object="ns.v", requirement="assert-view-uuid") as refusal:
        commit_view(a_view(), requirements=({"type": "assert-view-uuid", "uuid": "x"},))
    assert refusal.message.startswith(f"Requirement failed: view UUID does not match: expected x, found {UUID}")


def test_an_unknown_requirement_is_named() -> None:
    with refused("UNKNOWN_REQUIREMENT", type="assert-weather"):
        commit(a_table(), requirements=({"type": "assert-weather"},))
    with refused("UNKNOWN_REQUIREMENT", type="assert-table-uuid"):
        commit_view(a_view(), requirements=({"type": "assert-table-uuid", "uuid": UUID},))
