from __future__ import annotations

import pytest

from lakeward_authz.adapters.postgres.schema import metadata
from lakeward_authz.bootstrap import MIGRATIONS, SCHEMA_NUMBER
from lakeward_servicekit.postgres.migrating import differences, migrate, newest_of
from lakeward_servicekit.secrecy import SecretStr

pytestmark = pytest.mark.integration


async def test_the_migrations_make_the_tables_that_the_schema_describes(postgres_url: str) -> None:
    url = SecretStr(postgres_url)
    await migrate(url, package=MIGRATIONS, schema="lakeward_authz")
    found = await differences(url, schema="lakeward_authz", metadata=metadata)
    assert [each for each in found if "event_log_" not in each] == []  # partitions


def test_the_service_needs_no_later_migration_than_there_is() -> None:
    assert newest_of(MIGRATIONS) >= SCHEMA_NUMBER
