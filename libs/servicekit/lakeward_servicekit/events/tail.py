"""The end of streams: wakes who waits for an event there, once it is in the log.

However many wait, one question is asked when the bell rings, for all of them; and none while nobody waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import timedelta
from typing import Final

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.events.relay import Bell

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_POLL: Final = timedelta(seconds=5)
Newest = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]


class Tail:
    """Says when a stream has an event behind a number."""

    def __init__(self, newest: Newest) -> None:
        """`newest` answers the number of each stream's newest event; a stream without one may be left out."""
        self._newest: Final = newest
        self._waiting: Final[dict[str, set[_Waiting]]] = {}

    @property
    def waits(self) -> bool:
        """Whether somebody does."""
        return bool(self._waiting)

    async def beyond(self, stream: str, after: int, *, at_most: timedelta) -> None:
        """Wait until the stream has an event behind a number, or the time is over.

        Raises:
            Refusal: DATABASE_UNAVAILABLE.
        """
        mine = _Waiting(after)
        self._waiting.setdefault(stream, set()).add(mine)
        try:
            # what came between the caller's look and this one rang for nobody
            if (await self._newest([stream])).get(stream, 0) > after:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(at_most.total_seconds()):
                    await mine.woken.wait()
        finally:
            others = self._waiting[stream]
            others.discard(mine)
            if not others:
                del self._waiting[stream]

    async def watch(self, bell: Bell) -> None:
        """Wake them when the bell rings, until cancelled; a bell that is not heard costs some seconds."""
        while True:
            await bell.wait(_POLL)
            if not self._waiting:
                continue
            try:
                reached = await self._newest(list(self._waiting))
            except Refusal as away:
                _LOG.info("not looked for new events", extra={"refusal": str(away)})
                continue
            for stream, sequence in reached.items():
                for each in self._waiting.get(stream, ()):
                    if sequence > each.after:
                        each.woken.set()


class _Waiting:
    __slots__ = ("after", "woken")

    def __init__(self, after: int) -> None:
        self.after: Final = after
        self.woken: Final = asyncio.Event()
