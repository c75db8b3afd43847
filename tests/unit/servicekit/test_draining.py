"""A server that ends waits for what is under way, and for nothing that nobody knows of."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lakeward_servicekit.rpc import draining
from lakeward_servicekit.rpc.draining import UnderWay, stop


class Server:
    """A server with a call that none of its handlers was told of, unless that is answered."""

    def __init__(self) -> None:
        self.told: list[float | None] = []
        self.answered = asyncio.Event()

    async def stop(self, grace: float | None) -> None:
        self.told.append(grace)
        if grace is None:
            self.answered.set()
        await self.answered.wait()


@pytest.fixture
def server() -> Any:
    return Server()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "SENDING_SECONDS", 0.01)


async def test_a_call_that_was_lost_holds_no_server_up_for_all_its_patience(server: Any) -> None:
    async with asyncio.timeout(5):
        await stop(server, UnderWay())
    assert server.told == [draining.DRAIN_SECONDS, None]


async def test_nothing_is_cut_off_while_a_handler_answers(server: Any) -> None:
    under_way = UnderWay()
    with under_way:
        stopping = asyncio.create_task(stop(server, under_way))
        with under_way:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.05)
        assert server.told == [draining.DRAIN_SECONDS]
        assert not stopping.done()
    await asyncio.wait_for(stopping, 5)
    assert server.told == [draining.DRAIN_SECONDS, None]


async def test_a_server_that_has_nothing_left_is_told_once(server: Any) -> None:
    server.answered.set()
    await stop(server, UnderWay())
    assert server.told == [draining.DRAIN_SECONDS]


async def test_who_is_cancelled_meanwhile_leaves_nothing_running(server: Any) -> None:
    others = asyncio.all_tasks()  # of tests that share the loop; they may begin some meanwhile, too
    stopping = asyncio.create_task(stop(server, UnderWay()))
    await asyncio.sleep(0)
    ours = {Server.stop.__qualname__, UnderWay.quiet.__qualname__}
    begun = [task for task in asyncio.all_tasks() - others if getattr(task.get_coro(), "__qualname__", "") in ours]
    stopping.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(stopping, *begun, return_exceptions=True)
    assert len(begun) == len(ours)
    assert all(task.cancelled() for task in begun)
