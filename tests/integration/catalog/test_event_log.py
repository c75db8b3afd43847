"""The outbox and the log under transactions that overlap, end in any order, and fail."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_servicekit.events.bell import PostgresBell
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.postgres_log import EVENT_SLOTS, PostgresEventLog, PostgresOutbox
from lakeward_servicekit.events.relay import SEQUENCER
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.event_stores import postgres_events
from tests.support.catalog.values import FreshIds, HeldClock, an_event, uuid7

pytestmark = pytest.mark.integration

_WRITERS = 4
_steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["write", "commit", "roll back"]), st.integers(0, _WRITERS - 1)),
        st.tuples(st.just("move"), st.integers(1, 5)),
    ),
    min_size=5,
    max_size=40,
)


@dataclass
class _Writer:
    """Changes one row of its own again and again, in transactions that stay open for a while."""

    pool: Pool
    name: str
    stream: str
    committed: list[Event] = field(default_factory=list)
    written: list[Event] = field(default_factory=list)
    connection: Any = None

    async def step(self, what: str) -> None:
        if what == "write":
            if self.connection is None:
                self.connection = await self.pool.raw.acquire()
                await self.connection.execute("begin")
            event = an_event(self.stream, kind=self.name)
            ledger = PostgresLedger(self.connection, clock=HeldClock())
            ledger.emit(event)
            await ledger.flush()
            self.written.append(event)
        elif self.connection is not None:
            await self.connection.execute("commit" if what == "commit" else "rollback")
            await self.pool.raw.release(self.connection)
            self.connection = None
            self.committed += self.written if what == "commit" else []
            self.written = []


async def _lease(pool: Pool) -> Lease:
    lease = await PostgresLeases(pool).acquire(SEQUENCER, holder="the test", lifetime=timedelta(minutes=5))
    assert lease is not None
    return lease


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
async def test_whatever_overlaps_nothing_is_lost_doubled_or_out_of_its_rows_order(
    pool: Pool, steps: list[tuple[str, int]]
) -> None:
    run, outbox, log = uuid7().hex, PostgresOutbox(pool), PostgresEventLog(pool)
    writers = [_Writer(pool, str(index), f"{run}-{index % 2}") for index in range(_WRITERS)]
    lease = await _lease(pool)
    try:
        for what, number in steps:
            if what == "move":
                await outbox.move(lease, limit=number)
            else:
                await writers[number].step(what)
    finally:
        for writer in writers:
            await writer.step("commit")
    while await outbox.move(lease, limit=3):
        pass
    logged = [each for index in range(2) for each in await log.read(f"{run}-{index}", after=0, limit=1000)]
    by_stream: defaultdict[str, list[int]] = defaultdict(list)
    for each in logged:
        by_stream[each.event.stream].append(each.sequence)
    for sequences in by_stream.values():
        assert sequences == list(range(1, len(sequences) + 1))
    for writer in writers:
        assert [each.event for each in logged if each.event.kind == writer.name] == writer.committed


async def test_two_sequencers_that_both_believe_in_their_lease_move_everything_once(pool: Pool) -> None:
    events, stream = postgres_events(pool), uuid7().hex
    await events.write(*(an_event(stream) for _ in range(200)))
    earlier = await events.lease(SEQUENCER)

    async def move_on(lease: Lease) -> None:
        while await events.outbox.move(lease, limit=7):
            pass

    async def take_over() -> None:
        await move_on(await events.lease(SEQUENCER))

    await asyncio.gather(move_on(earlier), take_over(), return_exceptions=True)
    logged = await events.log.read(stream, after=0, limit=1000)
    assert [each.sequence for each in logged] == list(range(1, 201))
    assert len({each.event.event_id for each in logged}) == 200


async def test_days_that_are_over_are_forgotten_and_the_others_kept(pool: Pool) -> None:
    log, stream = PostgresEventLog(pool), uuid7().hex
    today = await pool.fetchval("select extract(epoch from clock_timestamp())::bigint / 86400")
    ages = [0, 1, 2, 3, 10]
    for sequence, age in enumerate(reversed(ages), start=1):
        await pool.execute(
            """insert into event_log (stream, seq, slot, event_id, kind, verb, body, at)
               values ($1, $2, $3, gen_random_uuid(), 'k', 'v', 'b', now())""",
            stream,
            sequence,
            (today - age) % EVENT_SLOTS,
        )
    assert await log.forget(days=2) == 2
    assert [each.sequence for each in await log.read(stream, after=0, limit=10)] == [3, 4, 5]
    assert await log.forget(days=2) == 0


async def test_a_change_that_wrote_events_rings_in_other_processes(pool: Pool, postgres_url: str) -> None:
    from lakeward_servicekit.secrecy import SecretStr

    here, there = PostgresBell(pool, channel="catalog"), PostgresBell(pool, channel="catalog")
    async with here.listening(SecretStr(postgres_url)), there.listening(SecretStr(postgres_url)):
        async with asyncio.timeout(20):
            await there.wait(timedelta(minutes=1))  # it rings once when it begins to listen
            changes = PostgresChanges(pool, clock=HeldClock(), ids=FreshIds(), told=here.ring)
            async with changes.change() as change:
                change.ledger.emit(an_event(uuid7().hex))
            await there.wait(timedelta(minutes=1))


async def test_a_change_without_events_rings_for_nobody(pool: Pool) -> None:
    rung: list[int] = []
    changes = PostgresChanges(pool, clock=HeldClock(), ids=FreshIds(), told=lambda: rung.append(1))
    async with changes.change() as change:
        await change.warehouses.lock_place("somewhere")
    assert rung == []
