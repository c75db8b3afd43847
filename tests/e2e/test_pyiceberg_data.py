"""PyIceberg writes, changes and reads data; what it reads back is compared to the last value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

NewTable = Callable[..., Table]

ITEMS = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("price", pa.float64()),
    ]
)


def items(*rows: tuple[int, str | None, float | None]) -> pa.Table:
    return pa.Table.from_pylist([{"id": i, "name": name, "price": price} for i, name, price in rows], schema=ITEMS)


def rows_of(table: Table, **scan: Any) -> list[tuple[Any, ...]]:
    found = table.scan(**scan).to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


EVERY_TYPE = Schema(
    NestedField(1, "flag", BooleanType()),
    NestedField(2, "small", IntegerType()),
    NestedField(3, "large", LongType(), required=True),
    NestedField(4, "single", FloatType()),
    NestedField(5, "double", DoubleType()),
    NestedField(6, "money", DecimalType(20, 4)),
    NestedField(7, "day", DateType()),
    NestedField(8, "moment", TimeType()),
    NestedField(9, "local", TimestampType()),
    NestedField(10, "instant", TimestamptzType()),
    NestedField(11, "text", StringType()),
    NestedField(12, "bytes", BinaryType()),
    NestedField(13, "four", FixedType(4)),
    NestedField(14, "key", UUIDType()),
    NestedField(15, "list", ListType(16, StringType(), element_required=False)),
    NestedField(17, "map", MapType(18, StringType(), 19, LongType(), value_required=False)),
    NestedField(20, "struct", StructType(NestedField(21, "x", DoubleType()), NestedField(22, "y", DoubleType()))),
)

FULL: Mapping[str, Any] = {
    "flag": True,
    "small": -(2**31),
    "large": 2**63 - 1,
    "single": 1.5,
    "double": 1e300,
    "money": Decimal("1234567890123456.7891"),
    "day": date(1969, 12, 31),
    "moment": time(23, 59, 59, 999999),
    "local": datetime(2026, 2, 28, 12, 0, 0, 1),  # noqa: DTZ001 - that is what the type means
    "instant": datetime(2026, 2, 28, 12, 0, 0, 1, tzinfo=UTC),
    "text": "Grüße, 世界 🌍 'quoted' \"twice\" \\",
    "bytes": bytes(range(256)),
    "four": b"\x00\x01\xfe\xff",
    "key": UUID("0197a000-0000-7000-8000-000000000001"),
    "list": ["a", None, ""],
    "map": [("k", 1), ("n", None)],
    "struct": {"x": 0.1, "y": None},
}
EMPTY: Mapping[str, Any] = {**dict.fromkeys(FULL), "large": -(2**63)}


def test_a_row_of_every_type_and_a_row_of_nulls_are_read_back_as_written(catalog: Catalog, new_name: str) -> None:
    table = catalog.create_table(new_name, EVERY_TYPE)
    arrow = table.schema().as_arrow()  # field ids are the server's
    written = [{**row, "key": row["key"] and row["key"].bytes} for row in (FULL, EMPTY)]
    table.append(pa.Table.from_pylist(written, schema=arrow))
    found = catalog.load_table(new_name).scan().to_arrow().to_pylist()
    by_large = {row["large"]: row for row in found}
    for expected in (FULL, EMPTY):
        row = by_large[expected["large"]]
        assert {**row, "key": row["key"] and UUID(bytes=getattr(row["key"], "bytes", row["key"]))} == expected


def test_three_appends_are_three_snapshots_and_all_their_rows(new_table: NewTable) -> None:
    table = new_table(ITEMS)
    for number in range(3):
        table.append(items((number, f"n{number}", number / 2)))
    assert rows_of(table) == [(0, "n0", 0.0), (1, "n1", 0.5), (2, "n2", 1.0)]
    assert [entry.snapshot_id for entry in table.history()] == [snapshot.snapshot_id for snapshot in table.snapshots()]
    assert [snapshot.sequence_number for snapshot in table.snapshots()] == [1, 2, 3]


def test_an_overwrite_replaces_the_rows_of_its_filter_and_no_others(new_table: NewTable) -> None:
    table = new_table(ITEMS)
    table.append(items((1, "a", 1.0), (2, "b", 2.0), (3, "a", 3.0)))
    table.overwrite(items((9, "a", 9.0)), overwrite_filter="name = 'a'")
    assert rows_of(table) == [(2, "b", 2.0), (9, "a", 9.0)]
    table.overwrite(items((5, "z", None)))
    assert rows_of(table) == [(5, "z", None)]


def test_an_upsert_updates_what_is_known_and_inserts_what_is_new(new_table: NewTable) -> None:
    table = new_table(ITEMS)
    table.append(items((1, "a", 1.0), (2, "b", 2.0), (3, "c", 3.0)))
    result = table.upsert(items((2, "B", 2.5), (3, "c", 3.0), (4, "d", 4.0)), join_cols=["id"])
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    assert rows_of(table) == [(1, "a", 1.0), (2, "B", 2.5), (3, "c", 3.0), (4, "d", 4.0)]


def test_a_delete_removes_the_rows_of_its_filter_and_no_others(new_table: NewTable) -> None:
    table = new_table(ITEMS)
    table.append(items((1, "a", 1.0), (2, "b", 2.0)))
    table.append(items((3, "c", 3.0), (4, "d", 4.0)))
    table.delete("id in (2, 3)")
    assert rows_of(table) == [(1, "a", 1.0), (4, "d", 4.0)]
    table.delete("price >= 0")
    assert rows_of(table) == []


def test_operations_of_one_transaction_become_visible_together_in_one_commit(
    catalog: Catalog, new_table: NewTable
) -> None:
    table = new_table(ITEMS)
    table.append(items((1, "a", 1.0), (2, "b", 2.0)))
    before = len(table.metadata.metadata_log)
    with table.transaction() as transaction:
        transaction.delete("id = 1")
        transaction.append(items((3, "c", 3.0)))
        with transaction.update_schema() as schema:
            schema.add_column("note", StringType())
        transaction.set_properties({"owner": "accounting"})
        elsewhere = catalog.load_table(table.name())
        assert rows_of(elsewhere) == [(1, "a", 1.0), (2, "b", 2.0)]
        assert "owner" not in elsewhere.properties
    found = catalog.load_table(table.name())
    assert rows_of(found) == [(2, "b", 2.0, None), (3, "c", 3.0, None)]
    assert found.properties["owner"] == "accounting"
    assert len(found.metadata.metadata_log) == before + 1


def test_a_transaction_whose_rows_were_deleted_meanwhile_is_refused_and_changes_nothing(
    catalog: Catalog, new_table: NewTable
) -> None:
    table = new_table(ITEMS)
    table.append(items((1, "a", 1.0), (2, "b", 2.0)))
    transaction = catalog.load_table(table.name()).transaction()
    transaction.delete("id = 1")
    transaction.append(items((3, "c", 3.0)))
    table.delete("id = 2")
    with pytest.raises((CommitFailedException, ValidationException)):
        transaction.commit_transaction()
    found = catalog.load_table(table.name())
    assert found.metadata_location == table.metadata_location
    assert rows_of(found) == [(1, "a", 1.0)]


def test_a_schema_change_made_on_a_stale_table_is_refused_and_changes_nothing(
    catalog: Catalog, new_table: NewTable
) -> None:
    table = new_table(ITEMS)
    late = catalog.load_table(table.name())
    table.update_schema().add_column("first", StringType()).commit()
    with pytest.raises(CommitFailedException):
        late.update_schema().add_column("second", StringType()).commit()
    found = catalog.load_table(table.name())
    assert [field.name for field in found.schema().fields] == ["id", "name", "price", "first"]
