"""How events leave: from the outbox into an ordered log, and from the log to brokers.

A change writes its events into the outbox, in its own transaction. One sequencer at a time moves what is visible there into the
log, where each event gets its number within its stream: 1 and up, without gaps. The log is what is replayed. Each sink keeps,
for each stream, the number of the last event that it took; it publishes in order, stops at the first failure, and tries
again for ever. A broker that is away stops nothing but its own sink.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.leases import Lease

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
SEQUENCER: Final = "events-sequencer"


@dataclasses.dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event in its place.

    Attributes:
        sequence: within the event's stream, from 1.
        written_at: when its change wrote it.
    """

    sequence: int
    event: Event
    written_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class Backlog:
    """What a sink has not taken of a stream.

    Attributes:
        taken: the sequence of the last event that it took; 0 for none.
        newest: the sequence of the newest event.
    """

    stream: str
    taken: int
    newest: int


class LeaseLostError(Exception):
    """Another process holds the lease that this work was done under; nothing was changed."""


class SinkUnavailableError(Exception):
    """A sink did not take an event. Whether it has it is not known: it is published again, under the same id."""


class Outbox(Protocol):
    """Events that changes have written and nobody has put in order."""

    async def move(self, lease: Lease, *, limit: int) -> int:
        """Move at most `limit` events that are visible into the log; how many. Those of one change stay in their order.

        Raises:
            LeaseLostError: a later holder of the lease has begun; nothing was moved.
            Refusal: DATABASE_UNAVAILABLE, COMMIT_STATE_UNKNOWN; what was moved is gone from the outbox, so calling again
                moves nothing twice.
        """
        ...


class EventLog(Protocol):
    """Events in order, for as long as they are kept, and how far each sink is."""

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        """Events behind a sequence, in order. The first one is not `after + 1` where that was forgotten."""
        ...

    async def backlogs(self, sink: str) -> Sequence[Backlog]:
        """Streams of which a sink has not taken all."""
        ...

    async def take(self, sink: str, stream: str, sequence: int) -> None:
        """Remember that a sink has everything up to here; an earlier place than it had changes nothing."""


class Sink(Protocol):
    """Somewhere that events go to."""

    @property
    def name(self) -> str:
        """Under which its place in each stream is kept."""
        ...

    async def position(self, stream: str) -> int:
        """The sequence of the last event of the stream that surely arrived; 0 where the sink can't tell.

        Raises:
            SinkUnavailableError: nobody answers.
        """
        ...

    async def publish(self, logged: LoggedEvent) -> None:
        """Hand over one event; returns when it is kept there. Called in order within a stream.

        Raises:
            SinkUnavailableError: it did not say that it has it.
        """


class Bell(Protocol):
    """Says that there may be something to do."""

    async def wait(self, at_most: timedelta) -> None:
        """Return when it rang since the last wait, or after this long."""


@dataclasses.dataclass(frozen=True, slots=True)
class Pace:
    """How the loops of the relay go.

    Attributes:
        poll: how long nothing is looked at without a bell.
        batch: events in one transaction of the sequencer, and in one read of a sink.
        streams: of one sink at a time.
        first_retry: after a sink failed; doubled with each failure in a row.
        last_retry: the longest pause.
    """

    poll: timedelta = timedelta(seconds=5)
    batch: int = 500
    streams: int = 8
    first_retry: timedelta = timedelta(milliseconds=250)
    last_retry: timedelta = timedelta(seconds=30)


async def sequence(lease: Lease, *, outbox: Outbox, bell: Bell, moved: Callable[[], None], pace: Pace) -> None:
    """Move events into the log until cancelled or until the lease is another's.

    Args:
        lease: of `SEQUENCER`.
        outbox: where events are.
        bell: rings when a change wrote events.
        moved: called after each look at the outbox; wakes the sinks.
        pace: of the loop.
    """
    while True:
        count = await outbox.move(lease, limit=pace.batch)
        moved()  # where nothing was left, who made a snapshot may have moved what the bell rang for
        if count < pace.batch:
            await bell.wait(pace.poll)


async def deliver(
    _lease: Lease,
    *,
    sink: Sink,
    log: EventLog,
    bell: Bell,
    pace: Pace,
    jitter: Callable[[], float],
    lag: Callable[[str, int], None],
) -> None:
    """Hand events to a sink until cancelled.

    Args:
        _lease: of `sink_lease(sink.name)`; two that deliver at once would break no order that the broker checks.
        sink: where events go.
        log: where they come from.
        bell: rings when events were moved into the log.
        pace: of the loop.
        jitter: 0 to 1; spreads retries.
        lag: told the sink's name and how many events it has not taken, in each round.
    """
    met: set[str] = set()
    failures = 0
    while True:
        backlogs = await log.backlogs(sink.name)
        lag(sink.name, sum(each.newest - each.taken for each in backlogs))
        turns = asyncio.Semaphore(pace.streams)
        outcomes = await asyncio.gather(
            *(_deliver_stream(each, sink=sink, log=log, met=met, turns=turns, batch=pace.batch) for each in backlogs)
        )
        if all(outcomes):
            failures = 0
            if not backlogs:
                await bell.wait(pace.poll)
            continue
        failures += 1
        await asyncio.sleep(retry_pause(failures, first=pace.first_retry, last=pace.last_retry, jitter=jitter()))


def sink_lease(sink: str) -> str:
    """The name of the lease under which a sink is served."""
    return f"events-sink-{sink}"


def retry_pause(failures: int, *, first: timedelta, last: timedelta, jitter: float) -> float:
    """Seconds to wait after so many failures in a row: doubled each time, and a half of it by chance."""
    longest = min(first.total_seconds() * 2.0 ** min(failures - 1, 30), last.total_seconds())
    return longest * (0.5 + 0.5 * jitter)


async def _deliver_stream(
    backlog: Backlog, *, sink: Sink, log: EventLog, met: set[str], turns: asyncio.Semaphore, batch: int
) -> bool:
    """Hand over a batch of one stream; whether the sink took all of it, and that could be remembered."""
    reached = backlog.taken

    async def hand_over() -> None:
        nonlocal reached
        if backlog.stream not in met:
            # an earlier holder may have published what it could not remember
            reached = max(reached, min(await sink.position(backlog.stream), backlog.newest))
            met.add(backlog.stream)
        events = await log.read(backlog.stream, after=reached, limit=batch)
        if not events and reached < backlog.newest:
            _tell_lost(sink, backlog.stream, backlog.newest - reached)
            reached = backlog.newest
        for logged in events:
            if logged.sequence != reached + 1:
                _tell_lost(sink, backlog.stream, logged.sequence - reached - 1)
            await sink.publish(logged)
            reached = logged.sequence

    async with turns:
        try:
            try:
                await hand_over()
            finally:
                if reached > backlog.taken:
                    await log.take(sink.name, backlog.stream, reached)
        except (SinkUnavailableError, Refusal) as away:
            met.discard(backlog.stream)
            _LOG.warning(
                "a sink did not take an event",
                extra={"sink": sink.name, "stream": backlog.stream, "after": reached, "cause": str(away)},
            )
            return False
    return True


def _tell_lost(sink: Sink, stream: str, count: int) -> None:
    _LOG.error(
        "events were forgotten before a sink took them", extra={"sink": sink.name, "stream": stream, "lost": count}
    )
