from __future__ import annotations

import pytest

from lakeward_catalog.adapters.postgres import schema, shared
from lakeward_servicekit.postgres.migrating import differences, migrate
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.stores import MIGRATIONS, SCHEMA

pytestmark = pytest.mark.integration


async def test_the_migrated_schema_is_the_one_that_is_declared(pool: Pool, postgres_url: str) -> None:
    assert pool is not None
    found = await differences(SecretStr(postgres_url), schema=SCHEMA, metadata=schema.metadata)
    assert [each for each in found if "event_log_" not in each] == []


async def test_migrating_again_changes_nothing(pool: Pool, postgres_url: str) -> None:
    before = await pool.fetchval("select server_id from server")
    await migrate(SecretStr(postgres_url), package=MIGRATIONS, schema=SCHEMA)
    assert await pool.fetchval("select server_id from server") == before


async def test_compressed_columns_are_stored_as_they_are(pool: Pool) -> None:
    stored = await pool.fetch(
        """select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
            where c.relnamespace = current_schema()::regnamespace and a.attstorage = 'e' and c.relkind = 'r'"""
    )
    assert {tuple(row) for row in stored} == set(schema.EXTERNAL)


async def test_every_slot_of_the_event_log_is_there(pool: Pool) -> None:
    slots = await pool.fetchval("select count(*) from pg_inherits where inhparent = 'event_log'::regclass")
    assert slots == shared.EVENT_SLOTS


def test_every_index_says_which_statements_it_serves() -> None:
    silent = [index.name for table in schema.metadata.tables.values() for index in table.indexes if not index.info]
    assert silent == []
