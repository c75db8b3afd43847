"""What nobody needs any more, on Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.application.sweeping import Retention, sweep_once
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import State
from tests.support.catalog.fakes import PlainJudge
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import NOON, a_key_place, a_record

pytestmark = pytest.mark.integration

DAY = timedelta(days=1)


@pytest_asyncio.fixture(loop_scope="session")
async def stores(postgres_url: str) -> AsyncIterator[PostgresStores]:
    async with catalog_pool(postgres_url) as pool:
        yield PostgresStores(pool)


async def sweep(stores: PostgresStores, *, rows: int = 1000) -> None:
    secrets = Secrets(PlainJudge(), stores.warehouses, stores.unnamed_secrets)
    await sweep_once(
        leftovers=PostgresLeftovers(stores.pool),
        secrets=secrets.forget_left,
        clock=stores.clock,
        retention=Retention(rows=rows),
    )


async def test_a_staged_table_whose_commit_did_not_come_frees_its_name_and_its_place(stores: PostgresStores) -> None:
    namespace = await stores.with_namespace()
    staged = await stores.with_tabular(namespace, "staged", state=State.STAGED, expires_at=NOON + DAY)
    live = await stores.with_tabular(namespace, "live")
    stores.clock.at = NOON + DAY - timedelta(seconds=1)
    await sweep(stores)
    assert (await stores.tabulars.locate(staged.warehouse_id, staged.ident)).tabular == staged
    stores.clock.at = NOON + DAY
    await sweep(stores)
    assert (await stores.tabulars.locate(staged.warehouse_id, staged.ident)).tabular is None
    assert await stores.changes.current_metadata(staged.warehouse_id, staged.incarnation) is None
    assert (await stores.tabulars.locate(live.warehouse_id, live.ident)).tabular == live
    await stores.with_tabular(namespace, "staged", location=staged.location)


async def test_everything_that_is_due_is_swept_though_only_some_at_a_time(stores: PostgresStores) -> None:
    namespace = await stores.with_namespace()
    staged = [await stores.with_tabular(namespace, state=State.STAGED) for _ in range(5)]
    stores.clock.at = NOON + 2 * DAY
    await sweep(stores, rows=2)
    left = [(await stores.tabulars.locate(each.warehouse_id, each.ident)).tabular for each in staged]
    assert left == [None] * 5


async def test_a_key_is_forgotten_when_its_time_is_over(stores: PostgresStores) -> None:
    place, record = a_key_place(), a_record()
    await stores.idempotency.keep_refusal(place, record, until=NOON + DAY)
    stores.clock.at = NOON + 2 * DAY
    await sweep(stores)
    assert await stores.pool.fetchval("select count(*) from idempotency where key = $1", place.key) == 0
