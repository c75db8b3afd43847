"""`python -m bench.watched serve ...`: `lakeward serve ...`, and beside it what measures its pauses; see `bench/pauses.py`.

A beat every five milliseconds and a call at both ends of each collection cost less than a hundredth of a core. The product
measures none of it.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import threading
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import uvloop

from bench.pauses import FOLDER, Pauses, Slate, longest, slate
from lakeward.cli.main import main as lakeward

_BEAT_SECONDS: Final = 0.005
_LOOK_BEATS: Final = 20
_SCHEDULED: Final = f"/proc/self/task/{threading.get_native_id()}/schedstat"
_MACHINE: Final = Path("/proc/stat")
_STEAL: Final = 8  # of the words that begin with "cpu"
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Watcher:
    """Measures the process that it lives in."""

    def __init__(self, told: Slate) -> None:
        self._told: Final = told
        self._stretch = 0
        self._seen = Pauses()
        self._collection = 0.0, 0.0
        self._beat = 0.0, 0.0

    def began(self, phase: str, _info: Mapping[str, int]) -> None:
        if phase == "start":
            self._collection = time.perf_counter(), time.thread_time()

    def ended(self, phase: str, _info: Mapping[str, int]) -> None:
        if phase == "stop":
            began, used = self._collection
            wall = (time.perf_counter() - began) * 1000
            self._see(
                Pauses(
                    collection=(time.thread_time() - used) * 1000,
                    collection_wall=wall,
                    collections=1,
                    collecting=wall,
                )
            )

    async def beat(self) -> None:
        """Until cancelled."""
        core, host = _Core(), _Host()
        for beat in itertools.count():
            if beat % _LOOK_BEATS == 0:
                host.look()
            began, used, waited = time.perf_counter(), *core.seconds()
            await asyncio.sleep(_BEAT_SECONDS)
            late = time.perf_counter() - began - _BEAT_SECONDS
            used, waited = (now - then for now, then in zip(core.seconds(), (used, waited), strict=True))
            own = late - waited
            # What it neither computed nor waited for is a disk's, or the host's that gave its core to another machine.
            if own > _BEAT_SECONDS and own > used:
                own -= min(own - used, host.look())
            self._see(Pauses(stall=max(own, 0.0) * 1000, stall_wall=max(late, 0.0) * 1000))
            if gc.callbacks[-1] != self.ended:  # others work in collections, too: their time counts
                gc.callbacks.remove(self.ended)
                gc.callbacks.append(self.ended)

    def _see(self, seen: Pauses) -> None:
        asked = self._told.asked
        if asked != self._stretch:
            self._stretch, self._seen = asked, Pauses()
        self._seen = longest([self._seen, seen])
        self._told.tell(asked, self._seen)


class _Core:
    """What the main thread had of a core; the file stays open, since each beat reads it twice."""

    def __init__(self) -> None:
        try:
            self._file = os.open(_SCHEDULED, os.O_RDONLY)
        except OSError:
            self._file = -1  # the kernel does not say

    def seconds(self) -> tuple[float, float]:
        """How long it ran, and was ready and had none, since the thread began."""
        if self._file < 0:
            return 0.0, 0.0
        ran, waited, _ = os.pread(self._file, 128, 0).split()
        return int(ran) / 1e9, int(waited) / 1e9


class _Host:
    """What the host took of this machine's cores, which is no part of what a thread ran or waited."""

    def __init__(self) -> None:
        self._taken = 0.0

    def look(self) -> float:
        """Seconds since the last look, in hundredths; looked at seldom, since the kernel sums up a page to say it."""
        if not _MACHINE.exists():
            return 0.0  # the kernel does not say
        with _MACHINE.open() as lines:
            total = int(lines.readline().split()[_STEAL]) / _TICKS
        since, self._taken = total - self._taken, total
        return since


def main() -> None:
    """Run the command, watched."""
    run = uvloop.run
    with slate(Path(os.environ[FOLDER]) / str(os.getpid())) as told:
        watcher = Watcher(told)

        async def watched(command: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - what the command returns
            gc.callbacks.insert(0, watcher.began)
            gc.callbacks.append(watcher.ended)
            beating = asyncio.create_task(watcher.beat())
            try:
                return await command
            finally:
                beating.cancel()
                gc.callbacks.remove(watcher.began)
                gc.callbacks.remove(watcher.ended)

        with patch.object(uvloop, "run", lambda command: run(watched(command))):
            lakeward()


if __name__ == "__main__":
    main()
