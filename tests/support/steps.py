"""Steps between a request's arrival and its event's, at which a process ends itself or lets a test end something else.

The file that `STEP` names says at which step ("the event is written") and what: `DIE`, or `WAIT` until the test has done what
it wants to be done there. Whoever comes to the step first takes the file away, so a process that was started again passes. A file
needs no restart to be set, and is seen by every process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Final

STEP: Final = "STEP"
DIE: Final = "die"
WAIT: Final = "wait"
_POLL: Final = 0.002

OF_GATEWAY: Final = ("a request has arrived", "the catalog has answered")
OF_CATALOG: Final = (
    "the metadata file is asked for",
    "the metadata file is written",
    "the row is changed",
    "the event is written",
    "the change is committed",
    "the events are moved",
    "the move is committed",
    "the sink is asked where it stands",
    "a batch is on its way",
    "a batch is acknowledged",
    "the place is remembered",
)
OF_CONSUMER: Final = ("an event has come", "the state is kept", "the event is acknowledged")


class Steps:
    """A test's side of it."""

    def __init__(self, file: Path) -> None:
        self.file: Final = file
        self._reached: Final = _reached(file)

    def arm(self, step: str, what: str) -> None:
        """Say what is to happen at a step, once."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{step}\n{what}")
        new.rename(self.file)

    async def reached(self, *, seconds: float = 60) -> None:
        """Wait until a process waits at the step."""
        async with asyncio.timeout(seconds):
            while not self._reached.exists():
                await asyncio.sleep(0.005)

    def go_on(self) -> None:
        """Let it go on."""
        self._reached.unlink()


def passes(step: str) -> None:
    """Die here, or wait here, where it is wanted; everything of this process waits."""
    file = Path(os.environ[STEP])
    try:
        armed, _, what = file.read_text().partition("\n")
    except FileNotFoundError:
        return
    if armed != step:
        return
    file.unlink()
    if what == DIE:
        os.kill(os.getpid(), signal.SIGKILL)
    reached = _reached(file)
    reached.touch()
    while reached.exists():
        time.sleep(_POLL)


def _reached(file: Path) -> Path:
    return file.with_suffix(".reached")
