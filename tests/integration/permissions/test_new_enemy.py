"""A right that was taken is refused by the very next request, whichever replica it meets and whatever went before."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import httpx
import pytest

from tests.integration.permissions.conftest import BACKENDS, House, Houses
from tests.support.installations import compositions, planned, started
from tests.support.warehouses import tables_of, told

pytestmark = pytest.mark.integration

ROUNDS = 8


@pytest.mark.parametrize("composition", compositions(), ids=str)
@pytest.mark.parametrize("backend", BACKENDS)
async def test_after_a_revoke_every_replica_refuses_while_loads_never_rest(
    request: pytest.FixtureRequest,
    houses: Houses,
    backend: str,
    composition: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (chosen,) = (each for each in compositions() if each == composition)
    house = await houses(backend, chosen)
    home = tmp_path_factory.mktemp(f"replica-{backend}")
    async with started(planned(chosen, home, house.settings)) as replica:
        urls = [house.installation.url, replica.url]
        await _revokes_hold(house, urls)


async def _revokes_hold(house: House, urls: list[str]) -> None:
    reader = f"reader-{uuid4().hex[:8]}"
    path = f"{tables_of(house.warehouse, 'sales')}/orders"
    orders = await house.table("sales", "orders")
    clients = [house.client(reader, url) for url in urls]
    ended = asyncio.Event()
    met = set[int]()

    async def load_all_the_time(http: httpx.AsyncClient) -> None:
        while not ended.is_set():
            met.add((await http.get(path)).status_code)

    loops = [asyncio.create_task(load_all_the_time(http)) for http in clients for _ in range(3)]
    try:
        for _ in range(ROUNDS):
            await house.give(reader, "select", orders)
            for http in clients:
                told(await http.get(path))
            await house.take(reader, "select", orders)
            replies = await asyncio.gather(*(http.get(path) for http in clients for _ in range(4)))
            assert {reply.status_code for reply in replies} == {404}
    finally:
        ended.set()
        await asyncio.gather(*loops)
        for http in clients:
            await http.aclose()
    assert met == {200, 404}
