"""Reading streams of events while they are written to: a sequencer, and consumers that rebuild what events tell of."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

from lakeward.events import Event
from lakeward.events.shapes import EventPage, page_of
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.events.cloud_events import Event as Written
from lakeward_servicekit.events.history import HistoryPage, HistoryReads, Part
from lakeward_servicekit.events.positions import position_of
from lakeward_servicekit.events.postgres_history import PostgresHistory
from lakeward_servicekit.events.postgres_log import PostgresOutbox
from lakeward_servicekit.events.postgres_snapshots import PostgresSnapshots, Tells
from lakeward_servicekit.events.relay import SEQUENCER, Pace, sequence
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.values import FreshIds
from tests.support.event_contracts import checked

_MINUTE: Final = timedelta(minutes=1)
_ENDS: Final = "snapshot-completed"
NO_EVENTS: Final = "truncate outbox, event_log, event_stream, sink_cursor, event_snapshot, event_snapshot_entry"


class Rebuilds(Protocol):
    """What a consumer has."""

    def apply(self, event: Event) -> None:
        """Take one in."""


_Mirror = TypeVar("_Mirror", bound=Rebuilds)


def reads_of(pool: Pool, tells: Tells, *, fresh_within: int = 0) -> HistoryReads:
    """What reads streams; a snapshot is good while not more than so many events came behind it."""
    history = PostgresHistory(pool)
    snapshots = PostgresSnapshots(pool, tells=tells, ids=FreshIds(), moved=lambda: None, fresh_within=fresh_within)
    return HistoryReads(history, snapshots, Tail(history.newest))


@asynccontextmanager
async def sequencing(pool: Pool, *, moved: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Puts events in order all the time, a few at once."""
    lease = await PostgresLeases(pool).acquire(SEQUENCER, holder=str(uuid4()), lifetime=_MINUTE)
    assert lease is not None
    pace = Pace(poll=timedelta(milliseconds=3), batch=7)
    work = sequence(lease, outbox=PostgresOutbox(pool), bell=LocalBell(), moved=moved, pace=pace)
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await PostgresLeases(pool).release(lease)


async def caught_up(pool: Pool) -> None:
    """All that was written is in the log."""
    while await pool.fetchval("select exists (select from outbox)"):
        await asyncio.sleep(0.01)


async def swept(pool: Pool) -> None:
    """All that was written is in the log, and forgotten."""
    async with sequencing(pool):
        await caught_up(pool)
    await pool.execute("truncate event_log")


def shown(page: HistoryPage) -> EventPage:
    """A page as a client has it."""
    events = [
        {
            "position": str(each.position),
            "sequence": each.sequence,
            "snapshot": each.snapshot,
            "kind": each.kind,
            "verb": each.verb,
            "event": json.loads(each.cloud_event),
        }
        for each in page.events
    ]
    return page_of({"events": events, "position": str(page.position), "newest": page.newest})


async def consumed(
    reads: HistoryReads, stream: str, mirror: _Mirror, over: asyncio.Event, *, limit: int = 100
) -> _Mirror:
    """A mirror that has a stream from the beginning, until all is over and it has all of it.

    Two snapshots of a stream are kept, and tests that make one for each event or so may make two while an older one is read. Who
    reads that is told to begin again, and does.
    """
    after = "beginning"
    while True:
        ends = over.is_set()
        try:
            page = await reads(stream, Part(position_of(after), limit))
        except Refusal as refused:
            if refused.reason != Reason.REASON_EVENTS_FORGOTTEN or not after.startswith("snapshot."):
                raise
            after = "beginning"
            continue
        for logged, event in zip(page.events, shown(page).events, strict=True):
            checked(Written(FreshIds().uuid7(), stream, logged.kind, logged.verb, logged.cloud_event))
            mirror.apply(event)
        after = str(page.position)
        if ends and not page.events:
            return mirror
        if not page.events:
            await asyncio.sleep(0.005)


async def now(reads: HistoryReads, stream: str, mirror: _Mirror, *, limit: int = 100) -> _Mirror:
    """A mirror that has a stream as it is."""
    over = asyncio.Event()
    over.set()
    return await consumed(reads, stream, mirror, over, limit=limit)


@dataclasses.dataclass
class Following:
    """Where a consumer is: it takes a snapshot from its first event to its last, then the log without a gap.

    Attributes:
        sequence: of the last event.
        complete: no snapshot is under way.
        begun: events of the snapshot that were taken.
    """

    sequence: int = 0
    complete: bool = True
    begun: int = 0

    def follow(self, event: Event, *, opens: Collection[str]) -> bool:
        """Whether this is the first event of a snapshot, which is one of a kind of `opens`."""
        first = event.snapshot and event.verb == "snapshot" and event.kind in opens
        if first:
            self.complete, self.begun = False, 0
        elif event.snapshot:
            assert not self.complete
            assert event.sequence == self.sequence
        else:
            assert self.complete
            assert event.sequence == self.sequence + 1
        self.sequence = event.sequence
        if event.verb == _ENDS:
            assert event.data["sequence"] == event.sequence
            assert event.data["entities"] == self.begun
            self.complete = True
        self.begun += event.snapshot
        return first


@dataclasses.dataclass
class ThingsMirror(Following):
    """Things of some kinds by their ids, each as it was told last.

    Attributes:
        members: the member of a payload that has the thing, by kind.
        ends: kinds and verbs after which a thing is not there.
        partial: of a thing that is known, null says that this was not looked at.
    """

    members: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ends: Collection[tuple[str, str]] = ()
    partial: bool = False
    things: dict[tuple[str, str], dict[str, Any]] = dataclasses.field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Take one in; what is told anew was not known."""
        if self.follow(event, opens={"project", "vending", "server"}):
            self.things.clear()
        member = self.members.get(event.kind)
        if member is None or event.verb == _ENDS:
            return
        said = event.data[member]
        key = (event.kind, said["id"])
        if (event.kind, event.verb) in self.ends:
            del self.things[key]
            return
        if event.verb in {"created", "stored"}:
            assert key not in self.things
        known = self.things.get(key, {}) if self.partial else {}
        self.things[key] = {**known, **{name: value for name, value in said.items() if value is not None}}
