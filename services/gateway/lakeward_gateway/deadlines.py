"""Ends requests that take too long.

`asyncio.timeout` sets and takes back a timer for every request, which costs as much as all of the translation around it. Every
request here has the same time, so those that began first end first, and one timer for the oldest of them is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

T = TypeVar("T")


class Deadlines:
    """Gives every call the same time. Made in the loop that it serves.

    Args:
        seconds: that a call may take; one may be found late by a tenth of a second.
    """

    def __init__(self, seconds: float) -> None:
        """See the class."""
        self._seconds: Final = seconds
        # asked for once: asyncio asks the system for the process's id whenever it looks for the running loop
        self._loop: Final = asyncio.get_running_loop()
        # by task, in the order in which they began: when each must end, on the loop's clock
        self._ends: Final[dict[asyncio.Task[Any], float]] = {}
        self._late: Final[set[asyncio.Task[Any]]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def within(self, work: Awaitable[T]) -> T:
        """The result of `work`, which is cancelled where it takes too long.

        Raises:
            TimeoutError: it took too long.
        """
        task = asyncio.current_task(self._loop)
        assert task is not None, "a request runs in a task of the loop that the gateway was made in"
        self._ends[task] = self._loop.time() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._expire)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._late and task.cancelling() == 1:
                raise TimeoutError from None
            raise
        finally:
            if task in self._late:
                self._late.discard(task)
                task.uncancel()
            del self._ends[task]

    def _expire(self) -> None:
        self._timer = None
        now = self._loop.time()
        for task, end in self._ends.items():
            if end > now:
                # a little later than the next one's end, so that those which began together end together
                self._timer = self._loop.call_later(end - now + 0.1, self._expire)
                return
            if task not in self._late:
                self._late.add(task)
                task.cancel()
