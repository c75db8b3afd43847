"""A cache that loads what it lacks, once, however many ask."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class LoadingCache(Generic[K, V]):
    """Values by key for a time that each load says; the least recently used go first when it is full.

    Concurrent misses of one key share one load, which goes on when who began it is cancelled. Errors are not kept.

    Args:
        capacity: most values.
        now: seconds; only differences count.
    """

    def __init__(self, *, capacity: int, now: Callable[[], float] = time.monotonic) -> None:
        """Start empty; see the class."""
        self._capacity = capacity
        self._now = now
        self._values: dict[K, tuple[V, float]] = {}
        self._loads: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, load: Callable[[], Awaitable[tuple[V, float]]]) -> V:
        """The value of `key`.

        Args:
            key: whatever the value depends on, all of it.
            load: makes the value, and says for how many seconds it is good; 0 or less keeps it from being kept.

        Raises:
            Whatever `load` raises.
        """
        kept = self._values.pop(key, None)
        if kept is not None and self._now() < kept[1]:
            self._values[key] = kept
            return kept[0]
        task = self._loads.get(key)
        if task is None:
            task = asyncio.create_task(self._load(key, load))
            self._loads[key] = task
            task.add_done_callback(lambda done: self._forget_load(key, done))
        return await asyncio.shield(task)

    def discard(self, key: K) -> None:
        """Forget a value; a load under way still ends in its callers, and is not kept."""
        self._values.pop(key, None)
        self._loads.pop(key, None)

    async def _load(self, key: K, load: Callable[[], Awaitable[tuple[V, float]]]) -> V:
        value, seconds = await load()
        if seconds > 0 and self._loads.get(key) is asyncio.current_task():
            while len(self._values) >= self._capacity:
                del self._values[next(iter(self._values))]
            self._values[key] = (value, self._now() + seconds)
        return value

    def _forget_load(self, key: K, task: asyncio.Task[V]) -> None:
        if self._loads.get(key) is task:
            del self._loads[key]
        if not task.cancelled():
            task.exception()  # who waited has it; nobody else is to hear of it
