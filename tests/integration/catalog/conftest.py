"""The catalog's stores on Postgres, in a database of each module's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.stores import PostgresStores, catalog_pool


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pool(postgres_url: str) -> AsyncIterator[Pool]:
    async with catalog_pool(postgres_url) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(pool: Pool) -> PostgresStores:
    return PostgresStores(pool)
