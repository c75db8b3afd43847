"""Schemas, partition specs and sort orders."""

from __future__ import annotations

import pytest

from tests.unit.catalog.iceberg.given import PLAIN, Json, a_table, commit, document, field, refused, schema

WIDER = schema(*PLAIN["fields"], field(4, "extra", "int"))


def spec(*fields: tuple[int, str, str], **more: int) -> Json:
    known = [{"source-id": source, "transform": transform, "name": name} for source, transform, name in fields]
    return {"action": "add-spec", "spec": {"spec-id": 77, "fields": [field_ | more for field_ in known]}}


def order(*sources: int, direction: str = "asc") -> Json:
    fields = [
        {"source-id": source, "transform": "identity", "direction": direction, "null-order": "nulls-first"}
        for source in sources
    ]
    return {"action": "add-sort-order", "sort-order": {"order-id": 33, "fields": fields}}


def add(new: Json) -> Json:
    return {"action": "add-schema", "schema": new}


CURRENT = {"action": "set-current-schema", "schema-id": -1}
DEFAULT = {"action": "set-default-spec", "spec-id": -1}


def test_a_new_schema_takes_the_next_id_and_lifts_last_column_id() -> None:
    table = commit(a_table(), add(WIDER | {"schema-id": 55}), CURRENT).metadata
    assert (table.current_schema_id, table.last_column_id, len(table.schemas)) == (1, 4, 2)
    assert document(table)["schemas"][1]["schema-id"] == 1


def test_last_column_id_never_goes_down() -> None:
    table = commit(a_table(), add(WIDER), CURRENT).metadata
    table = commit(table, add(schema(*PLAIN["fields"][:2])), CURRENT).metadata
    assert table.last_column_id == 4


def test_a_schema_that_says_the_same_is_the_one_there_is() -> None:
    same = schema(*({**known, "doc": None} for known in PLAIN["fields"]), **{"identifier-field-ids": []})
    table = commit(a_table(), add(WIDER), CURRENT).metadata
    back = commit(table, add(same), CURRENT).metadata
    assert (back.current_schema_id, len(back.schemas)) == (0, 2)


@pytest.mark.parametrize(
    "other",
    [
        schema(*PLAIN["fields"], **{"identifier-field-ids": [1]}),
        schema({**PLAIN["fields"][0], "doc": "a key"}, *PLAIN["fields"][1:]),
        schema({**PLAIN["fields"][0], "x-unknown": 1}, *PLAIN["fields"][1:]),
        schema(*reversed(PLAIN["fields"])),
    ],
)
def test_a_schema_that_says_anything_else_is_another(other: Json) -> None:
    assert len(commit(a_table(), add(other)).metadata.schemas) == 2


def test_minus_one_without_an_addition_is_refused() -> None:
    for update in (CURRENT, DEFAULT, {"action": "set-default-sort-order", "sort-order-id": -1}):
        with refused("INVALID_UPDATE", action=update["action"]):
            commit(a_table(), update)


def test_an_id_that_does_not_exist_is_refused() -> None:
    for update in (
        {"action": "set-current-schema", "schema-id": 5},
        {"action": "set-default-spec", "spec-id": 5},
        {"action": "set-default-sort-order", "sort-order-id": 5},
    ):
        with refused("INVALID_UPDATE", action=update["action"]):
            commit(a_table(), update)


@pytest.mark.parametrize(
    "bad",
    [
        schema(field(1, "a"), field(1, "b")),
        schema(field(1, "a"), field(2, "a")),
        schema(field(1, "a.b"), field(2, "a", {"type": "struct", "fields": [field(3, "b")]})),
        schema(field(-1, "a")),
        schema(field(1, "a", "float", required=True), **{"identifier-field-ids": [1]}),
        schema(
            field(1, "a", {"type": "struct", "fields": [field(2, "k", required=True)]}), **{"identifier-field-ids": [2]}
        ),
    ],
)
def test_a_schema_that_breaks_the_format_is_refused(bad: Json) -> None:
    with refused("INVALID_UPDATE", action="add-schema"):
        commit(a_table(), add(bad))


def test_a_new_column_may_not_take_a_partition_fields_name() -> None:
    table = commit(a_table(), spec((3, "day", "at_day")), DEFAULT).metadata
    with refused("INVALID_UPDATE", action="add-schema"):
        commit(table, add(schema(*PLAIN["fields"], field(4, "at_day", "int"))))


def test_dropping_the_source_of_the_default_spec_is_a_conflict() -> None:
    table = commit(a_table(), spec((3, "day", "at_day")), DEFAULT).metadata
    with refused("COMMIT_CONFLICT", requirement="default-spec"):
        commit(table, add(schema(*PLAIN["fields"][:2])), CURRENT)


def test_dropping_the_source_of_the_default_sort_order_is_a_conflict() -> None:
    table = commit(a_table(), order(2), {"action": "set-default-sort-order", "sort-order-id": -1}).metadata
    with refused("COMMIT_CONFLICT", requirement="default-sort-order"):
        commit(table, add(schema(PLAIN["fields"][0])), CURRENT)


def test_the_source_of_a_spec_that_is_replaced_in_the_same_commit_can_go() -> None:
    table = commit(a_table(), spec((3, "day", "at_day")), DEFAULT).metadata
    table = commit(table, add(schema(*PLAIN["fields"][:2])), CURRENT, spec(), DEFAULT).metadata
    assert table.default_spec_id == 0


def test_new_partition_fields_get_ids_that_were_never_used() -> None:
    table = commit(a_table(), spec((3, "day", "d"), (1, "bucket[4]", "b")), DEFAULT).metadata
    assert [known.field_id for known in table.default_spec.fields] == [1000, 1001]
    assert (table.default_spec_id, table.last_partition_id) == (1, 1001)
    table = commit(table, spec((3, "hour", "h")), DEFAULT).metadata
    assert ([known.field_id for known in table.default_spec.fields], table.last_partition_id) == ([1002], 1002)


def test_a_partition_field_that_computes_the_same_keeps_its_id() -> None:
    table = commit(a_table(), spec((3, "day", "d"), (1, "bucket[4]", "b")), DEFAULT).metadata
    table = commit(table, spec((1, "bucket[4]", "renamed"), (2, "identity", "name")), DEFAULT).metadata
    assert [known.field_id for known in table.default_spec.fields] == [1001, 1002]


def test_a_compatible_spec_is_the_one_there_is() -> None:
    table = commit(a_table(), spec((3, "day", "d")), DEFAULT).metadata
    again = commit(table, spec((3, "DAY", "d"), **{"field-id": 1234}), DEFAULT)
    assert not again.changed
    assert commit(table, spec(), DEFAULT).metadata.default_spec_id == 0


def test_format_version_1_needs_consecutive_partition_ids() -> None:
    table = commit(a_table(format_version=1), spec((3, "day", "d")), DEFAULT).metadata
    with refused("INVALID_UPDATE", action="add-spec"):
        commit(table, spec((1, "bucket[4]", "b"), **{"field-id": 1001}))
    assert commit(table, spec((3, "day", "d"), (1, "bucket[4]", "b")), DEFAULT).changed


def test_format_version_1_gives_ids_by_position() -> None:
    table = commit(a_table(format_version=1), spec((3, "day", "d"), (1, "bucket[4]", "b")), DEFAULT).metadata
    table = commit(table, spec((1, "bucket[4]", "other")), DEFAULT).metadata
    assert [known.field_id for known in table.default_spec.fields] == [1000]
    assert table.last_partition_id == 1001


def test_a_void_partition_may_keep_the_name_of_the_column_it_partitioned() -> None:
    table = commit(a_table(format_version=1), spec((1, "identity", "id")), DEFAULT).metadata
    assert commit(table, spec((1, "void", "id")), DEFAULT).changed


def test_a_schema_whose_column_has_another_columns_partition_name_does_not_become_current() -> None:
    table = commit(a_table(), add(schema(*PLAIN["fields"], field(4, "d", "int")))).metadata
    table = commit(table, spec((3, "day", "d")), DEFAULT).metadata
    with refused("COMMIT_CONFLICT", requirement="partition-names"):
        commit(table, {"action": "set-current-schema", "schema-id": 1})


@pytest.mark.parametrize(
    "fields",
    [
        [(9, "identity", "x")],
        [(2, "day", "x")],
        [(2, "hour", "x")],
        [(1, "bucket[0]", "x")],
        [(1, "bucket", "x")],
        [(1, "mystery", "x")],
        [(3, "day", "x"), (1, "bucket[2]", "x")],
        [(3, "day", "id")],
        [(1, "bucket[4]", "id")],
        [(1, "identity", "")],
    ],
)
def test_a_spec_that_does_not_fit_the_schema_is_refused(fields: list[tuple[int, str, str]]) -> None:
    with refused("INVALID_UPDATE", action="add-spec"):
        commit(a_table(), spec(*fields))


def test_an_identity_partition_may_have_its_columns_name() -> None:
    assert commit(a_table(), spec((1, "identity", "id"))).changed


def test_a_partition_source_lies_outside_lists_and_maps() -> None:
    listed = schema(field(1, "l", {"type": "list", "element-id": 2, "element": "int", "element-required": False}))
    with refused("INVALID_UPDATE", action="add-spec"):
        commit(a_table(schema=listed), spec((2, "identity", "x")))


def test_sort_orders_reuse_their_id_and_unsorted_is_0() -> None:
    table = commit(a_table(), order(1), {"action": "set-default-sort-order", "sort-order-id": -1}).metadata
    assert (table.default_sort_order_id, document(table)["sort-orders"][1]["order-id"]) == (1, 1)
    table = commit(table, order(1, direction="desc")).metadata
    assert [known.order_id for known in table.sort_orders] == [0, 1, 2]
    assert not commit(table, order(1)).changed
    back = commit(table, order(), {"action": "set-default-sort-order", "sort-order-id": -1}).metadata
    assert (back.default_sort_order_id, len(back.sort_orders)) == (0, 3)


@pytest.mark.parametrize("source", [9])
def test_a_sort_order_that_does_not_fit_the_schema_is_refused(source: int) -> None:
    with refused("INVALID_UPDATE", action="add-sort-order"):
        commit(a_table(), order(source))


def test_specs_and_schemas_in_use_are_not_removed() -> None:
    with refused("INVALID_UPDATE", action="remove-partition-specs"):
        commit(a_table(), {"action": "remove-partition-specs", "spec-ids": [0]})
    with refused("INVALID_UPDATE", action="remove-schemas"):
        commit(a_table(), {"action": "remove-schemas", "schema-ids": [0]})


def test_specs_and_schemas_out_of_use_are_removed() -> None:
    table = commit(a_table(), add(WIDER), CURRENT, spec((3, "day", "d")), DEFAULT).metadata
    table = commit(
        table,
        {"action": "remove-schemas", "schema-ids": [0, 99]},
        {"action": "remove-partition-specs", "spec-ids": [0, 99]},
    ).metadata
    assert ([s.schema_id for s in table.schemas], [s.spec_id for s in table.partition_specs]) == ([1], [1])
    assert table.last_partition_id == 1000


def test_an_id_freed_by_a_commit_is_not_used_again_in_it() -> None:
    table = commit(a_table(), add(WIDER)).metadata
    other = schema(*PLAIN["fields"], field(5, "other"))
    table = commit(table, {"action": "remove-schemas", "schema-ids": [1]}, add(other)).metadata
    assert [known.schema_id for known in table.schemas] == [0, 2]
