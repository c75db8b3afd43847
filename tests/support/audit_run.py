"""A run of the audit's job as a process of its own, which may end itself with SIGKILL; it uses the JVM of the test's Spark.

python -m tests.support.audit_run URL WAREHOUSE CATALOG NAMESPACE TABLE BATCH [--dies]

With `--dies` it does so when its first commit is made.
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

    launched: Any = launch_gateway
    gateway = launched()
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


class _Deadly(AuditTable):
    def add(self, events: Mapping[str, Sequence[Event]], *, since: Standing) -> None:
        super().add(events, since=since)
        os.kill(os.getpid(), signal.SIGKILL)


def main(arguments: Sequence[str]) -> None:
    """See the module."""
    url, warehouse, catalog, namespace, name, batch, *dies = arguments
    spark, where = attached(), (catalog, namespace, name)
    with Client(url) as client:
        table = (_Deadly if dies else AuditTable)(spark, where)
        Landing(table, [Log.of(client, warehouse)], Bounds(events=int(batch))).once()


if __name__ == "__main__":
    main(sys.argv[1:])
