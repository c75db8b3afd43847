"""PyIceberg names, moves, drops and brings back: namespaces, tables, views."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

from tests.support.engines import Reach, pyiceberg_properties

NewTable = Callable[..., Table]
NUMBERS = pa.schema([pa.field("n", pa.int64())])
_PURGED_SECONDS = 60


def numbers(*values: int) -> pa.Table:
    return pa.table({"n": list(values)}, schema=NUMBERS)


def values_of(table: Table) -> list[int]:
    return sorted(table.scan().to_arrow()["n"].to_pylist())


def test_a_staged_table_is_not_there_until_its_transaction_commits(catalog: Catalog, new_name: str) -> None:
    with catalog.create_table_transaction(new_name, NUMBERS, properties={"made": "staged"}) as transaction:
        assert not catalog.table_exists(new_name)
        transaction.append(numbers(1, 2))
        assert not catalog.table_exists(new_name)
    table = catalog.load_table(new_name)
    assert values_of(table) == [1, 2]
    assert table.properties["made"] == "staged"
    assert table.metadata.metadata_log == []


def test_a_staged_table_that_was_given_up_leaves_its_name_free(catalog: Catalog, new_name: str) -> None:
    catalog.create_table_transaction(new_name, NUMBERS).append(numbers(1))
    assert not catalog.table_exists(new_name)
    assert values_of(catalog.create_table(new_name, NUMBERS)) == []


def test_a_table_dropped_without_purge_is_registered_again_with_its_rows_and_its_id(
    catalog: Catalog, new_name: str, new_table: NewTable
) -> None:
    table = new_table(NUMBERS)
    table.append(numbers(1, 2, 3))
    catalog.drop_table(new_name)
    with pytest.raises(NoSuchTableError):
        catalog.load_table(new_name)
    again = catalog.register_table(f"{new_name}_again", table.metadata_location)
    assert values_of(again) == [1, 2, 3]
    assert again.metadata.table_uuid == table.metadata.table_uuid
    again.append(numbers(4))
    assert values_of(catalog.load_table(f"{new_name}_again")) == [1, 2, 3, 4]


def test_a_renamed_table_is_the_same_table_under_its_new_name_alone(
    catalog: Catalog, namespace: str, new_name: str, new_table: NewTable
) -> None:
    table = new_table(NUMBERS)
    table.append(numbers(1))
    other = f"{namespace}_other"
    catalog.create_namespace_if_not_exists(other)
    moved = catalog.rename_table(new_name, f"{other}.moved")
    assert (moved.metadata.table_uuid, moved.location()) == (table.metadata.table_uuid, table.location())
    assert not catalog.table_exists(new_name)
    assert catalog.list_tables(other) == [(other, "moved")]
    moved.append(numbers(2))
    assert values_of(catalog.load_table(f"{other}.moved")) == [1, 2]


def test_a_purged_table_leaves_no_file_behind(
    catalog: Catalog, new_name: str, new_table: NewTable, keys_below: Callable[[str], list[str]]
) -> None:
    table = new_table(NUMBERS)
    table.append(numbers(1))
    table.append(numbers(2))
    assert len(keys_below(table.location())) >= 7  # two of each of data, manifest, list; three metadata
    catalog.purge_table(new_name)
    assert not catalog.table_exists(new_name)
    deadline = time.monotonic() + _PURGED_SECONDS
    while left := keys_below(table.location()):
        assert time.monotonic() < deadline, f"{len(left)} files are left, such as {left[0]}"
        time.sleep(0.2)


def test_a_table_dropped_without_purge_keeps_its_files(
    catalog: Catalog, new_name: str, new_table: NewTable, keys_below: Callable[[str], list[str]]
) -> None:
    table = new_table(NUMBERS)
    table.append(numbers(1))
    before = keys_below(table.location())
    catalog.drop_table(new_name)
    assert keys_below(table.location()) == before


def test_a_taken_name_is_refused_and_its_table_stays(catalog: Catalog, new_name: str, new_table: NewTable) -> None:
    table = new_table(NUMBERS)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table(new_name, NUMBERS)
    assert catalog.load_table(new_name).metadata.table_uuid == table.metadata.table_uuid


def test_names_are_listed_and_looked_up_in_nested_namespaces(catalog: Catalog, namespace: str) -> None:
    inner = (namespace, "middle", "in ner ü")  # it escapes a space in `parent` twice, so the middle has none
    for depth in (2, 3):
        catalog.create_namespace(inner[:depth], {"depth": str(depth)})
    assert catalog.list_namespaces(inner[:2]) == [inner]
    assert catalog.load_namespace_properties(inner)["depth"] == "3"
    catalog.create_table((*inner, "tab le"), NUMBERS).append(numbers(5))
    assert catalog.list_tables(inner) == [(*inner, "tab le")]
    assert values_of(catalog.load_table((*inner, "tab le"))) == [5]
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace(inner[:2])
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace(inner)
    catalog.drop_table((*inner, "tab le"))
    catalog.drop_namespace(inner)
    assert catalog.list_namespaces(inner[:2]) == []
    with pytest.raises(NoSuchNamespaceError):
        catalog.list_tables(inner)


def test_properties_of_a_namespace_are_changed_and_what_was_missing_is_told(catalog: Catalog, namespace: str) -> None:
    place = f"{namespace}_properties"
    catalog.create_namespace(place, {"a": "1", "b": "2"})
    summary = catalog.update_namespace_properties(place, removals={"a", "never"}, updates={"c": "3"})
    assert (summary.removed, summary.updated, summary.missing) == (["a"], ["c"], ["never"])
    found = catalog.load_namespace_properties(place)
    assert {key: found.get(key) for key in "abc"} == {"a": None, "b": "2", "c": "3"}


def test_every_table_of_a_listing_of_several_pages_is_listed_once(
    vended: Reach, catalog: Catalog, namespace: str
) -> None:
    place = f"{namespace}_many"
    catalog.create_namespace(place)
    made = [(place, f"t{number}") for number in range(5)]
    for name in made:
        catalog.create_table(name, NUMBERS)
    paging = load_catalog("paging", **pyiceberg_properties(vended), **{"rest-page-size": "2"})
    assert sorted(paging.list_tables(place)) == made


def test_a_view_is_created_listed_loaded_and_dropped(catalog: Catalog, namespace: str, new_name: str) -> None:
    version = ViewVersion(
        version_id=1,
        timestamp_ms=1_790_000_000_000,
        schema_id=0,
        summary={"engine-name": "tests"},
        representations=[SQLViewRepresentation(type="sql", sql="select 1 as n", dialect="duckdb")],
        default_namespace=[namespace],
    )
    made = catalog.create_view(new_name, Schema(NestedField(1, "n", LongType())), version)
    name = tuple(new_name.split("."))
    assert name in catalog.list_views(namespace)
    assert name not in catalog.list_tables(namespace)
    found = catalog.load_view(new_name)
    sql = found.sql_for("duckdb")
    assert sql is not None
    assert (sql.sql, found.uuid()) == ("select 1 as n", made.uuid())
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table(new_name, NUMBERS)
    catalog.drop_view(new_name)
    assert not catalog.view_exists(new_name)
    with pytest.raises(NoSuchViewError):
        catalog.load_view(new_name)
