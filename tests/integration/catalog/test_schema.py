from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import asyncpg
import pytest

from lakeward_catalog.adapters.postgres import schema
from lakeward_servicekit.events.postgres_log import EVENT_SLOTS
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


@pytest.fixture
def empty(make_database: Callable[[], str]) -> tuple[str, str]:
    """Two databases with nothing in them."""
    return make_database(), make_database()


async def test_a_new_server_is_called_what_its_operator_says_once_and_else_by_the_nil_uuid(
    empty: tuple[str, str],
) -> None:
    chosen, later = uuid4(), uuid4()
    given, unset = empty
    for database, ids in ((given, [chosen, later]), (unset, [None, later])):
        for each in ids:
            said = {} if each is None else {"server_id": str(each)}
            await migrate(SecretStr(database), package=MIGRATIONS, schema=SCHEMA, given=said)
    assert await _server(given) == (chosen, True)
    assert await _server(unset) == (UUID(int=0), True)


async def _server(database: str) -> tuple[UUID, bool]:
    """What it is called, and whether its installation has an id of its own."""
    connection = await asyncpg.connect(database)
    try:
        row = await connection.fetchrow(f"select server_id, installation_id from {SCHEMA}.server")
        assert row is not None
        return row["server_id"], row["installation_id"] not in {UUID(int=0), row["server_id"]}
    finally:
        await connection.close()


async def test_compressed_columns_are_stored_as_they_are(pool: Pool) -> None:
    stored = await pool.fetch(
        """select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
            where c.relnamespace = current_schema()::regnamespace and a.attstorage = 'e' and c.relkind = 'r'"""
    )
    assert {tuple(row) for row in stored} == set(schema.EXTERNAL)


async def test_every_slot_of_the_event_log_is_there(pool: Pool) -> None:
    slots = await pool.fetchval("select count(*) from pg_inherits where inhparent = 'event_log'::regclass")
    assert slots == EVENT_SLOTS


def test_every_index_says_which_statements_it_serves() -> None:
    silent = [index.name for table in schema.metadata.tables.values() for index in table.indexes if not index.info]
    assert silent == []
