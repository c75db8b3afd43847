"""What the catalog does by itself: orders events, hands them to sinks, tells authz of the tree, works on queues, and sweeps.

Each loop is under a lease where two would be in each other's way, so any number of processes may run all of them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.adapters.log_sink import LogSink
from lakeward_catalog.adapters.nats.sink import NatsAddress, NatsSink
from lakeward_catalog.adapters.postgres.bell import LocalBell, PostgresBell
from lakeward_catalog.adapters.postgres.event_log import PostgresEventLog, PostgresOutbox
from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.adapters.postgres.tasks import PostgresTasks
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.relay import SEQUENCER, Pace, Sink, deliver, sequence, sink_lease
from lakeward_catalog.application.sweeping import SWEEPER, Retention, sweep
from lakeward_catalog.application.workers import TERMS, Expiries, Handler, Purges, Worker
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.parts import Parts
from lakeward_catalog.settings import CatalogSettings, EventSettings
from lakeward_servicekit.leases import keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool

_log = logging.getLogger(__name__)

# Connections of all loops together, beside those that serve requests.
CONNECTIONS: Final = 4
_LAG_TOLD_FROM: Final = 1000


@asynccontextmanager
async def background(
    settings: CatalogSettings, parts: Parts, pool: Pool, bell: PostgresBell, feed: TreeFeed, *, holder: UUID
) -> AsyncIterator[None]:
    """Run the loops until the block ends.

    Args:
        settings: what the catalog is told.
        parts: what the loops share with the use cases.
        pool: of the loops alone.
        bell: rings when a change wrote events; also in other processes.
        feed: tells authz of the tree.
        holder: this process, in leases.
    """
    leases = PostgresLeases(pool)
    keep = partial(keep_holding, leases, holder=str(holder))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(bell.listening(settings.postgres.direct_url))
        sinks = [(sink, LocalBell()) for sink in await _sinks(settings.events, stack)]
        loops: list[Coroutine[Any, Any, None]] = [
            keep(SEQUENCER, partial(sequence, outbox=PostgresOutbox(pool), bell=bell, moved=_ring(sinks), pace=Pace()))
        ]
        log = PostgresEventLog(pool)
        loops += [
            keep(
                sink_lease(sink.name),
                partial(deliver, sink=sink, log=log, bell=rung, pace=Pace(), jitter=random.random, lag=_tell_lag),
            )
            for sink, rung in sinks
        ]
        if settings.server.maintenance_mode == "off":
            leftovers = PostgresLeftovers(pool)
            retention = Retention(keys_within=settings.idempotency.cleanup_timeout)
            loops.append(keep(SWEEPER, partial(sweep, leftovers=leftovers, clock=parts.clock, retention=retention)))
            loops += _workers(settings, parts, pool)
            loops.append(feed.run(jitter=random.random))  # authz refuses changes while it is read-only, too
        running = [asyncio.create_task(loop) for loop in loops]
        for task in running:
            task.add_done_callback(_ended)
        try:
            yield
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


async def _sinks(settings: EventSettings, stack: AsyncExitStack) -> Sequence[Sink]:
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
            )
        )
        stack.push_async_callback(nats.close)
        sinks.append(nats)
    if settings.log_cloudevents:
        sinks.append(LogSink())
    if not sinks:
        _log.info("no sink is configured: events are kept in the log, and go nowhere")
    return sinks


def _workers(settings: CatalogSettings, parts: Parts, pool: Pool) -> list[Coroutine[Any, Any, None]]:
    tasks = PostgresTasks(pool)
    crews: Sequence[tuple[Queue, Handler, int]] = (
        (Queue.TABULAR_PURGE, Purges(parts.doors.warehouses, parts.files), settings.tasks.tabular_purge_workers),
        (
            Queue.SOFT_DELETION,
            Expiries(parts.changes, parts.announcer, parts.clock),
            settings.tasks.soft_deletion_workers,
        ),
    )
    poll = settings.tasks.poll_interval
    return [
        Worker(
            queue, tasks, handle, parts.clock, LocalBell(), random.random, dataclasses.replace(TERMS[queue], poll=poll)
        ).work()
        for queue, handle, count in crews
        for _ in range(count)
    ]


def _ring(sinks: Sequence[tuple[Sink, LocalBell]]) -> Callable[[], None]:
    def ring() -> None:
        for _, bell in sinks:
            bell.ring()

    return ring


def _tell_lag(sink: str, events: int) -> None:
    if events >= _LAG_TOLD_FROM:
        _log.warning("a sink is behind", extra={"sink": sink, "events": events})


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("a background loop ended; it runs again with the next start", exc_info=error)
