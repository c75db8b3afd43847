"""Spark names, moves and drops; and gets at files with signatures instead of credentials."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx
import pytest

from tests.e2e.spark_sql import SparkSql
from tests.support.lakeward import Lakeward

_GONE_SECONDS = 60


@pytest.fixture
def sql(spark_vended: SparkSql) -> SparkSql:
    return spark_vended


def test_namespaces_nest_carry_properties_and_are_dropped_with_what_they_hold(sql: SparkSql) -> None:
    sql("create namespace {ns}.inner with dbproperties ('purpose'='trial')")
    assert ("inner",) in [(row[0].rpartition(".")[2],) for row in sql("show namespaces in {ns}")]
    sql("alter namespace {ns}.inner set dbproperties ('purpose'='proof')")
    described = dict(sql("describe namespace extended {ns}.inner"))
    assert "(purpose,proof)" in described["Properties"]
    sql("create table {ns}.inner.t (id int) using iceberg")
    with pytest.raises(Exception, match=r"(?i)not.empty"):
        sql("drop namespace {ns}.inner")
    sql("drop table {ns}.inner.t")
    sql("drop namespace {ns}.inner")
    assert sql("show namespaces in {ns}") == []


def test_a_renamed_table_has_its_rows_under_the_new_name_alone(sql: SparkSql) -> None:
    old, new = sql.new_name(), sql.new_name()
    sql("create table {t} using iceberg as select 1 as id", t=old)
    sql("alter table {t} rename to {new}", t=old, new=new.partition(".")[2])
    assert sql("select id from {t}", t=new) == [(1,)]
    listed = {row[1] for row in sql("show tables in {ns}")}
    assert new.rpartition(".")[2] in listed
    assert old.rpartition(".")[2] not in listed


# Spark's DROP never says whether to purge, so the server's default holds, and with PURGE Spark deletes what it reaches
# beside that; the server leaves it the time to.
@pytest.mark.parametrize("how", ["", "purge"])
def test_a_dropped_table_leaves_no_file_behind(sql: SparkSql, keys_below: Callable[[str], list[str]], how: str) -> None:
    t = sql.new_name()
    sql("create table {t} using iceberg as select 1 as id", t=t)
    (path,) = sql("select file_path from {t}.files", t=t)
    location = path[0].rpartition("/data/")[0]
    assert len(keys_below(location)) >= 4
    sql("drop table {t} {how}", t=t, how=how)
    deadline = time.monotonic() + _GONE_SECONDS
    while left := keys_below(location):
        assert time.monotonic() < deadline, f"{len(left)} files are left, such as {left[0]}"
        time.sleep(0.2)


def test_a_table_that_left_the_catalog_with_its_files_in_place_is_registered_again(
    sql: SparkSql, lakeward: Lakeward
) -> None:
    t = sql.new_name()
    sql("create table {t} using iceberg as select 1 as id", t=t)
    ((metadata,),) = sql("select file from {t}.metadata_log_entries order by timestamp desc limit 1", t=t)
    # Spark's own DROP TABLE says nothing of purging, and the server's default is to purge.
    dropped = httpx.delete(
        f"{lakeward.namespaces}/{sql.namespace}/tables/{t.rpartition('.')[2]}", params={"purgeRequested": "false"}
    )
    assert dropped.status_code == 204
    sql("call {catalog}.system.register_table('{name}', '{m}')", name=f"{sql.namespace}.again", m=metadata)
    assert sql("select id from {ns}.again") == [(1,)]


def test_what_spark_asks_for_a_branch_is_answered_as_a_table_that_is_not_there(
    sql: SparkSql, lakeward: Lakeward
) -> None:
    t = sql.new_name()
    sql("create table {t} using iceberg as select 1 as id", t=t)
    # Spark takes `ns.table.branch_x` for the table `branch_x` of the namespace `ns.table`, and asks for that first.
    namespace = "%1F".join(t.split(".")[1:])
    for method in ("GET", "HEAD"):
        reply = httpx.request(method, f"{lakeward.namespaces}/{namespace}/tables/branch_x")
        assert reply.status_code == 404
    deeper = "%1F".join(["a"] * 7)
    assert httpx.get(f"{lakeward.namespaces}/{deeper}/tables/branch_x").status_code == 404


def test_spark_does_all_of_it_with_signed_requests_and_no_credentials(spark_signed: SparkSql) -> None:
    sql = spark_signed
    t = sql.new_name()
    sql("create table {t} (id bigint, name string) using iceberg partitioned by (bucket(2, id))", t=t)
    sql("insert into {t} values (1, 'a'), (2, 'b'), (3, 'c')", t=t)
    sql("delete from {t} where id = 2", t=t)
    sql(
        "merge into {t} using (select 3 as id, 'C' as name union all select 4, 'd') s on {t}.id = s.id "
        "when matched then update set * when not matched then insert *",
        t=t,
    )
    assert sql("select * from {t} order by id", t=t) == [(1, "a"), (3, "C"), (4, "d")]
    name = t.partition(".")[2]
    sql(
        "call {catalog}.system.expire_snapshots(table => '{name}', older_than => timestamp '2999-01-01', retain_last => 1)",
        name=name,
    )
    assert sql("select count(*) from {t}", t=t) == [(3,)]
