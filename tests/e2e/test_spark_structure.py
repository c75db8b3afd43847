"""Spark changes what a table is, keeps views, and runs the procedures that maintain tables."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from tests.e2e.spark_sql import SparkSql


@pytest.fixture
def sql(spark_vended: SparkSql) -> SparkSql:
    return spark_vended


@pytest.fixture
def t(sql: SparkSql) -> str:
    """A table of visits, with a row."""
    name = sql.new_name()
    sql("create table {t} (id int, page string, day date) using iceberg", t=name)
    sql("insert into {t} values (1, 'a', date '2026-01-01')", t=name)
    return name


def test_data_written_before_a_change_of_columns_is_read_by_the_columns_of_today(sql: SparkSql, t: str) -> None:
    for change in (
        "add columns (place struct<city: string>)",
        "add column place.country string",
        "rename column page to path",
        "alter column id type bigint",
        "alter column path first",
        "drop column day",
    ):
        sql("alter table {t} {change}", t=t, change=change)
    sql("insert into {t} values ('b', 1099511627776, named_struct('city', 'Bern', 'country', 'CH'))", t=t)
    assert [row[0] for row in sql("describe table {t}", t=t)][:3] == ["path", "id", "place"]
    assert sql("select path, id, place.city, place.country from {t} order by id", t=t) == [
        ("a", 1, None, None),
        ("b", 2**40, "Bern", "CH"),
    ]


def test_each_file_stays_in_the_partitions_it_was_written_under(sql: SparkSql, t: str) -> None:
    sql("alter table {t} add partition field months(day)", t=t)
    sql("insert into {t} values (2, 'b', date '2026-01-02'), (3, 'c', date '2026-02-03')", t=t)
    sql("alter table {t} replace partition field day_month with days(day)", t=t)
    sql("alter table {t} add partition field bucket(4, id) as shard", t=t)
    sql("insert into {t} values (4, 'd', date '2026-02-03')", t=t)
    specs = Counter(row[0] for row in sql("select spec_id from {t}.files", t=t))
    assert (specs[0], specs[1], sum(specs.values())) == (1, 2, 4)
    assert sql("select id from {t} where day = date '2026-02-03' order by id", t=t) == [(3,), (4,)]
    assert sql("select id, page, day from {t} where id = 4", t=t) == [(4, "d", date(2026, 2, 3))]
    sql("alter table {t} drop partition field shard", t=t)
    assert sql("select count(*) from {t}", t=t) == [(4,)]


def test_properties_of_a_table_are_set_and_unset(sql: SparkSql, t: str) -> None:
    sql("alter table {t} set tblproperties ('owner-team'='maps', 'comment'='visits')", t=t)
    sql("alter table {t} unset tblproperties ('comment')", t=t)
    found = dict(sql("show tblproperties {t}", t=t))
    assert (found.get("owner-team"), found.get("comment")) == ("maps", None)


def test_a_view_shows_its_query_until_it_is_replaced_or_dropped(sql: SparkSql, t: str) -> None:
    view = sql.new_name()
    sql(
        "create view {v} (number comment 'of the visit', path) comment 'pages' as select id, page from {t}", v=view, t=t
    )
    assert sql("select number, path from {v}", v=view) == [(1, "a")]
    sql("insert into {t} values (2, 'b', null)", t=t)
    assert sql("select number, path from {v} order by 1", v=view) == [(1, "a"), (2, "b")]
    sql("create or replace view {v} as select count(*) as n from {t}", v=view, t=t)
    assert sql("select n from {v}", v=view) == [(2,)]
    sql("alter view {v} set tblproperties ('k'='1')", v=view)
    assert ("k", "1") in sql("show tblproperties {v}", v=view)
    name = view.rpartition(".")[2]
    assert name in {row[1] for row in sql("show views in {ns}")}
    sql("drop view {v}", v=view)
    assert name not in {row[1] for row in sql("show views in {ns}")}


def test_small_files_are_rewritten_into_one_with_the_same_rows(sql: SparkSql, t: str) -> None:
    for number in (2, 3):
        sql("insert into {t} values ({n}, 'p', null)", t=t, n=str(number))
    before = sql("select * from {t} order by id", t=t)
    name = t.partition(".")[2]
    (done,) = sql(
        "call {catalog}.system.rewrite_data_files(table => '{name}', options => map('min-input-files', '2'))", name=name
    )
    assert done[:2] == (3, 1)
    assert sql("select count(*) from {t}.files", t=t) == [(1,)]
    assert sql("select * from {t} order by id", t=t) == before


def test_expired_snapshots_take_the_files_that_nothing_needs_with_them(sql: SparkSql, t: str) -> None:
    sql("insert overwrite {t} values (2, 'b', null)", t=t)
    sql("insert into {t} values (3, 'c', null)", t=t)
    name = t.partition(".")[2]
    (done,) = sql(
        "call {catalog}.system.expire_snapshots(table => '{name}', older_than => timestamp '2999-01-01', retain_last => 1)",
        name=name,
    )
    assert done[0] == 1  # the one data file that was overwritten
    assert len(sql.snapshots(t)) == 1
    assert sql("select id from {t} order by id", t=t) == [(2,), (3,)]


def test_an_orphan_file_is_removed_and_a_tables_own_files_are_not(sql: SparkSql, t: str) -> None:
    name = t.partition(".")[2]
    (own,) = sql("select file_path from {t}.files", t=t)
    folder = own[0].rpartition("/")[0]
    # Only files of more than a day ago may be removed, so what lies there is listed with an age of our making.
    sql.session.createDataFrame([(own[0],), (f"{folder}/orphan.parquet",)], "file_path string").selectExpr(
        "file_path", "timestamp '2020-01-01' as last_modified"
    ).createOrReplaceTempView("listed")
    removed = sql("call {catalog}.system.remove_orphan_files(table => '{name}', file_list_view => 'listed')", name=name)
    assert removed == [(f"{folder}/orphan.parquet",)]
    assert sql("select id from {t}", t=t) == [(1,)]


def test_orphan_files_are_looked_for_by_listing_the_store_with_vended_credentials(sql: SparkSql, t: str) -> None:
    name = t.partition(".")[2]
    assert sql("call {catalog}.system.remove_orphan_files(table => '{name}', prefix_listing => true)", name=name) == []


def test_manifests_are_rewritten_and_a_snapshot_is_rolled_back_to(sql: SparkSql, t: str) -> None:
    (first,) = sql.snapshots(t)
    sql("insert into {t} values (2, 'b', null)", t=t)
    name = t.partition(".")[2]
    assert sql("call {catalog}.system.rewrite_manifests('{name}')", name=name) == [(2, 1)]
    sql("call {catalog}.system.rollback_to_snapshot('{name}', {v})", name=name, v=str(first))
    assert sql("select id from {t}", t=t) == [(1,)]
