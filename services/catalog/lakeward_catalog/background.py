"""What the catalog does by itself: orders events, hands them to sinks, tells authz of the tree, works on queues, and sweeps.

Each loop is under a lease where two would be in each other's way, so any number of processes may run all of them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.adapters.postgres.task_depths import PostgresTaskDepths
from lakeward_catalog.adapters.postgres.tasks import PostgresTasks
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.sweeping import SWEEPER, Retention, sweep
from lakeward_catalog.application.tasks.depths import look as look_at_queues
from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.scheduling import SCHEDULER, keep_schedules
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.workers import Handler, Terms, Worker
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.parts import Parts
from lakeward_catalog.settings import CatalogSettings, TaskSettings
from lakeward_servicekit.events.behind import Behind
from lakeward_servicekit.events.bell import LocalBell, PostgresBell
from lakeward_servicekit.events.lag import PostgresLag
from lakeward_servicekit.events.serving import kept_log, relay_loops
from lakeward_servicekit.events.sinks import open_sinks
from lakeward_servicekit.leases import keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.outgrown import COUNTER, keep_counting
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.telemetry.looking import keep_looking

_log = logging.getLogger(__name__)

# Connections of all loops together, beside those that serve requests.
CONNECTIONS: Final = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Bells:
    """What every process of the catalog hears.

    Attributes:
        written: rings when a change wrote events.
        logged: rings when events may have been put in order.
    """

    written: PostgresBell
    logged: PostgresBell


@asynccontextmanager
async def background(
    settings: CatalogSettings,
    parts: Parts,
    pool: Pool,
    bells: Bells,
    feed: TreeFeed,
    *,
    holder: UUID,
) -> AsyncIterator[None]:
    """Run the loops until the block ends.

    Args:
        settings: what the catalog is told.
        parts: what the loops share with the use cases.
        pool: of the loops alone.
        bells: of events.
        feed: tells authz of the tree.
        holder: this process, in leases.
    """
    leases = PostgresLeases(pool)
    keep = partial(keep_holding, leases, holder=str(holder))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(bells.written.listening(settings.postgres.direct_url))
        await stack.enter_async_context(bells.logged.listening(settings.postgres.direct_url))
        sinks = await open_sinks(settings.events, stack)
        loops = relay_loops(pool, sinks, bells.written, keep=keep, logged=bells.logged.ring)
        loops.append(parts.history.tail.watch(bells.logged))
        loops.append(keep_looking(partial(look_at_queues, PostgresTaskDepths(pool), parts.clock), what="tasks"))
        behind = Behind(PostgresLag(pool), "catalog", [sink.name for sink in sinks], settings.events)
        loops.append(keep_looking(behind, what="events"))
        if settings.server.maintenance_mode == "off":
            leftovers = PostgresLeftovers(pool, kept_log(pool, settings.events, sinks))
            retention = Retention(
                events=settings.events.kept_days,
                keys_within=settings.idempotency.cleanup_timeout,
                counts=settings.tasks.endpoint_statistics_kept,
            )
            secrets = Secrets(parts.storage, parts.doors.warehouses, parts.unnamed_secrets)
            sweeping = partial(
                sweep, leftovers=leftovers, secrets=secrets.forget_left, clock=parts.clock, retention=retention
            )
            loops.append(keep(SWEEPER, sweeping))
            loops.append(keep(COUNTER, partial(keep_counting, pool=pool)))
            loops += _workers(settings, parts, pool)
            schedules = partial(
                keep_schedules,
                kinds=KINDS.values(),
                schedules=parts.schedules,
                clock=parts.clock,
                poll=settings.tasks.poll_interval,
            )
            loops.append(keep(SCHEDULER, schedules))
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


def _workers(settings: CatalogSettings, parts: Parts, pool: Pool) -> list[Coroutine[Any, Any, None]]:
    tasks = PostgresTasks(pool)
    crews = {
        Queue.TABULAR_PURGE: settings.tasks.tabular_purge_workers,
        Queue.SOFT_DELETION: settings.tasks.soft_deletion_workers,
        Queue.TASK_LOG_CLEANUP: settings.tasks.log_cleanup_workers,
        Queue.STATISTICS: settings.tasks.statistics_workers,
        Queue.GENERIC_STATISTICS: settings.tasks.generic_statistics_workers,
        Queue.NAMESPACE_DROP: settings.tasks.cascade_workers,
        Queue.WAREHOUSE_DROP: settings.tasks.cascade_workers,
    }
    workers = {
        queue: _worker(kind.queue, kind.make(parts), parts, tasks, terms_of(kind.terms, settings.tasks))
        for queue, kind in KINDS.items()
    }
    return [workers[queue].work() for queue, count in crews.items() for _ in range(count)]


def _worker(queue: Queue, handle: Handler, parts: Parts, tasks: PostgresTasks, terms: Terms) -> Worker:
    return Worker(queue, tasks, handle, parts.clock, LocalBell(), random.random, terms)


def terms_of(terms: Terms, settings: TaskSettings) -> Terms:
    """A queue's own terms, and what the settings say instead."""
    return dataclasses.replace(
        terms,
        poll=settings.poll_interval,
        attempts=max(1, settings.max_attempts),
        silence=settings.max_silence or terms.silence,
    )


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("a background loop ended; it runs again with the next start", exc_info=error)
