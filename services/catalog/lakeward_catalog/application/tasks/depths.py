"""How much waits in the queues, told in metrics.

Every process of the catalog tells what all of them share, so what several tell is one number, not a sum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias

from lakeward_catalog.domain.tasks import Queue
from lakeward_servicekit.system import Clock
from lakeward_servicekit.telemetry.metrics import Gauge

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
        """What the queues hold: one at most of a queue and a state, and none for nothing. Raises Refusal DATABASE_UNAVAILABLE."""
        ...


async def look(depths: Depths, clock: Clock) -> None:
    """Read what the queues hold, and tell it.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    now = clock.now()
    tell(await depths.depths(now=now), now=now)


def tell(found: Sequence[Depth], *, now: datetime) -> None:
    """Tell of what was found, and of nothing where nothing was."""
    by_state = {(each.queue, each.state): each for each in found}
    for queue in Queue:
        for state in STATES:
            depth = by_state.get((queue, state))
            TASKS.series(queue.value, state).value = 0 if depth is None else depth.count
        due = by_state.get((queue, "due"))
        OLDEST.series(queue.value).value = 0.0 if due is None else max(0.0, (now - due.since).total_seconds())
