"""What a process says of its own runtime: how long its loop and its garbage collector held everything up."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from lakeward_servicekit.telemetry.metrics import PAUSES, Gauge, Histogram

STALLS: Final = Histogram(
    "lakeward_loop_stall_seconds",
    "How much later than it should the event loop turned, looked at twenty times a second.",
    bounds=PAUSES,
)
COLLECTIONS: Final = Histogram(
    "lakeward_gc_pause_seconds",
    "How long each collection of the garbage collector held everything up.",
    ("generation",),
    bounds=PAUSES,
)
BUILD: Final = Gauge("lakeward_build_info", "Always 1; says what runs.", ("version", "service"))
_EVERY: Final = 0.05


@asynccontextmanager
async def watched(*, service: str, version: str) -> AsyncIterator[None]:
    """Watch this process until the block ends; once a process.

    Args:
        service: what it hosts: "catalog", or "all".
        version: of what it runs.
    """
    pauses = _Pauses()
    BUILD.series(version, service).value = 1.0
    gc.callbacks.append(pauses)
    looking = asyncio.create_task(_look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        gc.callbacks.remove(pauses)


class _Pauses:
    """Of `gc.callbacks`."""

    __slots__ = ("_began", "_spreads")

    def __init__(self) -> None:
        self._began = 0.0
        self._spreads: Final = [COLLECTIONS.series(str(generation)) for generation in range(3)]

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self._spreads[info["generation"]].observe(time.perf_counter() - self._began)


async def _look() -> None:
    loop, stalls = asyncio.get_running_loop(), STALLS.series()
    while True:
        due = loop.time() + _EVERY
        await asyncio.sleep(_EVERY)
        stalls.observe(max(0.0, loop.time() - due))
