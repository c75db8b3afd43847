"""A catalog that dies between a change's commit and authz's hearing of it, or before it notes that authz heard."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from uuid import UUID

import asyncpg
import httpx
import pytest

from tests.support import failpoint, tree
from tests.support.faults import House
from tests.support.http import NOBODY
from tests.support.warehouses import make_table

pytestmark = pytest.mark.integration

_PENDING = "select count(*) from lakeward_catalog.tree_change"
_APPLIED = "select applied from lakeward_authz.tree_streams where stream = 'warehouse/' || $1::uuid"


async def _until_everything_is_told(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    async with asyncio.timeout(60):
        while await connection.fetchval(_PENDING):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("fault", [failpoint.UNTOLD, failpoint.UNHEARD])
async def test_what_was_made_before_a_crash_is_told_after_it_and_once(
    house: House, beside: asyncpg.Connection[asyncpg.Record], fault: str
) -> None:
    async with httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as http:
        warehouse = await house.warehouse(http)
    await _until_everything_is_told(beside)

    async with house.faulty_catalog(fault) as catalog:
        # It may die before it answers, if the loop looks at that very moment; what counts is that it had committed.
        with contextlib.suppress(httpx.TransportError):
            async with httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as http:
                await http.post(f"{warehouse.path}/namespaces", json={"namespace": ["made"]})
        assert await catalog.ended() == -signal.SIGKILL
        assert len(await tree.differences(beside)) == (1 if fault == failpoint.UNTOLD else 0)
        assert await beside.fetchval(_PENDING) == 1, "it died too late"

    await _until_everything_is_told(beside)
    assert await tree.differences(beside) == []
    assert await beside.fetchval(_APPLIED, UUID(warehouse.id)) == 2
    async with httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as http:
        await make_table(http, warehouse, "made", "later")
    await _until_everything_is_told(beside)
    assert await tree.differences(beside) == []
    assert await beside.fetchval(_APPLIED, UUID(warehouse.id)) == 3
