"""How many requests begin in one turn of the event loop: as many as take a few milliseconds, and the others in the next turns.

What arrives at one moment would else begin in one turn, and a turn holds up whoever waits for the loop: timers, other replies,
connections that come. A hundred requests that take half a millisecond each are a turn of 50 ms, and in ten turns they take as
long. So turns are timed: behind a long one half as many begin in the next, and behind a short one, for which some had to wait,
one more. What arrives together is asked together further on, so no more are held back than that takes.

What takes the loop's time later on, at one moment for many, waits for its turn in the same way: bodies that are inflated,
refusals of those that were not complete in time, and commits whose tables were found by one statement.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

LONG_SECONDS: Final = 0.006
SHORT_SECONDS: Final = 0.004
FIRST: Final = 32
FEWEST: Final = 4
MOST: Final = 256


class Starts:
    """Says which requests begin at once, and begins the others later, all in the order in which they came.

    Args:
        clock: seconds that the loop's thread has worked: a turn in which it had no core would not be shorter for fewer requests.

    Attributes:
        most: requests that begin in a turn, at present.
    """

    __slots__ = ("_began", "_begun", "_clock", "_halved", "_waiting", "most")

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        """No turn is timed."""
        self.most = FIRST
        self._clock: Final = clock
        self._waiting: Final[deque[Callable[[], object]]] = deque()
        self._begun = 0
        self._halved = False  # behind the last turn
        self._began: float | None = None  # when the turn did, while turns are timed

    def now(self) -> bool:
        """Whether a request begins now, which counts it; else it is to be handed to `later`."""
        if self._began is None:
            self._began = self._clock()
            asyncio.get_running_loop().call_soon(self._turned)
        if self._begun < self.most and not self._waiting:
            self._begun += 1
            return True
        return False

    def later(self, begin: Callable[[], object]) -> None:
        """Begin a request in one of the next turns."""
        self._waiting.append(begin)

    async def turn(self) -> None:
        """Go on in a turn in which there is time for one more."""
        if not self.now():
            waiting = asyncio.get_running_loop().create_future()
            self.later(partial(_wake, waiting))
            await waiting

    def _turned(self) -> None:
        """A turn is over."""
        now = self._clock()
        assert self._began is not None, "a turn began, or none would be over"
        took, self._began = now - self._began, now
        waiting = self._waiting
        if took > LONG_SECONDS and not self._halved:
            self.most = max(self.most // 2, FEWEST)
            self._halved = True  # what was read meanwhile has begun already, so the next turn is no shorter yet
        else:
            self._halved = False
            if took < SHORT_SECONDS and waiting:
                self.most = min(self.most + 1, MOST)
        if not self._begun and not waiting:
            self._began = None  # what begins next begins a turn
            return
        # what begins here, and in what is read before the next call, takes its first steps before that
        asyncio.get_running_loop().call_soon(self._turned)
        self._begun = min(len(waiting), self.most)
        for _ in range(self._begun):
            waiting.popleft()()


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():  # who waited may be gone
        waiting.set_result(None)
