"""Who changes the same thing waits for its turn in this process, so that nobody works for a race that it must lose here."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Collection
from typing import Final, TypeAlias
from uuid import UUID

Thing: TypeAlias = tuple[UUID, str, str]  # as a warehouse and the comparison keys of a path


class Queues:
    """One queue a thing, for as long as somebody is in it. One of these per process."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._locks: Final[weakref.WeakValueDictionary[object, asyncio.Lock]] = weakref.WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def turn(self, things: Collection[Thing]) -> AsyncIterator[None]:
        """Alone with all of these, until the block ends."""
        async with contextlib.AsyncExitStack() as stack:
            for thing in sorted(set(things)):  # one order, so that no two wait in a circle
                await stack.enter_async_context(self._locks.setdefault(thing, asyncio.Lock()))
            yield
