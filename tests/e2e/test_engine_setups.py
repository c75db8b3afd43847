"""Each engine, set up as for Lakeward, on a catalog that is not ours: what fails here is not Lakeward's fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from tests.support import control as control_catalog
from tests.support.control import ControlCatalog
from tests.support.engines import Reach, duckdb_connection, pyiceberg_properties, spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [(1, "a"), (2, "b"), (3, None)]


@pytest.fixture(scope="module")
def reach(control: ControlCatalog) -> Reach:
    return Reach(control.uri, control.warehouse)


def test_pyiceberg_reads_back_what_it_wrote_with_vended_credentials(control: ControlCatalog, reach: Reach) -> None:
    catalog = load_catalog(
        "control",
        **pyiceberg_properties(reach),
        credential=control.credential,
        **{"oauth2-server-uri": control.token_uri, "s3.region": control_catalog.REGION},
    )
    catalog.create_namespace("py")
    rows = pa.table({"id": [row[0] for row in ROWS], "name": [row[1] for row in ROWS]})
    table = catalog.create_table("py.t", rows.schema)
    table.append(rows)
    assert catalog.load_table("py.t").scan().to_arrow().sort_by("id") == rows
    assert "s3.session-token" in table.io.properties


def test_spark_reads_back_what_it_wrote_with_vended_credentials(
    spark_session: SparkSession, control: ControlCatalog, reach: Reach
) -> None:
    settings = {
        **spark_settings(reach, name="control"),
        "spark.sql.catalog.control.credential": control.credential,
        "spark.sql.catalog.control.oauth2-server-uri": control.token_uri,
        "spark.sql.catalog.control.client.region": control_catalog.REGION,
    }
    for key, value in settings.items():
        spark_session.conf.set(key, value)
    spark_session.sql("create namespace control.spark")
    spark_session.sql("create table control.spark.t (id bigint, name string) using iceberg")
    spark_session.sql("insert into control.spark.t values (1, 'a'), (2, 'b'), (3, null)")
    spark_session.sql("delete from control.spark.t where id = 2")
    found = spark_session.sql("select id, name from control.spark.t order by id").collect()
    assert [tuple(row) for row in found] == [(1, "a"), (3, None)]


def test_duckdb_reads_back_what_it_wrote_with_vended_credentials(control: ControlCatalog) -> None:
    with duckdb_connection() as connection:
        connection.execute(
            f"create secret control_token (type iceberg, client_id '{control.key.access_key}', "
            f"client_secret '{control.key.secret_key}', oauth2_server_uri '{control.token_uri}')"
        )
        connection.execute(
            f"attach '{control.warehouse}' as control (type iceberg, endpoint '{control.uri}', secret control_token, "
            "access_delegation_mode 'vended_credentials', read_only false)"
        )
        connection.execute("create schema control.duck")
        connection.execute("create table control.duck.t (id bigint, name varchar)")
        connection.executemany("insert into control.duck.t values (?, ?)", ROWS[:1])
        connection.executemany("insert into control.duck.t values (?, ?)", ROWS[1:])
        assert connection.execute("select id, name from control.duck.t order by id").fetchall() == ROWS
