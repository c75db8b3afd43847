"""Who is told that there are events."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, cast

from lakeward_servicekit.events.bell import PostgresBell
from lakeward_servicekit.postgres.pools import Pool


class _Notified:
    """A pool that notes what other processes would hear."""

    def __init__(self) -> None:
        self.channels: list[str] = []
        self.told = asyncio.Event()

    async def fetchval(self, _statement: str, channel: str, _own: str) -> None:
        self.channels.append(channel)
        self.told.set()


def _bell() -> tuple[PostgresBell, _Notified]:
    pool = _Notified()
    return PostgresBell(cast("Pool", cast("Any", pool)), channel="events"), pool


async def test_a_bell_that_is_answered_here_rings_here_and_for_nobody_else_until_it_is_not() -> None:
    bell, elsewhere = _bell()
    async with asyncio.timeout(10):
        with bell.answered_here():
            bell.ring()
            await bell.wait(timedelta(minutes=1))
            await asyncio.sleep(0)
            assert not elsewhere.channels
        await elsewhere.told.wait()  # who takes over hears of what rang meanwhile
    assert elsewhere.channels == ["events"]


async def test_a_bell_that_is_answered_nowhere_here_rings_elsewhere() -> None:
    bell, elsewhere = _bell()
    async with asyncio.timeout(10):
        bell.ring()
        await elsewhere.told.wait()
        await bell.wait(timedelta(minutes=1))
    assert elsewhere.channels == ["events"]
