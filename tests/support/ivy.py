"""Ivy's cache in the user's home, which Spark fills with jars when it starts: one at a time, since Ivy has no lock of its own."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone() -> Iterator[None]:
    """While a Spark looks its jars up, or fetches them; tests have two workers."""
    with (Path(tempfile.gettempdir()) / f"lakeward-ivy-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
