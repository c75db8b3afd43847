from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from lakeward_catalog.application.sweeping import Retention, sweep_once
from tests.support.catalog.values import HeldClock


class EndlessKeys:
    """`Leftovers` of which keys never come to an end."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def expired_staged(self, *, now: datetime, limit: int) -> int:
        return self._note("staged")

    async def forgotten_keys(self, *, now: datetime, limit: int) -> int:
        self._note("keys")
        await asyncio.sleep(0)
        return limit

    async def old_attempts(self, *, before: datetime, limit: int) -> int:
        return self._note("attempts")

    async def old_counts(self, *, before: datetime, limit: int) -> int:
        return self._note("counts")

    async def old_events(self, *, days: int) -> int:
        return self._note("events")

    async def old_snapshots(self, *, before: datetime, limit: int) -> int:
        return self._note("snapshots")

    async def unnamed(self, *, before: datetime, limit: int) -> int:
        return self._note("secrets")

    def _note(self, what: str) -> int:
        self.asked.append(what)
        return 0


async def test_sweeping_keys_takes_no_longer_than_it_may_and_keeps_nothing_else() -> None:
    leftovers = EndlessKeys()
    retention = Retention(keys_within=timedelta(milliseconds=5))
    await sweep_once(leftovers=leftovers, secrets=leftovers.unnamed, clock=HeldClock(), retention=retention)
    assert list(dict.fromkeys(leftovers.asked)) == [
        "staged",
        "keys",
        "attempts",
        "counts",
        "events",
        "snapshots",
        "secrets",
    ]
