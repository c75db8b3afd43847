"""Spark writes, merges, updates, deletes and travels in time; what it reads back is compared to the last value."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.errors import AnalysisException

from tests.e2e.spark_sql import SparkSql


@pytest.fixture
def sql(spark_vended: SparkSql) -> SparkSql:
    return spark_vended


@pytest.fixture
def t(sql: SparkSql) -> str:
    """A table of items, with rows."""
    name = sql.new_name()
    sql("create table {t} (id bigint, name string, price double) using iceberg", t=name)
    sql("insert into {t} values (1, 'a', 1.0), (2, 'b', 2.0), (3, null, 3.0)", t=name)
    return name


ALL = "select * from {t} order by id"


def test_rows_of_many_types_are_read_back_as_written(sql: SparkSql) -> None:
    t = sql.new_name()
    sql(
        "create table {t} (b boolean, i int, l bigint, d double, m decimal(38, 10), day date, at timestamp, "
        "local timestamp_ntz, s string, x binary, list array<string>, "
        "pairs map<string, int>, point struct<x: double, y: double>) using iceberg",
        t=t,
    )
    sql(
        "insert into {t} values (true, -2147483648, 9223372036854775807, 1e300, 1234567890123456789012345678.0123456789, "
        "date '1582-10-15', timestamp '2026-02-28 12:00:00.000001Z', timestamp_ntz '0001-01-01 00:00:00', "
        "'世界 🌍', X'00FF', array('a', null), map('k', 1), named_struct('x', 0.1, 'y', null)), "
        "(null, null, null, null, null, null, null, null, null, null, null, null, null)",
        t=t,
    )
    full, empty = sql("select * from {t} order by i nulls last", t=t)
    at = sql("select unix_micros(at) from {t} where i is not null", t=t)[0][0]
    assert at == round(datetime(2026, 2, 28, 12, 0, 0, 1, tzinfo=UTC).timestamp() * 1_000_000)
    assert full[:6] == (
        True,
        -(2**31),
        2**63 - 1,
        1e300,
        Decimal("1234567890123456789012345678.0123456789"),
        date(1582, 10, 15),
    )
    assert full[7:10] == (datetime(1, 1, 1), "世界 🌍", bytearray(b"\x00\xff"))  # noqa: DTZ001 - it has no zone
    assert (full[10], full[11], tuple(full[12])) == (["a", None], {"k": 1}, (0.1, None))
    assert empty == (None,) * 13


def test_a_table_made_from_a_query_has_its_rows_and_partitions(sql: SparkSql, t: str) -> None:
    made = sql.new_name()
    sql("create table {made} using iceberg partitioned by (bucket(2, id)) as select id, name from {t}", made=made, t=t)
    assert sql(ALL, t=made) == [(1, "a"), (2, "b"), (3, None)]
    assert sql("select sum(record_count) from {t}.partitions", t=made) == [(3,)]


def test_a_table_made_from_a_query_that_fails_is_not_there(sql: SparkSql, t: str) -> None:
    made = sql.new_name()
    with pytest.raises(Exception, match="on purpose"):
        sql(
            "create table {made} using iceberg as select id, cast(raise_error('on purpose') as int) as x from {t}",
            made=made,
            t=t,
        )
    name = made.rpartition(".")[2]
    assert [row for row in sql("show tables in {ns}") if row[1] == name] == []


def test_a_replaced_table_has_new_rows_and_columns_and_its_old_history(sql: SparkSql, t: str) -> None:
    (before,) = sql.snapshots(t)
    sql("create or replace table {t} using iceberg as select 9 as id, 'new' as only", t=t)
    assert sql(ALL, t=t) == [(9, "new")]
    assert sql("select id, name, price from {t} version as of {v} order by id", t=t, v=str(before)) == [
        (1, "a", 1.0),
        (2, "b", 2.0),
        (3, None, 3.0),
    ]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_merge_update_and_delete_change_the_rows_they_name_and_no_others(sql: SparkSql, t: str, mode: str) -> None:
    sql(
        "alter table {t} set tblproperties ('write.merge.mode'='{m}', 'write.update.mode'='{m}', 'write.delete.mode'='{m}')",
        t=t,
        m=mode,
    )
    sql(
        "merge into {t} using (select * from values (2, 'B', 20.0), (3, 'gone', 0.0), (4, 'd', 4.0) as s(id, name, price)) s "
        "on {t}.id = s.id when matched and s.name = 'gone' then delete when matched then update set * "
        "when not matched then insert *",
        t=t,
    )
    assert sql(ALL, t=t) == [(1, "a", 1.0), (2, "B", 20.0), (4, "d", 4.0)]
    sql("update {t} set price = price + 0.5, name = 'u' where id <> 2", t=t)
    assert sql(ALL, t=t) == [(1, "u", 1.5), (2, "B", 20.0), (4, "u", 4.5)]
    sql("delete from {t} where price > 4 and price < 10", t=t)
    assert sql(ALL, t=t) == [(1, "u", 1.5), (2, "B", 20.0)]
    deletes = sql("select count(*) from {t}.delete_files", t=t)[0][0]
    assert (deletes > 0) == (mode == "merge-on-read")


def test_an_insert_overwrite_replaces_the_partitions_it_brings(sql: SparkSql) -> None:
    t = sql.new_name()
    sql("create table {t} (id bigint, kind string) using iceberg partitioned by (kind)", t=t)
    sql("insert into {t} values (1, 'x'), (2, 'x'), (3, 'y')", t=t)
    sql.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        sql("insert overwrite {t} values (9, 'x')", t=t)
    finally:
        sql.session.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert sql(ALL, t=t) == [(3, "y"), (9, "x")]


def test_a_query_of_an_old_version_time_or_tag_gives_the_rows_of_then(sql: SparkSql, t: str) -> None:
    (first,) = sql.snapshots(t)
    sql("alter table {t} create tag before as of version {v}", t=t, v=str(first))
    sql("insert into {t} values (4, 'd', 4.0)", t=t)
    committed = sql("select unix_millis(committed_at) from {t}.snapshots where snapshot_id = {v}", t=t, v=str(first))[
        0
    ][0]
    old = [(1,), (2,), (3,)]
    assert sql("select id from {t} version as of {v} order by id", t=t, v=str(first)) == old
    assert sql("select id from {t} version as of 'before' order by id", t=t) == old
    assert sql("select id from {t} timestamp as of timestamp_millis({ms}) order by id", t=t, ms=str(committed)) == old
    assert sql("select id from {t} order by id", t=t) == [*old, (4,)]


def test_a_branch_takes_writes_that_the_table_shows_after_it_is_fast_forwarded(sql: SparkSql, t: str) -> None:
    sql("alter table {t} create branch audit", t=t)
    sql("insert into {t}.branch_audit values (4, 'd', 4.0)", t=t)
    sql("delete from {t}.branch_audit where id = 1", t=t)
    assert sql("select id from {t}.branch_audit order by id", t=t) == [(2,), (3,), (4,)]
    assert sql("select id from {t} order by id", t=t) == [(1,), (2,), (3,)]
    name = t.partition(".")[2]
    sql("call {catalog}.system.fast_forward('{name}', 'main', 'audit')", name=name)
    assert sql("select id from {t} order by id", t=t) == [(2,), (3,), (4,)]
    sql("alter table {t} drop branch audit", t=t)
    assert sql("select name from {t}.refs", t=t) == [("main",)]


def test_a_branch_that_is_not_there_is_not_found_and_the_session_goes_on(sql: SparkSql, t: str) -> None:
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        sql("select * from {t}.never_heard_of", t=t)
    assert len(sql(ALL, t=t)) == 3
