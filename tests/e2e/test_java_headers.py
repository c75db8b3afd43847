"""Iceberg's Java clients find the headers that save them work: they look names up as the standards print them."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from lakeward_components import blocking
from tests.e2e.conftest import spark_on
from tests.support import maven
from tests.support.engines import Reach
from tests.support.exchanges import Exchange, Exchanges, overheard
from tests.support.http import NOBODY
from tests.support.lakeward import Lakeward
from tests.support.warehouses import Warehouse, make_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HERE = Path(__file__).parent / "java"
_SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "n", "type": "long", "required": False}]}


@pytest.fixture(scope="session")
def rest_client(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of Iceberg's REST client and of our loads."""
    return maven.build(_HERE, tmp_path_factory.mktemp("rest_client"))


def test_the_java_client_loads_a_table_with_a_condition_once_it_knows_it(lakeward: Lakeward, rest_client: str) -> None:
    namespace = f"java_{secrets.token_hex(4)}"
    assert httpx.post(lakeward.namespaces, json={"namespace": [namespace]}).is_success
    created = httpx.post(f"{lakeward.namespaces}/{namespace}/tables", json={"name": "t", "schema": _SCHEMA})
    assert created.is_success, created.text
    with overheard(lakeward.catalog_uri) as (uri, exchanges):
        command = ["java", "-Xmx256m", "-cp", rest_client, "Loads", uri, lakeward.warehouse, namespace, "t", "5"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    assert [line.split(" ")[1] for line in ran.stdout.splitlines()] == ["no"] * 5 + ["yes"]
    loads = exchanges.of("GET", ending=f"/namespaces/{namespace}/tables/t")
    # what was loaded once is asked for with its tag, and comes again when it has changed; a commit looks without one before
    assert ["if-none-match" in load.asked for load in loads] == [False, *[True] * 5, False, True]
    assert [load.status for load in loads] == [200, *[304] * 5, 200, 200]
    assert all(load.told["ETag"] for load in loads)


def test_spark_uses_a_signature_again_where_it_may(spark_session: SparkSession, lakeward: Lakeward) -> None:
    with overheard(lakeward.url) as (url, catalog), overheard(lakeward.store.endpoint) as (endpoint, store):
        warehouse = blocking.run(_signing_warehouse(lakeward, endpoint))
        reach = Reach(f"{url}/catalog", warehouse.name, "remote-signing")
        sql = spark_on(spark_session, reach, name=f"overheard_{lakeward.composition}")
        t = sql.new_name()
        sql("create table {t} using iceberg as select id, id * 2 as twice from range(1000)", t=t)
        # other ranges of a file under one signature: the sums tell whether they were the right ones
        for column, total in (("id", 499_500), ("twice", 999_000), ("id", 499_500)):
            assert sql(f"select sum({column}) from {{t}}", t=t) == [(total,)]
    signatures = [signed.told["Cache-Control"] for signed in catalog.of("POST", ending="/v1/aws/s3/sign")]
    read, written = _of_the_client(store, "GET", "HEAD"), _of_the_client(store, "PUT", "POST", "DELETE")
    assert {each.status for each in read} <= {200, 206}
    assert 0 < signatures.count("private") < len(read)
    assert signatures.count("no-cache") == len(written) > 0


def _of_the_client(store: Exchanges, *methods: str) -> Sequence[Exchange]:
    """What Spark asked the store for; the server speaks to it too."""
    every = [each for method in methods for each in store.of(method, ending="")]
    return [each for each in every if "amz-sdk-invocation-id" in each.asked]


async def _signing_warehouse(lakeward: Lakeward, endpoint: str) -> Warehouse:
    async with httpx.AsyncClient(verify=NOBODY, base_url=lakeward.url, timeout=60) as http:
        return await make_warehouse(http, lakeward.store, endpoint=endpoint, sts=False)
