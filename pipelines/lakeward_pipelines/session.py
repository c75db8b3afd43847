"""A local Spark session with Iceberg in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lakeward_pipelines import iceberg, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS: Final = "LAKEWARD_SPARK_JARS"
"""Names a variable: comma-separated paths of Iceberg's runtime and AWS bundle, for machines that can't fetch them."""
IVY_SETTINGS: Final = "LAKEWARD_SPARK_IVY_SETTINGS"
"""Names a variable: path of an Ivy settings file, for machines that fetch from a mirror."""


@contextmanager
def session(
    name: str, *, settings: Mapping[str, str] | None = None, environment: Mapping[str, str] = os.environ
) -> Iterator[SparkSession]:
    """A session on this machine alone, stopped at the end. Iceberg's jars are fetched once, and then are in Ivy's cache.

    Args:
        name: of the application.
        settings: of Spark, over ours.
        environment: says where Java and the jars are.

    Raises:
        JavaMissing: Spark has nothing to run on.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415 - heavy, and Java is looked for before

    os.environ["JAVA_HOME"] = str(java.home(environment))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors' own Python has what this one has
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # else Spark looks its own name up, and warns
    builder = SparkSession.Builder().appName(name).master("local[2]")
    for key, value in {**_OURS, **_jars(environment), **(settings or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


_OURS: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.extensions": iceberg.EXTENSIONS,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def _jars(environment: Mapping[str, str]) -> Mapping[str, str]:
    if given := environment.get(JARS):
        return {"spark.jars": given}
    fetched = {"spark.jars.packages": ",".join(iceberg.PACKAGES)}
    if mirror := environment.get(IVY_SETTINGS):
        fetched["spark.jars.ivySettings"] = mirror
    return fetched
