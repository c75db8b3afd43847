"""Listings are read where reads may lag behind; everything else is read where changes are made."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import httpx
import pytest

from lakeward_catalog.bootstrap import open_pools
from lakeward_components import databases
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.postgres import PostgresSettings
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, environment, migrate, planned, started
from tests.support.warehouses import SCHEMA, Warehouse, bootstrap, make_warehouse, tables_of, told

pytestmark = pytest.mark.integration

_SESSIONS = """
select distinct application_name from pg_stat_activity
 where datname = $1 and query like $2 and backend_type = 'client backend'
"""


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


async def test_point_reads_alone_plan_once(postgres_url: str) -> None:
    environ = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    async with AsyncExitStack() as stack:
        pools = await open_pools(load(PostgresSettings, environ).settings, stack)
        modes = [await pool.fetchval("show plan_cache_mode") for pool in (pools.changes, pools.lookups, pools.listings)]
    assert modes == ["auto", "force_generic_plan", "auto"]


async def test_small_tables_are_looked_into_by_keys_as_they_will_be_when_they_have_grown(
    postgres_url: str,
) -> None:
    environ = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    async with AsyncExitStack() as stack:
        pools = await open_pools(load(PostgresSettings, environ).settings, stack)
        plans = [
            await _plan_of_a_look_at_a_small_table(each) for each in (pools.changes, pools.lookups, pools.listings)
        ]
    assert ["Index" in plan for plan in plans] == [True, True, True]


async def _plan_of_a_look_at_a_small_table(pool: Pool) -> str:
    async with pool.reading() as connection:
        await connection.execute("begin; create temp table small (id int primary key) on commit drop")
        await connection.execute("insert into small select generate_series(1, 10); analyze small")
        lines = await connection.fetch("explain select from unnest($1::int[]) as k(id) join small using (id)", [1, 2])
        await connection.execute("rollback")
    return "\n".join(line for (line,) in lines)


async def test_listings_may_lag_behind_and_nothing_else_does(
    postgres_server: PostgresServer, database: str, s3_server: S3Store, tmp_path: Path
) -> None:
    """The replica is a copy of the database that stands still."""
    copy = f"t{secrets.token_hex(6)}"
    settings = environment(database)
    await migrate(settings)
    async with started(planned(Composition.ONE_PROCESS, tmp_path / "first", settings)) as installation:
        await installation.ready()
        async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=60) as http:
            await bootstrap(http)
            warehouse = await make_warehouse(http, s3_server)
            await _make(http, warehouse, "early", namespace=True)
    settings["LAKEKEEPER__PG_DATABASE_URL_READ"] = await databases.create(
        postgres_server, copy, template=database.rpartition("/")[2].partition("?")[0]
    )
    try:
        async with started(planned(Composition.ONE_PROCESS, tmp_path / "second", settings)) as installation:
            await installation.ready()
            async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=60) as http:
                await _make(http, warehouse, "late", namespace=False)
                told(await http.post(f"{warehouse.path}/namespaces", json={"namespace": ["other"]}))
                later = await make_warehouse(http, s3_server)
                tables = told(await http.get(tables_of(warehouse, "ns"))).json()
                namespaces = told(await http.get(f"{warehouse.path}/namespaces")).json()
                warehouses = told(await http.get("/management/v1/warehouse")).json()
                told(await http.get(f"{tables_of(warehouse, 'ns')}/late"))
                told(await http.get(f"{warehouse.path}/namespaces/other"))
                told(await http.get(f"/management/v1/warehouse/{later.id}"))
                # once more, now that all above it is known: the session's last statement is the look itself
                told(await http.get(f"{tables_of(warehouse, 'ns')}/late"))
            lookups = await _sessions(postgres_server, database, "%with ordinality as k(warehouse_id%")
            listings = await _sessions(postgres_server, settings["LAKEKEEPER__PG_DATABASE_URL_READ"], "%")
    finally:
        await databases.drop(postgres_server, copy)
    assert [each["name"] for each in tables["identifiers"]] == ["early"]
    assert namespaces["namespaces"] == [["ns"]]
    assert [each["name"] for each in warehouses["warehouses"]] == [warehouse.name]
    assert set(lookups) == {"lakeward catalog lookups"}
    assert set(listings) == {"lakeward catalog listings"}


async def _make(http: httpx.AsyncClient, warehouse: Warehouse, table: str, *, namespace: bool) -> None:
    if namespace:
        told(await http.post(f"{warehouse.path}/namespaces", json={"namespace": ["ns"]}))
    told(await http.post(tables_of(warehouse, "ns"), json={"name": table, "schema": SCHEMA}))


async def _sessions(server: PostgresServer, url: str, query: str) -> Sequence[str]:
    """Names of the sessions of a database whose last statement looks so."""
    connection = await asyncpg.connect(server.url)
    try:
        rows = await connection.fetch(_SESSIONS, url.rpartition("/")[2].partition("?")[0], query)
    finally:
        await connection.close()
    return [row[0] for row in rows]
