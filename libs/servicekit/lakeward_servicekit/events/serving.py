"""What a service does with the events of its changes: puts them in order, hands them to sinks, and forgets them in time.

Each loop is under a lease, so any number of processes may run all of them. The tables are the service's own.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import uuid4

from lakeward_servicekit.events.behind import Behind
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.events.log_sink import LogSink
from lakeward_servicekit.events.nats.sink import NatsAddress, NatsSink
from lakeward_servicekit.events.postgres_log import PostgresEventLog, PostgresOutbox
from lakeward_servicekit.events.relay import SEQUENCER, Bell, Pace, Sink, deliver, sequence, sink_lease
from lakeward_servicekit.leases import Lease, keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.telemetry.looking import keep_looking

_LOG: Final = logging.getLogger(__name__)

FORGETTER: Final = "events-forgetter"
_LAG_TOLD_FROM: Final = 1000
_FORGET_EVERY: Final = timedelta(hours=1)
# Where nothing rings after a commit, it is looked this often.
_UNRUNG: Final = Pace(poll=timedelta(seconds=1))

Keep = Callable[[str, Callable[[Lease], Coroutine[Any, Any, None]]], Coroutine[Any, Any, None]]


async def open_sinks(settings: EventSettings, stack: AsyncExitStack) -> Sequence[Sink]:
    """The sinks that settings name, until the stack is closed."""
    sinks: list[Sink] = []
    if settings.nats_address is not None and settings.nats_topic is not None:
        nats = NatsSink(
            NatsAddress(
                url=settings.nats_address,
                topic=settings.nats_topic,
                user=settings.nats_user,
                password=settings.nats_password,
                token=settings.nats_token,
                creds_file=settings.nats_creds_file,
                nkey_file=settings.nats_nkey_file,
                ca_file=settings.nats_ca_file,
                cert_file=settings.nats_cert_file,
                key_file=settings.nats_key_file,
            )
        )
        stack.push_async_callback(nats.close)
        sinks.append(nats)
    if settings.log_cloudevents:
        sinks.append(LogSink())
    if not sinks:
        _LOG.info("no sink is configured: events are kept in the log, and go nowhere")
    return sinks


def relay_loops(
    pool: Pool,
    sinks: Sequence[Sink],
    bell: Bell,
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
    rung = [(sink, LocalBell()) for sink in sinks]
    pace = pace or Pace()

    def moved() -> None:
        for _, each in rung:
            each.ring()
        logged()

    log = PostgresEventLog(pool)
    return [
        keep(SEQUENCER, partial(sequence, outbox=PostgresOutbox(pool), bell=bell, moved=moved, pace=pace)),
        *(
            keep(
                sink_lease(sink.name),
                partial(deliver, sink=sink, log=log, bell=each, pace=pace, jitter=random.random, lag=_tell_lag),
            )
            for sink, each in rung
        ),
    ]


@asynccontextmanager
async def relaying(pool: Pool, settings: EventSettings, *, service: str) -> AsyncIterator[None]:
    """Relay a service's events, and forget those that are older than the settings say, until the block ends.

    Args:
        pool: of the service's schema.
        settings: where events go, and how long they are kept.
        service: whose they are, in metrics.
    """
    keep = partial(keep_holding, PostgresLeases(pool), holder=str(uuid4()))
    async with AsyncExitStack() as stack:
        sinks = await open_sinks(settings, stack)
        loops = relay_loops(pool, sinks, LocalBell(), keep=keep, pace=_UNRUNG)
        loops.append(keep(FORGETTER, partial(_keep_forgetting, log=PostgresEventLog(pool), days=settings.kept_days)))
        loops.append(keep_looking(Behind(pool, service, [sink.name for sink in sinks]), what="events"))
        running = [asyncio.create_task(loop) for loop in loops]
        try:
            yield
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


async def _keep_forgetting(_lease: Lease, *, log: PostgresEventLog, days: int) -> None:
    while True:
        await log.forget(days=days)
        await asyncio.sleep(_FORGET_EVERY.total_seconds())


def _tell_lag(sink: str, events: int) -> None:
    if events >= _LAG_TOLD_FROM:
        _LOG.warning("a sink is behind", extra={"sink": sink, "events": events})
