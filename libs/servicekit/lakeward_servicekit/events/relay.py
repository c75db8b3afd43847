"""How events leave: from the outbox into an ordered log, and from the log to brokers.

A change writes its events into the outbox, in its own transaction. One sequencer at a time moves what is visible there into the
log, where each event gets its number within its stream: 1 and up, without gaps. The log is what is replayed. For each sink it is
kept, stream by stream, which event it took last; `delivery` hands it what follows.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.leases import Lease

SEQUENCER: Final = "events-sequencer"


class LoggedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event in its place.

    Attributes:
        sequence: within the event's stream, from 1.
        written_at: when its change wrote it.
    """

    sequence: int
    event: Event
    written_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class DeadLetter:
    """What a sink refused, and is not asked to take again until somebody says so.

    Attributes:
        reason: the sink's own, without a secret.
        attempts: how often it was asked.
    """

    sink: str
    logged: LoggedEvent
    reason: str
    attempts: int


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


class SinkError(Exception):
    """A sink did not take all events that it was handed.

    Attributes:
        taken: how many of them, from the first on, it surely has.
    """

    def __init__(self, message: str, *, taken: int = 0) -> None:
        """Say what happened, without a secret: it is logged, and kept with what was refused."""
        super().__init__(message)
        self.taken = taken


class SinkUnavailableError(SinkError):
    """A sink is away. Whether it has the events behind the taken ones is not known: they come again, under the same ids."""


class EventRefusedError(SinkError):
    """A sink is there, and refuses the event behind the taken ones for what it is; what follows may be there, and comes again."""


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
    """Events in order, for as long as they are kept; how far each sink is, and what it refused."""

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        """Events behind a sequence, in order; fewer than `limit` where they are large, and none only where there is none.

        The first one is not `after + 1` where that was forgotten.
        """
        ...

    async def backlogs(self, sink: str) -> Sequence[Backlog]:
        """Streams of which a sink has not taken all."""
        ...

    async def take(self, sink: str, stream: str, sequence: int) -> None:
        """Remember that a sink has everything up to here; an earlier place than it had changes nothing."""
        ...

    async def set_aside(self, letter: DeadLetter, *, most: int) -> bool:
        """Keep what a sink refused; False where it has `most` already, and so refuses more than odd events."""
        ...

    async def wanted_again(self, sink: str) -> Sequence[LoggedEvent]:
        """Some of what was set aside and is to be published once more; the longest refused first."""
        ...

    async def settle(self, sink: str, stream: str, sequence: int, *, refused: str | None = None) -> None:
        """Forget what was set aside and has arrived by now, or with `refused` keep it, with the new reason."""


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

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """Hand over events of one stream, in order; returns when all of them are kept there.

        Raises:
            SinkUnavailableError: it did not say that it has them all.
            EventRefusedError: it does not take one of them.
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
        moved: events in one transaction of the sequencer.
        gathered: how long it rests after a look that found some; what comes meanwhile is moved, read and published together.
        batch: events that a sink is handed at once.
        turn: batches of one stream before the others are looked at again.
        streams: of one sink at a time.
        looked: how long a stream at most waits for a look while others of its sink are handed over.
        first_retry: after a sink failed; doubled with each failure in a row.
        last_retry: the longest pause.
        refusals: of one event in a row, until it is set aside.
        letters: most events that a sink may have set aside. One that refuses more does not refuse odd events: it waits.
    """

    poll: timedelta = timedelta(seconds=5)
    moved: int = 2000
    gathered: timedelta = timedelta(milliseconds=5)
    batch: int = 500
    turn: int = 20
    streams: int = 8
    looked: timedelta = timedelta(milliseconds=50)
    first_retry: timedelta = timedelta(milliseconds=250)
    last_retry: timedelta = timedelta(seconds=30)
    refusals: int = 5
    letters: int = 1000


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
        count = await outbox.move(lease, limit=pace.moved)
        moved()  # where nothing was left, who made a snapshot may have moved what the bell rang for
        if count < pace.moved:
            if count:
                await asyncio.sleep(pace.gathered.total_seconds())
            await bell.wait(pace.poll)


def sink_lease(sink: str) -> str:
    """The name of the lease under which a sink is served."""
    return f"events-sink-{sink}"


def retry_pause(failures: int, *, first: timedelta, last: timedelta, jitter: float) -> float:
    """Seconds to wait after so many failures in a row: doubled each time, and a half of it by chance."""
    longest = min(first.total_seconds() * 2.0 ** min(failures - 1, 30), last.total_seconds())
    return longest * (0.5 + 0.5 * jitter)
