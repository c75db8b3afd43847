"""`python -m bench.watched serve ...`: `lakeward serve ...`, and beside it what measures its pauses; see `bench/pauses.py`.

A beat every five milliseconds and a call at both ends of each collection cost less than a hundredth of a core. The product
measures none of it.
"""

from __future__ import annotations

import asyncio
import gc
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
_WAITED: Final = f"/proc/self/task/{threading.get_native_id()}/schedstat"


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
        waited = _Waited()
        while True:
            began, before = time.perf_counter(), waited.seconds()
            await asyncio.sleep(_BEAT_SECONDS)
            late = time.perf_counter() - began - _BEAT_SECONDS
            own = late - (waited.seconds() - before)
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


class _Waited:
    """How long the main thread was ready and had no core; the file stays open, since each beat reads it twice."""

    def __init__(self) -> None:
        try:
            self._file = os.open(_WAITED, os.O_RDONLY)
        except OSError:
            self._file = -1  # the kernel does not say

    def seconds(self) -> float:
        """Since the thread began."""
        return 0.0 if self._file < 0 else int(os.pread(self._file, 128, 0).split()[1]) / 1e9


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
