"""A run of the audit's job as a process of its own, which may end itself with SIGKILL; it uses the JVM of the test's Spark.

python -m tests.support.audit_run URL WAREHOUSE CATALOG NAMESPACE TABLE BATCH DIES

DIES: "collected", a batch is about to be added; "added", its commit is made, and nobody was told; "never".
What is under way in the JVM goes on without us, as a commit that was sent off does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from lakeward import Client
from lakeward_pipelines.audit import AuditTable, Bounds, Landing, Log, Standing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.events import Event


def variables(spark: SparkSession) -> Mapping[str, str]:
    """By which a process finds the JVM of a session."""
    gateway: Any = spark.sparkContext._gateway
    parameters = gateway.gateway_parameters
    return {"PYSPARK_GATEWAY_PORT": str(parameters.port), "PYSPARK_GATEWAY_SECRET": parameters.auth_token}


def attached() -> SparkSession:
    """The session of the JVM that our variables name."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    gateway: Any = launch_gateway()
    session = gateway.jvm.org.apache.spark.sql.SparkSession.active()
    context = gateway.jvm.org.apache.spark.api.java.JavaSparkContext(session.sparkContext())
    settings = SparkConf(_jvm=gateway.jvm, _jconf=context.getConf())
    return SparkSession(SparkContext(conf=settings, gateway=gateway, jsc=context), session)


def sharing(spark: SparkSession) -> Callable[[Mapping[str, str]], AbstractContextManager[SparkSession]]:
    """A session that the command may have in place of its own, and that goes on behind it."""

    def opened(settings: Mapping[str, str]) -> AbstractContextManager[SparkSession]:
        for key, value in settings.items():
            spark.conf.set(key, value)
        return nullcontext(spark)

    return opened


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _DyingTable(AuditTable):
    def __init__(self, spark: SparkSession, name: Sequence[str], *, late: bool) -> None:
        super().__init__(spark, name)
        self._late = late

    def add(self, events: Mapping[str, Sequence[Event]], *, since: Standing) -> None:
        if self._late:
            super().add(events, since=since)
        _die()


def main(arguments: Sequence[str]) -> None:
    """See the module."""
    url, warehouse, catalog, namespace, name, batch, dies = arguments
    spark, where = attached(), (catalog, namespace, name)
    with Client(url) as client:
        never = dies == "never"
        table = AuditTable(spark, where) if never else _DyingTable(spark, where, late=dies == "added")
        Landing(table, [Log.of(client, warehouse)], Bounds(events=int(batch))).once()


if __name__ == "__main__":
    main(sys.argv[1:])
