"""DuckDB attaches a warehouse, reads what others wrote, and writes what others read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog

from tests.support.engines import NAME, Reach, duckdb_connection, duckdb_statements


@pytest.fixture(scope="module")
def duck(vended: Reach) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb_connection() as connection:
        for statement in duckdb_statements(vended):
            connection.execute(statement)
        yield connection


def test_what_duckdb_writes_it_and_pyiceberg_read_back(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, new_name: str
) -> None:
    duck.execute(
        f"create table {NAME}.{new_name} (id bigint, name varchar, price decimal(10, 2), day date, moment timestamp)"
    )
    rows = [
        (1, "a", Decimal("1.25"), date(2026, 1, 1), datetime(2026, 1, 1, 12, 0, 0, 1)),  # noqa: DTZ001 - without a zone
        (2, None, None, None, None),
    ]
    for row in rows:
        duck.execute(f"insert into {NAME}.{new_name} values (?, ?, ?, ?, ?)", row)
    assert duck.execute(f"select * from {NAME}.{new_name} order by id").fetchall() == rows
    found = catalog.load_table(new_name).scan().to_arrow().sort_by("id").to_pylist()
    assert [tuple(row.values()) for row in found] == rows


def test_a_table_made_from_a_query_has_its_rows(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, new_name: str
) -> None:
    duck.execute(f"create table {NAME}.{new_name} as select i as id, i % 3 as kind from range(1000) t(i)")
    duck.execute(f"delete from {NAME}.{new_name} where kind = 0")
    assert duck.execute(f"select count(*), sum(id) from {NAME}.{new_name}").fetchall() == [(666, 332_667)]
    assert catalog.load_table(new_name).scan().count() == 666


def test_duckdb_reads_what_pyiceberg_wrote_changed_and_deleted(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, new_name: str
) -> None:
    rows = pa.table({"id": [1, 2, 3], "name": ["a", "b", None]})
    table = catalog.create_table(new_name, rows.schema)
    table.append(rows)
    first = table.metadata.current_snapshot_id
    table.delete("id = 2")
    with table.update_schema() as schema:
        schema.rename_column("name", "label")
    assert duck.execute(f"select id, label from {NAME}.{new_name} order by id").fetchall() == [(1, "a"), (3, None)]
    then = duck.execute(f"select count(*) from {NAME}.{new_name} at (version => {first})").fetchall()
    assert then == [(3,)]


def test_a_transaction_that_is_rolled_back_leaves_nothing(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, new_name: str
) -> None:
    table = catalog.create_table(new_name, pa.schema([("id", pa.int64())]))
    duck.execute("begin")
    duck.execute(f"insert into {NAME}.{new_name} values (1)")
    duck.execute("rollback")
    assert catalog.load_table(new_name).metadata_location == table.metadata_location


def test_a_transaction_over_two_tables_becomes_visible_in_both_at_once(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, new_name: str
) -> None:
    names = [f"{new_name}_a", f"{new_name}_b"]
    for name in names:
        catalog.create_table(name, pa.schema([("id", pa.int64())]))
    duck.execute("begin")
    for number, name in enumerate(names):
        duck.execute(f"insert into {NAME}.{name} values ({number})")
    assert [catalog.load_table(name).scan().count() for name in names] == [0, 0]
    duck.execute("commit")
    found = [catalog.load_table(name).scan().to_arrow()["id"].to_pylist() for name in names]
    assert found == [[0], [1]]


def test_schemas_and_tables_are_made_listed_and_dropped(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, namespace: str
) -> None:
    place = f"{namespace}_duck"
    duck.execute(f"create schema {NAME}.{place}")
    duck.execute(f"create table {NAME}.{place}.t (id integer)")
    listed = duck.execute(
        "select table_name from information_schema.tables where table_catalog = ? and table_schema = ?", [NAME, place]
    ).fetchall()
    assert listed == [("t",)]
    assert catalog.list_tables(place) == [(place, "t")]
    duck.execute(f"drop table {NAME}.{place}.t")
    duck.execute(f"drop schema {NAME}.{place}")
    assert not catalog.namespace_exists(place)
