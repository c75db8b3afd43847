"""PyIceberg changes what a table is: its columns, its partitions, its branches and tags, its history."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, StructType, TimestampType

NewTable = Callable[..., Table]

VISITS = Schema(
    NestedField(1, "id", IntegerType(), required=True),
    NestedField(2, "page", StringType()),
    NestedField(3, "at", TimestampType()),
)


def visits(*rows: tuple[int, str, int]) -> pa.Table:
    """Rows of id, page and day of January."""
    found = [{"id": i, "page": page, "at": datetime(2026, 1, day, 12)} for i, page, day in rows]  # noqa: DTZ001 - local
    return pa.Table.from_pylist(found, schema=VISITS.as_arrow())


def ids_of(table: Table, **scan: Any) -> list[int]:
    return sorted(table.scan(**scan).to_arrow()["id"].to_pylist())


def test_data_written_before_a_change_of_columns_is_read_by_the_columns_of_today(new_table: NewTable) -> None:
    table = new_table(VISITS)
    table.append(visits((1, "a", 1)))
    with table.update_schema() as schema:
        schema.add_column("where", StructType(NestedField(100, "city", StringType())))
        schema.update_column("id", LongType())
        schema.rename_column("page", "path")
        schema.delete_column("at")
    with table.update_schema() as schema:
        schema.move_first("path")
        schema.add_column(("where", "country"), StringType())
        schema.add_column("page", LongType())  # a new column under an old one's name
    assert [field.name for field in table.schema().fields] == ["path", "id", "where", "page"]
    row = {"path": "b", "id": 2**40, "where": {"city": "Bern", "country": "CH"}, "page": 7}
    table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))
    found = sorted(table.scan().to_arrow().to_pylist(), key=lambda each: each["id"])
    assert found == [{"path": "a", "id": 1, "where": None, "page": None}, row]


def test_an_old_snapshot_is_read_by_the_columns_that_it_was_written_with(new_table: NewTable) -> None:
    table = new_table(VISITS)
    table.append(visits((1, "a", 1)))
    first = table.metadata.current_snapshot_id
    with table.update_schema() as schema:
        schema.delete_column("page")
    assert table.scan().to_arrow().column_names == ["id", "at"]
    assert table.scan(snapshot_id=first).to_arrow().column_names == ["id", "page", "at"]


def test_each_file_stays_in_the_partitions_it_was_written_under(new_table: NewTable) -> None:
    table = new_table(VISITS)
    table.append(visits((1, "a", 1), (2, "b", 2)))
    with table.update_spec() as spec:
        spec.add_field("at", DayTransform(), "day")
    table.append(visits((3, "a", 1), (4, "b", 2)))
    with table.update_spec() as spec:
        spec.remove_field("day")
        spec.add_field("id", BucketTransform(4), "bucket")
        spec.add_field("page", IdentityTransform(), "page_is")
    table.append(visits((5, "a", 1), (6, "a", 3)))
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]
    files = table.inspect.files().to_pylist()
    assert Counter(file["spec_id"] for file in files) == {0: 1, 1: 2, 2: len(files) - 3}
    one_day = table.scan(row_filter="at >= '2026-01-02T00:00:00' and at < '2026-01-03T00:00:00'")
    assert sorted(one_day.to_arrow()["id"].to_pylist()) == [2, 4]
    assert len(list(one_day.plan_files())) < len(files)


def test_a_table_is_created_with_the_partitions_and_the_order_that_were_asked_for(new_table: NewTable) -> None:
    table = new_table(
        VISITS,
        partition_spec=PartitionSpec(PartitionField(3, 1000, DayTransform(), "day")),
        sort_order=SortOrder(
            SortField(2, IdentityTransform(), direction=SortDirection.DESC, null_order=NullOrder.NULLS_LAST)
        ),
        properties={"comment": "visits of pages"},
    )
    assert [(field.name, str(field.transform)) for field in table.spec().fields] == [("day", "day")]
    assert [(field.source_id, field.direction) for field in table.sort_order().fields] == [(2, SortDirection.DESC)]
    assert table.properties["comment"] == "visits of pages"
    table.append(visits((1, "a", 1), (2, "b", 1), (3, "c", 2)))
    assert len(table.inspect.partitions()) == 2


def test_a_branch_takes_writes_that_the_table_does_not_show(catalog: Catalog, new_table: NewTable) -> None:
    table = new_table(VISITS)
    table.append(visits((1, "a", 1)))
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.manage_snapshots().create_branch(first, "audit").create_tag(first, "v1").commit()
    table.append(visits((2, "b", 2)), branch="audit")
    table.append(visits((3, "c", 3)))
    found = catalog.load_table(table.name())
    assert ids_of(found) == [1, 3]
    assert sorted(found.scan().use_ref("audit").to_arrow()["id"].to_pylist()) == [1, 2]
    assert found.scan().use_ref("v1").to_arrow()["id"].to_pylist() == [1]
    assert {name: ref.snapshot_ref_type.value for name, ref in found.refs().items()} == {
        "main": "branch",
        "audit": "branch",
        "v1": "tag",
    }
    table.refresh()
    table.manage_snapshots().remove_branch("audit").remove_tag("v1").commit()
    assert set(catalog.load_table(table.name()).refs()) == {"main"}


def test_a_rollback_brings_back_the_rows_of_then_and_keeps_the_history(new_table: NewTable) -> None:
    table = new_table(VISITS)
    table.append(visits((1, "a", 1)))
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.append(visits((2, "b", 2)))
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    assert ids_of(table) == [1]
    assert len(table.snapshots()) == 2


def test_an_expired_snapshot_is_gone_and_the_current_rows_are_not(catalog: Catalog, new_table: NewTable) -> None:
    table = new_table(VISITS)
    for number in range(3):
        table.append(visits((number, "p", 1)))
    time.sleep(0.002)  # snapshots are compared by the millisecond
    table.maintenance.expire_snapshots().older_than(datetime.now(UTC)).commit()
    found = catalog.load_table(table.name())
    assert [snapshot.snapshot_id for snapshot in found.snapshots()] == [found.metadata.current_snapshot_id]
    assert ids_of(found) == [0, 1, 2]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_table_has_the_format_version_that_was_asked_for(new_table: NewTable, version: int) -> None:
    assert new_table(VISITS, properties={"format-version": str(version)}).format_version == version


def test_an_upgrade_of_the_format_keeps_the_rows(new_table: NewTable) -> None:
    table = new_table(VISITS, properties={"format-version": "1"})
    table.append(visits((1, "a", 1)))
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    table.append(visits((2, "b", 2)))
    assert table.format_version == 2
    assert ids_of(table) == [1, 2]


def test_properties_are_set_and_removed(catalog: Catalog, new_table: NewTable) -> None:
    table = new_table(VISITS, properties={"a": "1", "b": "2"})
    with table.transaction() as transaction:
        transaction.set_properties(c="3", a="4")
        transaction.remove_properties("b")
    found = catalog.load_table(table.name()).properties
    assert {key: found.get(key) for key in "abc"} == {"a": "4", "b": None, "c": "3"}
