"""What a service does with the events of its changes: puts them in order, hands them to sinks, and forgets them in time.

Each loop is under a lease, so any number of processes may run all of them. The tables are the service's own.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import uuid4

from lakeward_servicekit.events.behind import Behind
from lakeward_servicekit.events.bell import LocalBell, PostgresBell
from lakeward_servicekit.events.delivery import deliver
from lakeward_servicekit.events.lag import PostgresLag
from lakeward_servicekit.events.postgres_log import PostgresEventLog, PostgresOutbox
from lakeward_servicekit.events.postgres_snapshots import forget_old
from lakeward_servicekit.events.relay import SEQUENCER, Pace, Sink, sequence, sink_lease
from lakeward_servicekit.events.sinks import open_sinks
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.events.traced import TracedSink
from lakeward_servicekit.leases import Lease, keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.telemetry import spans
from lakeward_servicekit.telemetry.looking import keep_looking

_LOG: Final = logging.getLogger(__name__)

FORGETTER: Final = "events-forgetter"
_LAG_TOLD_FROM: Final = 1000
_FORGET_EVERY: Final = timedelta(minutes=1)
_LAG_TOLD_EVERY: Final = 60.0
_GIB: Final = 1 << 30

Keep = Callable[[str, Callable[[Lease], Coroutine[Any, Any, None]]], Coroutine[Any, Any, None]]


def relay_loops(
    pool: Pool,
    sinks: Sequence[Sink],
    bell: PostgresBell,
    *,
    keep: Keep,
    pace: Pace | None = None,
    logged: Callable[[], None] = lambda: None,
) -> list[Coroutine[Any, Any, None]]:
    """The loop that puts events in order, and one for each sink.

    Args:
        pool: of the service's schema.
        sinks: where events go.
        bell: rings when a change wrote events.
        keep: holds a lease, by its name, and does the work under it.
        pace: of the loops; None: as `Pace` has it.
        logged: called when events may have been put in order; wakes who reads them.
    """
    rung = [(TracedSink(sink) if spans.recording else sink, LocalBell()) for sink in sinks]
    pace = pace or Pace()

    def moved() -> None:
        for _, each in rung:
            each.ring()
        logged()

    async def ordering(lease: Lease) -> None:
        with bell.answered_here():
            await sequence(lease, outbox=PostgresOutbox(pool), bell=bell, moved=moved, pace=pace)

    log = PostgresEventLog(pool)
    return [
        keep(SEQUENCER, ordering),
        *(
            keep(
                sink_lease(sink.name),
                partial(deliver, sink=sink, log=log, bell=each, pace=pace, jitter=random.random, lag=_LagTold()),
            )
            for sink, each in rung
        ),
    ]


@asynccontextmanager
async def relaying(
    pool: Pool, settings: EventSettings, *, service: str, schema: str, listen_at: SecretStr, tail: Tail
) -> AsyncIterator[None]:
    """Relay a service's events, and forget old ones and old snapshots, until the block ends.

    Args:
        pool: of the service's schema, through which its changes go; its marked commits ring.
        settings: where events go, and how long they are kept.
        service: whose they are, in metrics.
        schema: after which the channel is named that other replicas ring in.
        listen_at: the database, past any transaction pooler.
        tail: where readers wait; woken when there is more in the log, whichever process put it there.
    """
    keep = partial(keep_holding, PostgresLeases(pool), holder=str(uuid4()))
    bell, logged = PostgresBell(pool, channel=channel_of(schema)), PostgresBell(pool, channel=logged_channel_of(schema))
    async with AsyncExitStack() as stack:
        sinks = await open_sinks(settings, stack)
        for each in (bell, logged):
            await stack.enter_async_context(each.listening(listen_at))
        loops = relay_loops(pool, sinks, bell, keep=keep, logged=logged.ring)
        loops.append(tail.watch(logged))
        loops.append(
            keep(
                FORGETTER,
                partial(_keep_forgetting, pool=pool, log=kept_log(pool, settings, sinks), days=settings.kept_days),
            )
        )
        behind = Behind(PostgresLag(pool), service, [sink.name for sink in sinks], settings)
        loops.append(keep_looking(behind, what="events"))
        pool.marked = bell.ring
        running = [asyncio.create_task(loop) for loop in loops]
        try:
            yield
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


def channel_of(schema: str) -> str:
    """The channel in which a service's processes tell each other that there are events."""
    return f"{schema}_events"


def logged_channel_of(schema: str) -> str:
    """The channel in which they tell each other that events are in the log."""
    return f"{schema}_logged"


def kept_log(pool: Pool, settings: EventSettings, sinks: Sequence[Sink]) -> PostgresEventLog:
    """The log as it is kept for the sinks that are configured."""
    return PostgresEventLog(pool, sinks=tuple(sink.name for sink in sinks), most_bytes=settings.log_max_gib * _GIB)


async def _keep_forgetting(_lease: Lease, *, pool: Pool, log: PostgresEventLog, days: int) -> None:
    while True:
        await log.forget(days=days)
        while await forget_old(pool):
            pass
        await asyncio.sleep(_FORGET_EVERY.total_seconds())


class _LagTold:
    """Tells of a sink that is behind, not more often than once in a while."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, sink: str, events: int) -> None:
        now = time.monotonic()
        if events >= _LAG_TOLD_FROM and now >= self._next:
            self._next = now + _LAG_TOLD_EVERY
            _LOG.warning("a sink is behind", extra={"sink": sink, "events": events})
