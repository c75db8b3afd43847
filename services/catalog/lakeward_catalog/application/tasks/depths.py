"""How much waits in the queues, told in metrics.

Every process of the catalog tells what all of them share, so what several tell is one number, not a sum.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol, TypeAlias

from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.domain.tasks import Queue
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.telemetry.metrics import Gauge

_LOG: Final = logging.getLogger("lakeward_catalog.tasks")
EVERY: Final = timedelta(seconds=15)
_REST: Final = 50  # times what a look took: nobody is kept from working by being counted
State: TypeAlias = Literal["scheduled", "due", "running", "failed"]
STATES: Final[Sequence[State]] = ("scheduled", "due", "running", "failed")
TASKS: Final = Gauge(
    "lakeward_tasks",
    "Tasks of a queue; `state` is `scheduled` (for later), `due`, `running`, or `failed` (until somebody runs them again).",
    ("queue", "state"),
)
OLDEST: Final = Gauge(
    "lakeward_task_oldest_due_seconds", "For how long the task has been due that has been due for longest.", ("queue",)
)


@dataclasses.dataclass(frozen=True, slots=True)
class Depth:
    """Some tasks of one queue.

    Attributes:
        since: when the first of them was, or will be, due.
    """

    queue: Queue
    state: State
    count: int
    since: datetime


class Depths(Protocol):
    """Counts tasks."""

    async def depths(self, *, now: datetime) -> Sequence[Depth]:
        """What the queues hold; no more than one of a queue and a state, and none for nothing. Raises Refusal DATABASE_UNAVAILABLE."""
        ...


async def keep_telling(depths: Depths, clock: Clock) -> None:
    """Tell of the queues until cancelled."""
    while True:
        began = time.perf_counter()
        try:
            tell(await depths.depths(now=clock.now()), now=clock.now())
        except Refusal as refused:
            _LOG.info("tasks were not counted", extra={"refusal": str(refused)})
        await asyncio.sleep(max(EVERY.total_seconds(), _REST * (time.perf_counter() - began)))


def tell(found: Sequence[Depth], *, now: datetime) -> None:
    """Tell of what was found, and of nothing where nothing was."""
    by_state = {(each.queue, each.state): each for each in found}
    for queue in Queue:
        for state in STATES:
            depth = by_state.get((queue, state))
            TASKS.series(queue.value, state).value = 0 if depth is None else depth.count
        due = by_state.get((queue, "due"))
        OLDEST.series(queue.value).value = 0.0 if due is None else max(0.0, (now - due.since).total_seconds())
