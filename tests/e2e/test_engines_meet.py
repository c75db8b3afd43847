"""One table under the hands of all engines: each reads what the others did."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.catalog import Catalog

from tests.e2e.spark_sql import SparkSql
from tests.support.engines import NAME, Reach, duckdb_connection, duckdb_statements

EXPECTED = [(1, "spark"), (2, "pyiceberg"), (3, "duckdb"), (4, "changed by spark")]


def test_a_table_written_by_three_engines_reads_the_same_in_all_of_them(
    spark_vended: SparkSql, catalog: Catalog, vended: Reach
) -> None:
    sql = spark_vended
    t = sql.new_name()
    name = t.partition(".")[2]
    sql(
        "create table {t} (id bigint, writer string) using iceberg tblproperties ('write.update.mode'='merge-on-read')",
        t=t,
    )
    sql("insert into {t} values (1, 'spark'), (4, 'spark')", t=t)
    catalog.load_table(name).append(pa.table({"id": [2], "writer": ["pyiceberg"]}))
    with duckdb_connection() as duck:
        for statement in duckdb_statements(vended):
            duck.execute(statement)
        duck.execute(f"insert into {NAME}.{name} values (3, 'duckdb')")
        sql("refresh table {t}", t=t)
        sql("update {t} set writer = 'changed by spark' where id = 4", t=t)
        assert duck.execute(f"select * from {NAME}.{name} order by id").fetchall() == EXPECTED
    found = catalog.load_table(name).scan().to_arrow().sort_by("id").to_pylist()
    assert [tuple(row.values()) for row in found] == EXPECTED
    assert sql("select * from {t} order by id", t=t) == EXPECTED
