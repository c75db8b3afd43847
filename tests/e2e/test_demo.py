"""The job of `make demo`, with fewer rides."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from lakeward_pipelines import demo
from lakeward_pipelines.report import Report
from tests.support.engines import Reach, spark_settings
from tests.support.installations import Composition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")
def test_the_demo_finds_what_it_wrote_where_an_earlier_run_left_tables(
    spark_session: SparkSession, vended: Reach
) -> None:
    for key, value in spark_settings(vended, name=demo.CATALOG).items():
        spark_session.conf.set(key, value)
    demo.Demo(spark_session, Report(io.StringIO()), rows=2400).prepare()
    told = io.StringIO()
    demo.Demo(spark_session, Report(told), rows=2400).run()  # raises where a table does not hold what it should
    lines = told.getvalue().splitlines()
    assert "[##############################] 100 %  2,400 of 2,400" in told.getvalue()
    assert [line for line in lines if line.startswith("metadata  s3://")]
    assert [line for line in lines if line.startswith("data      s3://")]
