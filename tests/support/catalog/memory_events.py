"""The outbox, the log of events, sinks and a lease table in memory."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.relay import (
    Backlog,
    DeadLetter,
    EventRefusedError,
    LeaseLostError,
    LoggedEvent,
    SinkUnavailableError,
)
from lakeward_servicekit.leases import Lease
from tests.support.catalog.values import NOON


class MemoryEvents:
    """`Outbox` and `EventLog`."""

    def __init__(self) -> None:
        self.outbox: list[Event] = []
        self.log: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
        self.forgotten: defaultdict[str, int] = defaultdict(int)
        self.cursors: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.fences: dict[str, int] = {}
        self.letters: dict[tuple[str, str, int], DeadLetter] = {}
        self.again: set[tuple[str, str, int]] = set()

    async def write(self, *events: Event) -> None:
        self.outbox.extend(events)

    async def lease(self, name: str) -> Lease:
        """The lease for a new holder; earlier ones have lost it."""
        self.fences[name] = self.fences.get(name, 0) + 1
        return Lease(name, f"holder-{self.fences[name]}", self.fences[name])

    async def move(self, lease: Lease, *, limit: int) -> int:
        if self.fences.get(lease.name) != lease.fence:
            raise LeaseLostError(lease.name)
        moved, self.outbox = self.outbox[:limit], self.outbox[limit:]
        for event in moved:
            self.log[event.stream].append(LoggedEvent(len(self.log[event.stream]) + 1, event, NOON))
        return len(moved)

    async def read(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        return self.log[stream][max(after, self.forgotten[stream]) :][:limit]

    async def backlogs(self, sink: str) -> Sequence[Backlog]:
        found = [Backlog(stream, self.cursors[sink, stream], len(events)) for stream, events in self.log.items()]
        return sorted((each for each in found if each.newest > each.taken), key=lambda each: each.stream)

    async def take(self, sink: str, stream: str, sequence: int) -> None:
        self.cursors[sink, stream] = max(sequence, self.cursors[sink, stream])

    async def set_aside(self, letter: DeadLetter, *, most: int) -> bool:
        if sum(sink == letter.sink for sink, _, _ in self.letters) >= most:
            return False
        self.letters[letter.sink, letter.logged.event.stream, letter.logged.sequence] = letter
        return True

    async def wanted_again(self, sink: str) -> Sequence[LoggedEvent]:
        return [letter.logged for key, letter in self.letters.items() if key in self.again and letter.sink == sink]

    async def settle(self, sink: str, stream: str, sequence: int, *, refused: str | None = None) -> None:
        key = (sink, stream, sequence)
        self.again.discard(key)
        if refused is None:
            self.letters.pop(key, None)
        else:
            letter = self.letters[key]
            self.letters[key] = dataclasses.replace(letter, reason=refused, attempts=letter.attempts + 1)


@dataclasses.dataclass
class MemorySink:
    """A broker that takes an id once.

    Attributes:
        refuses: ids of events that it never takes.
        fails: how many of the next publications are refused; `loses` as many are taken and their answers lost.
        answers: whether it can say where it stands.
    """

    name: str = "memory"
    fails: int = 0
    loses: int = 0
    answers: bool = True
    taken: list[LoggedEvent] = dataclasses.field(default_factory=list)
    asked: int = 0
    refuses: set[UUID] = dataclasses.field(default_factory=set)

    async def position(self, stream: str) -> int:
        own = [each.sequence for each in self.taken if each.event.stream == stream]
        return max(own, default=0) if self.answers else 0

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        for index, logged in enumerate(events):
            self.asked += 1
            await asyncio.sleep(0)
            if self.fails:
                self.fails -= 1
                raise SinkUnavailableError("away", taken=index)
            if logged.event.event_id in self.refuses:
                raise EventRefusedError("refused", taken=index)
            if logged.event.event_id not in {each.event.event_id for each in self.taken}:
                self.taken.append(logged)
            if self.loses:
                self.loses -= 1
                raise SinkUnavailableError("the answer was lost", taken=index)


class QuietBell:
    """Never rings: waits for a turn of the loop, or for ever once `rounds` are over."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self.over = asyncio.Event()

    async def wait(self, at_most: timedelta) -> None:
        del at_most
        self._rounds -= 1
        if self._rounds <= 0:
            self.over.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)
