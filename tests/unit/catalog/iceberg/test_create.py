from __future__ import annotations

import json

import pytest

from lakeward_catalog.domain.iceberg import choose_format_version, create_table, parse_create_table, parse_table
from tests.unit.catalog.iceberg.given import LOCATION, T0, UUID, Json, a_table, document, field, refused, schema

NESTED = schema(
    field(7, "a", {"type": "struct", "fields": [field(9, "x"), field(10, "y")]}, required=True),
    field(8, "l", {"type": "list", "element-id": 11, "element": "string", "element-required": False}),
    field(
        12,
        "m",
        {
            "type": "map",
            "key-id": 13,
            "key": "string",
            "value-id": 14,
            "value": {"type": "struct", "fields": [field(15, "deep")]},
            "value-required": False,
        },
    ),
    field(16, "ts", "timestamp"),
)


def test_all_fields_of_a_struct_get_their_ids_before_anything_inside_them() -> None:
    fields = document(a_table(schema=NESTED))["schemas"][0]["fields"]
    assert [known["id"] for known in fields] == [1, 2, 3, 4]
    assert [known["id"] for known in fields[0]["type"]["fields"]] == [5, 6]
    assert fields[1]["type"]["element-id"] == 7
    assert (fields[2]["type"]["key-id"], fields[2]["type"]["value-id"]) == (8, 9)
    assert fields[2]["type"]["value"]["fields"][0]["id"] == 10


def test_last_column_id_is_the_highest_fresh_id() -> None:
    assert a_table(schema=NESTED).last_column_id == 10


def test_references_follow_their_columns_to_the_fresh_ids() -> None:
    table = document(
        a_table(
            schema=schema(
                field(5, "k", required=True), field(3, "ts", "timestamp"), **Json({"identifier-field-ids": [5]})
            ),
            **{
                "partition-spec": {
                    "spec-id": 4,
                    "fields": [{"source-id": 3, "transform": "day", "name": "d", "field-id": 7}],
                },
                "write-order": {
                    "order-id": 9,
                    "fields": [
                        {"source-id": 5, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}
                    ],
                },
            },
        )
    )
    assert table["schemas"][0]["identifier-field-ids"] == [1]
    assert table["partition-specs"] == [
        {"spec-id": 0, "fields": [{"source-id": 2, "transform": "day", "name": "d", "field-id": 1000}]}
    ]
    assert (table["sort-orders"][0]["order-id"], table["sort-orders"][0]["fields"][0]["source-id"]) == (1, 1)
    assert (table["default-sort-order-id"], table["last-partition-id"]) == (1, 1000)


def test_a_table_without_spec_and_order_is_unpartitioned_and_unsorted() -> None:
    table = document(a_table())
    assert (table["last-partition-id"], table["default-spec-id"], table["default-sort-order-id"]) == (999, 0, 0)
    assert table["sort-orders"] == [{"order-id": 0, "fields": []}]


def test_the_format_version_property_is_consumed_and_not_stored() -> None:
    assert document(a_table(properties={"format-version": "2", "owner": "me"}))["properties"] == {"owner": "me"}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_what_create_makes_reads_back_as_it_was(version: int) -> None:
    table = a_table(format_version=version, schema=NESTED)
    assert parse_table(table.encode()) == table
    assert parse_table(table.encode()).encode() == table.encode()


def test_format_version_1_repeats_schema_and_spec_for_its_readers_and_has_no_sequence_number() -> None:
    table = document(a_table(format_version=1))
    assert table["schema"] == table["schemas"][0]
    assert table["partition-spec"] == []
    assert "last-sequence-number" not in table


@pytest.mark.parametrize(("text", "version"), [("1", 1), ("v2", 2), ("3", 3)])
def test_a_format_version_is_written_with_or_without_a_v(text: str, version: int) -> None:
    assert choose_format_version({"format-version": text}, allowed={1, 2, 3}) == version


def test_without_a_wish_the_format_version_is_the_default_else_2_else_the_highest_allowed() -> None:
    assert choose_format_version({}, allowed={1, 2, 3}, default=1) == 1
    assert choose_format_version({}, allowed={1, 2, 3}) == 2
    assert choose_format_version({}, allowed={1, 3}) == 3


@pytest.mark.parametrize("text", ["4", "0", "v", "two", "02", "vv2", ""])
def test_a_format_version_that_does_not_exist_is_refused(text: str) -> None:
    with refused("INVALID_FORMAT_VERSION", version=text):
        choose_format_version({"format-version": text}, allowed={1, 2, 3})


def test_a_format_version_that_the_warehouse_forbids_is_refused() -> None:
    with refused("FORMAT_VERSION_NOT_ALLOWED", version="3", allowed="1,2"):
        choose_format_version({"format-version": "3"}, allowed={2, 1})


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"schema": schema(field(1, "a"), field(2, "a"))}, "schema.fields[1]"),
        ({"schema": schema(field(1, "v", "variant"))}, "schema.fields[0].type"),
        ({"schema": schema(field(1, "v", "timestamp_ns"))}, "schema.fields[0].type"),
        ({"schema": schema(field(1, "v", "geometry(EPSG:3857)"))}, "schema.fields[0].type"),
        ({"schema": schema(field(1, "v", "int", **{"initial-default": 3}))}, "schema.fields[0].initial-default"),
        ({"schema": schema(field(1, "k"), **{"identifier-field-ids": [1]})}, "schema.identifier-field-ids"),
        ({"schema": schema(field(1, "k"), **{"identifier-field-ids": [7]})}, "schema.identifier-field-ids"),
        (
            {"partition-spec": {"fields": [{"source-id": 99, "transform": "day", "name": "d"}]}},
            "partition-spec.fields.source-id",
        ),
        (
            {"partition-spec": {"fields": [{"source-id": 2, "transform": "day", "name": "d"}]}},
            "partition-spec.transform",
        ),
        (
            {"partition-spec": {"fields": [{"source-id": 2, "transform": "hash", "name": "d"}]}},
            "partition-spec.transform",
        ),
        (
            {"partition-spec": {"fields": [{"source-id": 3, "transform": "day", "name": "id"}]}},
            "partition-spec.fields[0].name",
        ),
        ({"properties": {"uuid": "x"}}, "properties.uuid"),
        ({"properties": {"current-schema": "x"}}, "properties.current-schema"),
    ],
)
def test_a_create_that_breaks_the_format_is_refused_at_its_path(request_: Json, path: str) -> None:
    with refused("INVALID_METADATA", path=path):
        a_table(**request_)


@pytest.mark.parametrize(
    "key",
    [
        "write.metadata.path",
        "write.metadata.new-thing",
        "write.data.path",
        "write.object-storage.path",
        "write.folder-storage.path",
    ],
)
def test_a_property_that_would_move_files_is_refused(key: str) -> None:
    with refused("PROPERTY_FORBIDDEN", key=key):
        a_table(properties={key: "s3://elsewhere"})


@pytest.mark.parametrize(
    "key",
    [
        "write.metadata.previous-versions-max",
        "write.metadata.delete-after-commit.enabled",
        "write.metadata.metrics.default",
        "write.metadata.metrics.column.id",
    ],
)
def test_metadata_properties_that_move_nothing_are_allowed(key: str) -> None:
    assert a_table(properties={key: "1"}).properties == {key: "1"}


@pytest.mark.parametrize("codec", ["zstd", "GZIP", ""])
def test_a_codec_that_is_not_served_is_refused(codec: str) -> None:
    with refused("UNSUPPORTED_COMPRESSION", codec=codec):
        a_table(properties={"write.metadata.compression-codec": codec})


def test_types_of_format_version_3_are_allowed_in_it() -> None:
    kinds = ["variant", "unknown", "timestamptz_ns", "geometry", "geography(OGC:CRS84, karney)"]
    table = a_table(
        format_version=3,
        schema=schema(
            *(field(i, f"c{i}", kind) for i, kind in enumerate(kinds)),
            field(90, "d", "decimal(9,2)", **{"initial-default": "1.50", "write-default": "2.50"}),
        ),
    )
    assert table.last_column_id == 6


def test_trailing_slashes_of_the_location_are_dropped() -> None:
    request = parse_create_table(json.dumps({"name": "t", "schema": schema(field(1, "a"))}).encode())
    table = create_table(request, table_uuid=UUID, location=LOCATION + "//", format_version=2, now_ms=T0)
    assert table.location == LOCATION


def test_ids_that_repeat_are_harmless_until_something_refers_to_them() -> None:
    twice = schema(field(0, "a"), field(0, "b"))
    assert a_table(schema=twice).last_column_id == 2
    with refused("INVALID_METADATA", path="partition-spec.fields.source-id"):
        a_table(
            schema=twice, **{"partition-spec": {"fields": [{"source-id": 0, "transform": "identity", "name": "a"}]}}
        )
