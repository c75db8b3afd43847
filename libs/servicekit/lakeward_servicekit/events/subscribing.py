"""A stream of events as one long answer: what there is behind a position, and what comes, in order, each once.

A page is read once the one before was taken, so what is held is one page, however slow its reader is. Who may read is asked
again every few seconds, before what comes next is read.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from typing import Final

from lakeward_servicekit.events.history import HistoryPage, HistoryReads, Part
from lakeward_servicekit.events.positions import Position
from lakeward_servicekit.rpc.call import remaining

PAGE_EVENTS: Final = 200
PAGE_BYTES: Final = 512 * 1024
"""Of a page, beside its first event."""
ASKED_AGAIN: Final = timedelta(seconds=5)
# Before a caller's deadline: it ends well, and the caller knows from where to go on.
_MARGIN: Final = 0.5


@dataclasses.dataclass(frozen=True, slots=True)
class Subscriptions:
    """Reads streams to whoever goes on asking.

    Attributes:
        asked_again: after which the reader is looked at again.
        clock: in seconds, from anywhere.
    """

    reads: HistoryReads
    asked_again: timedelta = ASKED_AGAIN
    clock: Callable[[], float] = time.monotonic

    async def __call__(self, admit: Callable[[], Awaitable[str]], after: Position) -> AsyncGenerator[HistoryPage, None]:
        """Pages, the first one at once; they end shortly before the deadline of the call at hand.

        Args:
            admit: the name of the stream, for who may read it now; else it raises.
            after: events behind this.

        Raises:
            Refusal: what `admit` and `HistoryReads` raise.
        """
        stream, due = await admit(), self._due()
        position, told = after, False
        while (left := _left()) > 0:
            if self.clock() >= due:
                stream, due = await admit(), self._due()
            wait = timedelta(seconds=max(0.0, min(due - self.clock(), left))) if told else timedelta(0)
            page = await self.reads(stream, Part(position, PAGE_EVENTS, wait, PAGE_BYTES))
            position = page.position
            if page.events or not told:
                told = True
                yield page

    def _due(self) -> float:
        return self.clock() + self.asked_again.total_seconds()


def _left() -> float:
    left = remaining()
    return float("inf") if left is None else left - _MARGIN
