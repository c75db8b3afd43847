"""Who makes something may use it with the very next request, at whichever replica, and nobody else sees it."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import asyncpg
import httpx
import pytest

from tests.integration.permissions.conftest import BACKENDS, House, Houses
from tests.support import tree
from tests.support.installations import compositions, planned, started
from tests.support.warehouses import make_namespace, make_table, tables_of, told

pytestmark = pytest.mark.integration

MAKERS, ROUNDS = 3, 4


@pytest.mark.parametrize("composition", compositions(), ids=str)
@pytest.mark.parametrize("backend", BACKENDS)
async def test_what_somebody_makes_is_theirs_at_once_at_every_replica(
    houses: Houses, backend: str, composition: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (chosen,) = (each for each in compositions() if each == composition)
    house = await houses(backend, chosen)
    home = tmp_path_factory.mktemp(f"own-{backend}")
    async with started(planned(chosen, home, house.settings)) as replica:
        urls = [house.installation.url, replica.url]
        await asyncio.gather(*(_makes_and_uses(house, urls[index % 2], urls[1 - index % 2]) for index in range(MAKERS)))
    connection = await asyncpg.connect(house.database)
    try:
        async with asyncio.timeout(60):
            while await tree.differences(connection):  # drops are told of without anybody waiting
                await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def _makes_and_uses(house: House, url: str, other_url: str) -> None:
    maker, stranger = (f"{name}-{uuid4().hex[:8]}" for name in ("maker", "stranger"))
    await house.give(maker, "create", house.place)
    async with (
        house.client(maker, url) as here,
        house.client(maker, other_url) as there,
        house.client(stranger, other_url) as elsewhere,
    ):
        for _ in range(ROUNDS):
            await _round(house, here, there, elsewhere)


async def _round(house: House, here: httpx.AsyncClient, there: httpx.AsyncClient, elsewhere: httpx.AsyncClient) -> None:
    warehouse = house.warehouse
    first, second = await make_namespace(here, warehouse), await make_namespace(here, warehouse)
    told(await there.get(f"{warehouse.path}/namespaces/{first}"))
    await make_table(there, warehouse, first, "made")
    path = f"{tables_of(warehouse, first)}/made"
    told(await here.get(path))
    assert (await elsewhere.get(path)).status_code == 404
    renaming = {
        "source": {"namespace": [first], "name": "made"},
        "destination": {"namespace": [second], "name": "moved"},
    }
    told(await here.post(f"{warehouse.path}/tables/rename", json=renaming))
    moved = f"{tables_of(warehouse, second)}/moved"
    told(await there.get(moved))
    assert (await there.get(path)).status_code == 404
    told(await there.delete(moved))
    assert (await here.get(moved)).status_code == 404
