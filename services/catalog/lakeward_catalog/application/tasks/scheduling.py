"""Queues that make their own tasks: by the clock, and one for each project."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from lakeward_catalog.application.ports.upkeep import ScheduleStore
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.domain.schedules import Timetable
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.system import Clock

_LOG: Final = logging.getLogger("lakeward_catalog.scheduling")
SCHEDULER: Final = "task-schedules"
_AT_ONCE: Final = 500


async def keep_schedules(
    _lease: Lease, *, kinds: Iterable[QueueKind], schedules: ScheduleStore, clock: Clock, poll: timedelta
) -> None:
    """Make tasks whose time has come, until cancelled.

    Args:
        _lease: of `SCHEDULER`; two at once would make no task twice, only look twice.
        kinds: every queue.
        schedules: when each project's time is.
        clock: the time.
        poll: how often is looked.
    """
    while True:
        for kind in kinds:
            try:
                await make_due(kind, schedules, clock)
            except Refusal as refused:
                told = {"queue": kind.queue.value, "refusal": str(refused)}
                _LOG.warning("tasks whose time has come were not made", extra=told)
        await asyncio.sleep(poll.total_seconds())


async def make_due(kind: QueueKind, schedules: ScheduleStore, clock: Clock) -> None:
    """Make a queue's tasks whose time has come; nothing where others queue its tasks.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    if kind.every is None:
        return
    due = _AT_ONCE
    while due >= _AT_ONCE:
        now = clock.now()
        after = partial(_after, now=now, every=kind.every)
        due = await schedules.make_due(kind.queue, now=now, after=after, limit=_AT_ONCE)


def _after(timetable: Timetable, *, now: datetime, every: timedelta) -> datetime:
    return timetable.after(now, otherwise=every)
