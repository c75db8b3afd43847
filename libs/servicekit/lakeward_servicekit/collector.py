"""The garbage collector of a process that serves: what lives for ever is out of its sight, so it never stops the loop for long.

A full collection looks at every object that may be part of a cycle. A process that has started holds about a hundred thousand of
them, modules and classes above all, and what it remembers grows beside them: each full collection would stop everything for tens
of milliseconds, to find that there is nothing to free. So objects are frozen, which is to say that collections pass them by: once
at the end of the start, and again whenever a full collection found that many have come to stay.

Freezing keeps nothing alive that nobody refers to: a cache's old entry is freed when it is dropped, frozen or not. What a frozen
object can do is stay as part of a cycle that nobody reaches any more, since nobody looks for it there. That is bounded thrice.

- Objects are frozen directly behind a collection, so no known garbage is among them: only what is in use at that moment can turn
  into such a cycle later.
- They are frozen only where thousands have come to stay, so a steady process freezes nothing.
- Where the process holds twice as many blocks of memory as behind the last thaw, all are thawed, collected and frozen again, at a
  moment when the process has little to do; where no such moment comes, at eight times as many. Garbage takes blocks, so it is
  never much more than seven times what is alive, and since each thaw needs as much again as the last one left, the long pauses
  that they are get rarer. Blocks are counted, and not what is frozen, because Python counts those one by one, for as long as a
  pause.

Python collects when so many objects more were made than freed. What takes the place of others, as in a cache that is full, is not
counted so: it becomes as much as there is to be replaced, and the next collection has all of it to look at. So what is young is
counted here as well, ten times a second, and up to eighty times where thousands come in between.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (1_500, 1, 1)
"""Of `gc.set_threshold`: a full collection comes when 6,000 objects more were made than freed, so it has few more to look at.
How they were chosen is told in ADRs 20 and 56."""
GROWN: Final = 2_500
"""Objects that a full collection finds alive, beyond the frozen ones, before they are frozen, too."""
TIDY_SECONDS: Final = 0.1
"""From one look at what is young to the next, where little is."""
_SHORTEST: Final = 0.0125
# Objects in sight at which all are looked at, and frozen if they have come to stay, before they are more.
_WHOLE: Final = 6_000
# Young objects of one look, above which the next comes sooner, and below which it comes later.
_MANY: Final = 4_500
_FEW: Final = 1_500
_OLDEST: Final = 2
_THAWED_WHEN_QUIET: Final = 2  # times the blocks that were held behind the last thaw
_THAWED_AT_LAST: Final = 8
_QUIET: Final = 0.1  # of one core, since the last look


class Settled:
    """What is frozen in this process, and when it is thawed."""

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
        blocks: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        """Nothing is frozen yet.

        Args:
            wall: seconds since whenever.
            cpu: seconds that this process has worked.
            blocks: of memory that Python's objects hold; asked for every few seconds.
        """
        self._wall, self._cpu, self._blocks = wall, cpu, blocks
        self._held = 0
        self._pause = TIDY_SECONDS
        self._looked = wall(), cpu()

    def refreeze(self) -> None:
        """Thaw everything, free what is garbage, and freeze the rest. As long as a collection of all objects takes."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        # Python puts a full collection off until a quarter as many have come as the last one left, frozen or not: of what is
        # found now that nearly nothing is left in sight. Else the next one would have 40,000 to look at in place of 6,000.
        gc.collect()
        self._held = self._blocks()

    def collected(self, phase: str, info: Mapping[str, int]) -> None:
        """Of `gc.callbacks`: freeze what is there after a full collection, where it is much."""
        # those that are not frozen alone are listed, so this takes a fraction of what the collection took
        if phase == "stop" and info["generation"] == _OLDEST and len(gc.get_objects(generation=_OLDEST)) > GROWN:
            gc.freeze()

    def tidy(self) -> float:
        """Collect what is young, where it is more than the thresholds say; seconds until it is to be called again."""
        young = len(gc.get_objects(generation=0))
        if young > THRESHOLDS[0]:
            older = len(gc.get_objects(generation=1)) + len(gc.get_objects(generation=_OLDEST))
            gc.collect(_OLDEST if young + older > _WHOLE else 0)
        if young > _MANY:
            self._pause = max(self._pause / 2, _SHORTEST)
        elif young < _FEW:
            self._pause = min(self._pause * 2, TIDY_SECONDS)
        return self._pause

    def look(self) -> None:
        """Thaw where it is time to; to be called every few seconds."""
        looked, self._looked = self._looked, (self._wall(), self._cpu())
        quiet = self._looked[1] - looked[1] < _QUIET * (self._looked[0] - looked[0])
        if self._blocks() >= (_THAWED_WHEN_QUIET if quiet else _THAWED_AT_LAST) * self._held:
            self.refreeze()


def set_thresholds() -> None:
    """Have this process collect as `THRESHOLDS` says."""
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def settled() -> Iterator[Settled]:
    """Keep what is there, and what comes to stay, out of collections until the block ends."""
    kept = Settled()
    kept.refreeze()
    gc.callbacks.append(kept.collected)
    try:
        yield kept
    finally:
        gc.callbacks.remove(kept.collected)
        gc.unfreeze()
