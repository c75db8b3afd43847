"""The outbox and the log of events, both kinds, with the hands a test needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from datetime import timedelta

from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.postgres_log import PostgresEventLog, PostgresOutbox
from lakeward_servicekit.events.relay import EventLog, Outbox
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.memory_events import MemoryEvents
from tests.support.catalog.values import HeldClock, uuid7

_RUN_OUT = "update lease set expires_at = clock_timestamp() where name = $1"


@dataclasses.dataclass(frozen=True)
class EventStores:
    """Attributes:
    write: writes events in one change.
    lease: makes a new holder of a lease; earlier ones have lost it.
    """

    outbox: Outbox
    log: EventLog
    write: Callable[..., Awaitable[None]]
    lease: Callable[[str], Awaitable[Lease]]


def memory_events() -> EventStores:
    events = MemoryEvents()
    return EventStores(events, events, events.write, events.lease)


def postgres_events(pool: Pool) -> EventStores:
    leases = PostgresLeases(pool)

    async def write(*events: Event) -> None:
        async with pool.transaction() as connection:
            ledger = PostgresLedger(connection, clock=HeldClock())
            ledger.emit(*events)
            await ledger.flush()

    async def lease(name: str) -> Lease:
        await pool.execute(_RUN_OUT, name)
        made = await leases.acquire(name, holder=str(uuid7()), lifetime=timedelta(minutes=5))
        assert made is not None
        return made

    return EventStores(PostgresOutbox(pool), PostgresEventLog(pool), write, lease)
