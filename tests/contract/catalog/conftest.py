"""Each suite runs over the stores in memory and over those on Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.catalog.stores import MemoryStores, PostgresStores, Stores, catalog_pool


@pytest.fixture(scope="module", params=["memory", pytest.param("postgres", marks=pytest.mark.integration)])
def stores_at(request: pytest.FixtureRequest) -> str | None:
    """A database, which only a synchronous fixture can make; None for the stores in memory."""
    return None if request.param == "memory" else str(request.getfixturevalue("postgres_url"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(stores_at: str | None) -> AsyncIterator[Stores]:
    if stores_at is None:
        yield MemoryStores()
        return
    async with catalog_pool(stores_at) as pool:
        yield PostgresStores(pool)
