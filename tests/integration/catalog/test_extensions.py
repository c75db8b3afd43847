"""The extensions that searches need: made by a database's owner, found where they are, and named where they can't be made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

from lakeward_catalog.domain.model import Kind
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.schemas import MigrationFailed
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.stores import MIGRATIONS, SCHEMA, PostgresStores, catalog_pool
from tests.support.catalog.values import EVERYTHING

pytestmark = pytest.mark.integration

_HOMES = """
select e.extname, n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
 where e.extname in ('pg_trgm', 'btree_gin')
"""


@pytest.fixture
def database(make_database: Callable[[], str]) -> str:
    """A superuser's address of one with nothing in it."""
    return make_database()


@asynccontextmanager
async def _by_somebody(url: str) -> AsyncIterator[tuple[asyncpg.Connection[asyncpg.Record], str, str]]:
    """(a superuser's connection, a role that is none, the database's address for that role)."""
    role, password = f"r{uuid4().hex[:12]}", uuid4().hex
    parts = urlsplit(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"create role {role} login password '{password}'")
        place = f"{role}:{password}@{parts.hostname}:{parts.port}"
        yield connection, role, urlunsplit(parts._replace(netloc=place))
    finally:
        await connection.close()


async def _migrate(url: str) -> None:
    await migrate(SecretStr(url), package=MIGRATIONS, schema=SCHEMA)


async def test_the_owner_of_a_database_needs_nobody_else(database: str) -> None:
    async with _by_somebody(database) as (connection, role, url):
        name = urlsplit(url).path.removeprefix("/")
        await connection.execute(f"alter database {name} owner to {role}")
        await _migrate(url)
        assert dict(await connection.fetch(_HOMES)) == {"pg_trgm": SCHEMA, "btree_gin": SCHEMA}


async def test_extensions_that_are_there_are_used_wherever_they_are(database: str) -> None:
    async with _by_somebody(database) as (connection, role, url):
        await connection.execute(
            f"create schema elsewhere; grant usage on schema elsewhere to {role};"
            f"create extension pg_trgm schema elsewhere; create extension btree_gin schema elsewhere;"
            f"create schema {SCHEMA} authorization {role}"
        )
        async with catalog_pool(url, size=2) as pool:
            stores = PostgresStores(pool)
            table = await stores.with_tabular(None, "customers")
            [match] = await stores.tabulars.search(
                table.warehouse_id, "custmers", visible=dict.fromkeys(Kind, EVERYTHING), limit=10
            )
            assert match.ident == table.ident


@pytest.mark.parametrize("lacking", ["pg_trgm", "btree_gin"])
async def test_one_that_this_role_may_not_make_is_named_with_its_cure(database: str, lacking: str) -> None:
    async with _by_somebody(database) as (connection, role, url):
        await connection.execute(f"create schema {SCHEMA} authorization {role}")
        if lacking != "pg_trgm":
            await connection.execute("create extension pg_trgm")
        with pytest.raises(MigrationFailed, match=f"the extension {lacking}.* run `create extension {lacking}` there"):
            await _migrate(url)
        await connection.execute(f"create extension {lacking}")
        assert not await connection.fetchval("select exists (select from pg_tables where tablename = 'tabular')")
