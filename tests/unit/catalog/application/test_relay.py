from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Final

import pytest

from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.events.delivery import deliver
from lakeward_servicekit.events.relay import (
    SEQUENCER,
    DeadLetter,
    LoggedEvent,
    Pace,
    SinkUnavailableError,
    retry_pause,
    sequence,
    sink_lease,
)
from lakeward_servicekit.leases import Lease
from tests.support.catalog.memory_events import MemoryEvents, MemorySink, QuietBell
from tests.support.catalog.values import an_event

AT_ONCE: Final = Pace(moved=3, batch=3, first_retry=timedelta(0), last_retry=timedelta(0))


async def _logged(events: MemoryEvents, *counts: int) -> list[str]:
    """So many events in streams "a", "b"...; the streams."""
    streams = [chr(ord("a") + index) for index in range(len(counts))]
    for stream, count in zip(streams, counts, strict=True):
        await events.write(*(an_event(stream) for _ in range(count)))
    await events.move(await events.lease(SEQUENCER), limit=1000)
    return streams


async def _deliver(events: MemoryEvents, sink: MemorySink, *, lags: list[int] | None = None) -> None:
    """Until there is nothing left to deliver."""
    bell = QuietBell(1)
    loop = asyncio.create_task(
        deliver(
            await events.lease(sink_lease(sink.name)),
            sink=sink,
            log=events,
            bell=bell,
            pace=AT_ONCE,
            jitter=lambda: 0.5,
            lag=lambda _, count: (lags if lags is not None else []).append(count),
        )
    )
    async with asyncio.timeout(10):
        await bell.over.wait()
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)


async def test_the_sequencer_moves_everything_and_wakes_the_sinks() -> None:
    events, woken = MemoryEvents(), []
    await events.write(*(an_event("a") for _ in range(7)))
    bell = QuietBell(1)
    lease = await events.lease(SEQUENCER)
    loop = asyncio.create_task(sequence(lease, outbox=events, bell=bell, moved=lambda: woken.append(1), pace=AT_ONCE))
    await bell.over.wait()
    loop.cancel()
    assert [each.sequence for each in events.log["a"]] == list(range(1, 8))
    assert len(woken) == 3


async def test_what_comes_while_the_sequencer_rests_is_moved_in_one_look() -> None:
    class Looked(MemoryEvents):
        looks = 0

        async def move(self, lease: Lease, *, limit: int) -> int:
            self.looks += 1
            return await super().move(lease, limit=limit)

    events, bell = Looked(), LocalBell()
    lease = await events.lease(SEQUENCER)
    pace = Pace(gathered=timedelta(milliseconds=50))
    await events.write(an_event("a"))
    loop = asyncio.create_task(sequence(lease, outbox=events, bell=bell, moved=lambda: None, pace=pace))
    async with asyncio.timeout(10):
        while not events.looks:
            await asyncio.sleep(0)
        for _ in range(4):  # in one turn of the loop, so that no rest ends between them
            await events.write(an_event("a"))
            bell.ring()
        while len(events.log["a"]) < 5:
            await asyncio.sleep(0)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert events.looks == 2


async def test_each_stream_is_delivered_whole_and_in_order() -> None:
    events, sink, lags = MemoryEvents(), MemorySink(), list[int]()
    streams = await _logged(events, 7, 1, 4)
    await _deliver(events, sink, lags=lags)
    for stream in streams:
        taken = [each for each in sink.taken if each.event.stream == stream]
        assert taken == events.log[stream]
    assert lags[0] == 12
    assert lags[-1] == 0


@pytest.mark.parametrize("answers", [True, False])
async def test_a_sink_that_fails_is_tried_again_and_gets_everything_in_order(answers: bool) -> None:
    events, sink = MemoryEvents(), MemorySink(fails=4, loses=3, answers=answers)
    await _logged(events, 9)
    await _deliver(events, sink)
    assert sink.taken == events.log["a"]


async def test_what_an_earlier_holder_published_and_could_not_remember_is_not_published_again() -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 5)
    await _deliver(events, sink)
    events.cursors["memory", "a"] = 2
    asked = sink.asked
    await _deliver(events, sink)
    assert sink.asked == asked
    assert events.cursors["memory", "a"] == 5


async def test_one_stream_that_is_refused_does_not_hold_up_another() -> None:
    class RefusesA(MemorySink):
        async def publish(self, events: Sequence[LoggedEvent]) -> None:
            if events[0].event.stream == "a":
                raise SinkUnavailableError("away")
            await super().publish(events)

    events, sink = MemoryEvents(), RefusesA()
    await _logged(events, 2, 2)
    async with _delivering(events, sink, AT_ONCE):
        while events.cursors["memory", "b"] < 2:
            await asyncio.sleep(0)
    assert events.cursors["memory", "a"] == 0


class HeldSink(MemorySink):
    """Takes nothing of the stream "a" until `let` says so."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.let = asyncio.Event(), asyncio.Event()

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        if events[0].event.stream == "a":
            self.held.set()
            await self.let.wait()
        await super().publish(events)


@contextlib.asynccontextmanager
async def _delivering(events: MemoryEvents, sink: MemorySink, pace: Pace) -> AsyncIterator[None]:
    loop = asyncio.create_task(
        deliver(
            await events.lease("x"),
            sink=sink,
            log=events,
            bell=QuietBell(1),
            pace=pace,
            jitter=lambda: 0,
            lag=lambda *_: None,
        )
    )
    try:
        async with asyncio.timeout(10):
            yield
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)


async def test_streams_go_on_while_one_waits_for_its_sink() -> None:
    events, sink = MemoryEvents(), HeldSink()
    await _logged(events, 1, 100)
    pace = dataclasses.replace(AT_ONCE, streams=2, turn=2)
    async with _delivering(events, sink, pace):
        while events.cursors["memory", "b"] < 100:
            await asyncio.sleep(0)
        assert events.cursors["memory", "a"] == 0
        await events.write(an_event("c"))
        await events.move(await events.lease(SEQUENCER), limit=10)
        while not events.cursors["memory", "c"]:
            await asyncio.sleep(0)
        sink.let.set()
        while not events.cursors["memory", "a"]:
            await asyncio.sleep(0)
    assert sink.asked == 102


async def test_a_stream_that_waits_for_a_place_has_it_before_one_that_had_its_turn() -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 30, 30, 30)
    async with _delivering(events, sink, dataclasses.replace(AT_ONCE, streams=1, turn=2)):
        while len(sink.taken) < 90:
            await asyncio.sleep(0)
    turns = [each.event.stream for each in sink.taken[:: AT_ONCE.batch * 2]]
    assert turns == ["a", "b", "c"] * 5


async def test_nothing_of_a_stream_is_under_way_while_what_it_was_refused_is_published_again() -> None:
    class AskedFor(MemoryEvents):
        looks = 0

        async def wanted_again(self, sink: str) -> Sequence[LoggedEvent]:
            self.looks += 1
            return await super().wanted_again(sink)

    events, sink = AskedFor(), HeldSink()
    await _logged(events, 1, 1)
    [letter] = events.log["b"]
    events.letters["memory", "b", 1] = DeadLetter("memory", letter, "refused", 5)
    events.cursors["memory", "b"] = 1
    async with _delivering(events, sink, dataclasses.replace(AT_ONCE, poll=timedelta(0))):
        await sink.held.wait()
        events.again.add(("memory", "b", 1))
        looks = events.looks
        while events.looks == looks:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not sink.taken
        sink.let.set()
        while events.again:
            await asyncio.sleep(0)
    assert [each.event.stream for each in sink.taken] == ["a", "b"]


@pytest.mark.parametrize("forgotten", [3, 5])
async def test_events_that_were_forgotten_are_told_and_the_rest_goes_on(
    forgotten: int, caplog: pytest.LogCaptureFixture
) -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 5)
    events.forgotten["a"] = forgotten
    with caplog.at_level(logging.ERROR):
        await _deliver(events, sink)
    assert sink.taken == events.log["a"][forgotten:]
    [told] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert told.__dict__["lost"] == forgotten


async def test_an_event_that_is_refused_is_set_aside_after_some_attempts_and_its_stream_goes_on() -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 7, 2)
    refused = events.log["a"][3]
    sink.refuses = {refused.event.event_id}
    await _deliver(events, sink)
    assert [each for each in sink.taken if each.event.stream == "a"] == [
        each for each in events.log["a"] if each != refused
    ]
    [letter] = events.letters.values()
    assert (letter.logged, letter.reason, letter.attempts) == (refused, "refused", AT_ONCE.refusals)
    assert events.cursors["memory", "a"] == 7
    assert events.cursors["memory", "b"] == 2


async def test_a_sink_that_refuses_too_many_events_waits_and_what_it_refused_stays_in_the_log() -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 6)
    sink.refuses = {each.event.event_id for each in events.log["a"]}
    pace = dataclasses.replace(AT_ONCE, letters=2)
    loop = asyncio.create_task(
        deliver(
            await events.lease(sink_lease(sink.name)),
            sink=sink,
            log=events,
            bell=QuietBell(1),
            pace=pace,
            jitter=lambda: 0,
            lag=lambda *_: None,
        )
    )
    async with asyncio.timeout(10):
        while sink.asked < 4 * pace.refusals:
            await asyncio.sleep(0)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert [sequence for _, _, sequence in events.letters] == [1, 2]
    assert events.cursors["memory", "a"] == 2


@pytest.mark.parametrize("takes_it", [True, False])
async def test_what_was_set_aside_is_published_again_when_somebody_says_so(takes_it: bool) -> None:
    events, sink = MemoryEvents(), MemorySink()
    await _logged(events, 3)
    refused = events.log["a"][1]
    sink.refuses = {refused.event.event_id}
    await _deliver(events, sink)
    [key] = events.letters
    events.again.add(key)
    sink.refuses = set() if takes_it else sink.refuses
    await _deliver(events, sink)
    assert (refused in sink.taken) is takes_it
    assert (key in events.letters) is not takes_it
    assert not events.again


def test_pauses_double_up_to_the_longest_and_are_spread() -> None:
    def pause(failures: int, jitter: float) -> float:
        return retry_pause(failures, first=timedelta(seconds=1), last=timedelta(seconds=30), jitter=jitter)

    assert [pause(failures, 1.0) for failures in (1, 2, 3, 100)] == [1, 2, 4, 30]
    assert pause(3, 0.0) == 2
