"""Handing the log's events to a sink: in order within a stream, many at once, again until they are there.

A broker that is away stops nothing but its own sink, which tries again for ever. One that is there and refuses an event for what
it is would stop the event's stream for ever: after some attempts the event is set aside, and its stream goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import Final

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.events.relay import (
    Backlog,
    Bell,
    DeadLetter,
    EventLog,
    EventRefusedError,
    LoggedEvent,
    Pace,
    Sink,
    SinkUnavailableError,
    retry_pause,
)
from lakeward_servicekit.leases import Lease

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_READS: Final = 2
_AGAIN: Final = ""
"""No stream's name: what is published again, among what went well or did not."""


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
    delivery = _Delivery(sink, log, pace, jitter)
    failing: set[str] = set()
    failures = 0
    async with _turns(delivery, pace) as turns:
        while True:
            again = await delivery.wanted_again()
            # nothing of a stream is under way beside what is published again of it
            ended = await turns.rest() if again else {}
            ended[_AGAIN] = again is not None and await delivery.publish_again(again)
            backlogs = await log.backlogs(sink.name)
            lag(sink.name, sum(each.newest - each.taken for each in backlogs))
            turns.begin(delivery.due(backlogs))
            if turns.going:
                ended |= await turns.some()
            elif all(ended.values()):
                await bell.wait(min(pace.poll, delivery.rest()))
            failing -= ended.keys()
            if all(ended.values()):
                # what goes well beside a stream that does not is no answer to that one
                failures = failures if failing else 0
                continue
            ended |= await turns.rest()
            failing |= {stream for stream, well in ended.items() if not well}
            failures += 1
            await asyncio.sleep(retry_pause(failures, first=pace.first_retry, last=pace.last_retry, jitter=jitter()))


class _Turns:
    """Streams that are handed over, each at its own pace: who waits for a place gets the first one that is free.

    Attributes:
        going: of each stream that has its turn or waits for it. It is out of here only behind a look at what has ended, so
            what the log was asked before such a look is not believed of it.
    """

    def __init__(self, delivery: _Delivery, pace: Pace) -> None:
        self._delivery: Final = delivery
        self._pace: Final = pace
        self._places: Final = asyncio.Semaphore(pace.streams)
        self.going: Final[dict[str, asyncio.Task[bool]]] = {}

    def begin(self, due: Sequence[Backlog]) -> None:
        """Have those go that do not yet."""
        for each in due:
            if each.stream not in self.going:
                self.going[each.stream] = asyncio.create_task(self._delivery.turn(each, self._places))

    async def some(self) -> dict[str, bool]:
        """By stream, how the turns went that have ended; waits for one of them, or until it is time to look for others."""
        await asyncio.wait(
            self.going.values(),
            timeout=self._pace.looked.total_seconds(),
            return_when=asyncio.FIRST_COMPLETED,
        )
        ended = [stream for stream, turn in self.going.items() if turn.done()]
        return {stream: self.going.pop(stream).result() for stream in ended}

    async def rest(self) -> dict[str, bool]:
        """By stream, how the turns went, once all have ended."""
        if self.going:
            await asyncio.wait(self.going.values())
        ended = dict(self.going)
        self.going.clear()
        return {stream: turn.result() for stream, turn in ended.items()}


@contextlib.asynccontextmanager
async def _turns(delivery: _Delivery, pace: Pace) -> AsyncIterator[_Turns]:
    """Turns that end with the block."""
    turns = _Turns(delivery, pace)
    try:
        yield turns
    finally:
        for turn in turns.going.values():
            turn.cancel()
        await asyncio.gather(*turns.going.values(), return_exceptions=True)


@dataclasses.dataclass(slots=True)
class _Refused:
    """An event that a stream waits behind.

    Attributes:
        until: when it is tried again, by the loop's clock.
    """

    sequence: int
    times: int
    until: float


class _Delivery:
    """What one holder of a sink's lease knows of its streams."""

    def __init__(self, sink: Sink, log: EventLog, pace: Pace, jitter: Callable[[], float]) -> None:
        self._sink: Final = sink
        self._log: Final = log
        self._pace: Final = pace
        self._jitter: Final = jitter
        self._now: Final = asyncio.get_running_loop().time
        # Rows of many reads that come together are made into values in one turn of the loop.
        self._reading: Final = asyncio.Semaphore(_READS)
        # Streams where it is known how far the sink is.
        self._met: Final[set[str]] = set()
        self._refused: Final[dict[str, _Refused]] = {}
        self._look_again = 0.0

    def due(self, backlogs: Sequence[Backlog]) -> Sequence[Backlog]:
        """Those that do not rest behind an event that was refused."""
        now = self._now()
        return [
            each for each in backlogs if each.stream not in self._refused or self._refused[each.stream].until <= now
        ]

    def rest(self) -> timedelta:
        """How long until a stream that rests is due; the longest pause where none does."""
        until = min((each.until for each in self._refused.values()), default=None)
        return self._pace.poll if until is None else timedelta(seconds=max(0.0, until - self._now()))

    async def turn(self, backlog: Backlog, turns: asyncio.Semaphore) -> bool:
        """Hand over some batches of a stream; whether the sink is there, and what it took could be remembered."""
        async with turns:
            course = _Course(backlog.stream, reached=backlog.taken, remembered=backlog.taken)
            try:
                try:
                    await self._hand_over(course, backlog.newest)
                finally:
                    await self._remember(course)
            except (SinkUnavailableError, Refusal) as away:
                self._met.discard(backlog.stream)
                self._tell_away(away, stream=backlog.stream, after=course.reached)
                return False
        return True

    async def wanted_again(self) -> Sequence[LoggedEvent] | None:
        """What was set aside and is wanted again, looked for now and then; None where the log is not there to say it."""
        if self._now() < self._look_again:
            return ()
        self._look_again = self._now() + self._pace.poll.total_seconds()
        try:
            return await self._log.wanted_again(self._sink.name)
        except Refusal as away:
            self._tell_away(away)
            return None

    async def publish_again(self, wanted: Sequence[LoggedEvent]) -> bool:
        """Hand over what is wanted again; whether the sink is there."""
        name = self._sink.name
        try:
            for logged in wanted:
                place = {"sink": name, "stream": logged.event.stream, "sequence": logged.sequence}
                try:
                    await self._sink.publish([logged])
                except EventRefusedError as refused:
                    await self._log.settle(name, logged.event.stream, logged.sequence, refused=str(refused))
                    _LOG.error("a sink refused an event again", extra={**place, "reason": str(refused)})
                else:
                    await self._log.settle(name, logged.event.stream, logged.sequence)
                    _LOG.info("a sink took an event that it had refused", extra=place)
        except (SinkUnavailableError, Refusal) as away:
            self._tell_away(away)
            return False
        return True

    async def _hand_over(self, course: _Course, newest: int) -> None:
        stream, size = course.stream, self._pace.batch
        if stream not in self._met:
            # an earlier holder may have published what it could not remember
            course.reached = max(course.reached, min(await self._sink.position(stream), newest))
            self._met.add(stream)
        if stream in self._refused:
            size = 1  # what stands behind it would be handed over with each attempt
        events = await self._next(stream, after=course.reached, limit=size)
        if not events and course.reached < newest:
            self._tell_lost(stream, newest - course.reached)
            course.reached = newest
        for left in reversed(range(self._pace.turn)):
            if not events:
                return
            self._tell_gaps(stream, course.reached, events)
            # The next ones are read while these are on their way. What is not known of yet is for the look behind the turn.
            last = events[-1].sequence
            limit = self._pace.batch if left and last < newest else 0
            reading = asyncio.ensure_future(self._next(stream, after=last, limit=limit))
            try:
                if not await self._publish(course, events):
                    return
                await self._remember(course)
                events = await reading
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _publish(self, course: _Course, events: Sequence[LoggedEvent]) -> bool:
        """Hand over a batch; whether the stream may go on at once."""
        try:
            await self._sink.publish(events)
        except SinkUnavailableError as away:
            course.passed(events, away.taken)
            raise
        except EventRefusedError as refused:
            course.passed(events, refused.taken)
            return await self._refuse(course, events[refused.taken], reason=str(refused))
        course.passed(events, len(events))
        self._refused.pop(course.stream, None)
        return True

    async def _refuse(self, course: _Course, logged: LoggedEvent, *, reason: str) -> bool:
        """Let the stream rest behind an event, or set the event aside; whether the stream may go on."""
        known = self._refused.get(course.stream)
        times = known.times + 1 if known is not None and known.sequence == logged.sequence else 1
        place = {"sink": self._sink.name, "stream": course.stream, "sequence": logged.sequence, "reason": reason}
        if times >= self._pace.refusals:
            letter = DeadLetter(self._sink.name, logged, reason, times)
            if await self._log.set_aside(letter, most=self._pace.letters):
                _LOG.error("a sink refused an event, which is set aside", extra={**place, "attempts": times})
                self._refused.pop(course.stream, None)
                course.reached = logged.sequence
                return False  # the next round goes on behind it
            _LOG.error("a sink refuses too many events to set them aside, and waits", extra=place)
        else:
            _LOG.warning("a sink refused an event", extra={**place, "attempts": times})
        pause = retry_pause(times, first=self._pace.first_retry, last=self._pace.last_retry, jitter=self._jitter())
        self._refused[course.stream] = _Refused(logged.sequence, times, self._now() + pause)
        return False

    async def _remember(self, course: _Course) -> None:
        if course.reached > course.remembered:
            await self._log.take(self._sink.name, course.stream, course.reached)
            course.remembered = course.reached

    async def _next(self, stream: str, *, after: int, limit: int) -> Sequence[LoggedEvent]:
        if not limit:
            return ()
        async with self._reading:
            return await self._log.read(stream, after=after, limit=limit)

    def _tell_away(self, away: Exception, **where: object) -> None:
        _LOG.warning("a sink did not take an event", extra={"sink": self._sink.name, **where, "cause": str(away)})

    def _tell_gaps(self, stream: str, reached: int, events: Sequence[LoggedEvent]) -> None:
        for logged in events:
            if logged.sequence != reached + 1:
                self._tell_lost(stream, logged.sequence - reached - 1)
            reached = logged.sequence

    def _tell_lost(self, stream: str, count: int) -> None:
        _LOG.error(
            "events were forgotten before a sink took them",
            extra={"sink": self._sink.name, "stream": stream, "lost": count},
        )


@dataclasses.dataclass(slots=True)
class _Course:
    """How far a stream is.

    Attributes:
        reached: sequence of the last event that the sink has, or that was set aside.
        remembered: what the log knows of it.
    """

    stream: str
    reached: int
    remembered: int

    def passed(self, events: Sequence[LoggedEvent], count: int) -> None:
        """So many of these have arrived."""
        if count:
            self.reached = events[count - 1].sequence
