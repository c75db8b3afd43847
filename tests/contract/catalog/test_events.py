from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.relay import SEQUENCER, Backlog, LeaseLostError
from tests.support.catalog.event_stores import EventStores, memory_events, postgres_events
from tests.support.catalog.stores import catalog_pool
from tests.support.catalog.values import an_event


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def events(stores_at: str | None) -> AsyncIterator[EventStores]:
    if stores_at is None:
        yield memory_events()
        return
    async with catalog_pool(stores_at) as pool:
        yield postgres_events(pool)


async def _moved(events: EventStores, *written: Event, limit: int = 1000) -> None:
    await events.write(*written)
    lease = await events.lease(SEQUENCER)
    while await events.outbox.move(lease, limit=limit):
        pass


async def _read(events: EventStores, stream: str, *, after: int = 0, limit: int = 1000) -> list[tuple[int, Event]]:
    return [(each.sequence, each.event) for each in await events.log.read(stream, after=after, limit=limit)]


@pytest.mark.parametrize("limit", [1, 3, 1000])
async def test_events_are_numbered_within_their_streams_in_the_order_of_writing(
    events: EventStores, unique_name: str, limit: int
) -> None:
    streams = [f"{unique_name}-{index}" for index in range(3)]
    written = [an_event(streams[index % 3], verb=str(index), body=str(index).encode()) for index in range(20)]
    await _moved(events, *written, limit=limit)
    for stream in streams:
        own = [event for event in written if event.stream == stream]
        assert await _read(events, stream) == list(enumerate(own, start=1))


async def test_later_events_go_on_where_the_stream_was(events: EventStores, unique_name: str) -> None:
    for _ in range(3):
        await _moved(events, an_event(unique_name))
    assert [sequence for sequence, _ in await _read(events, unique_name)] == [1, 2, 3]


async def test_a_page_begins_behind_a_sequence_and_is_no_longer_than_asked(
    events: EventStores, unique_name: str
) -> None:
    await _moved(events, *(an_event(unique_name) for _ in range(9)))
    assert [sequence for sequence, _ in await _read(events, unique_name, after=4, limit=3)] == [5, 6, 7]
    assert await _read(events, unique_name, after=9) == []


async def test_a_move_takes_no_more_than_it_may_and_says_how_many(events: EventStores, unique_name: str) -> None:
    await _moved(events)
    await events.write(*(an_event(unique_name) for _ in range(5)))
    lease = await events.lease(SEQUENCER)
    assert [await events.outbox.move(lease, limit=3) for _ in range(3)] == [3, 2, 0]


async def test_who_lost_the_lease_moves_nothing(events: EventStores, unique_name: str) -> None:
    await _moved(events)
    earlier = await events.lease(SEQUENCER)
    later = await events.lease(SEQUENCER)
    await events.write(an_event(unique_name))
    with pytest.raises(LeaseLostError):
        await events.outbox.move(earlier, limit=10)
    assert await _read(events, unique_name) == []
    assert await events.outbox.move(later, limit=10) == 1


async def test_a_sink_lacks_what_it_has_not_taken(events: EventStores, unique_name: str) -> None:
    await _moved(events, *(an_event(unique_name) for _ in range(4)))

    async def lacks(sink: str) -> list[Backlog]:
        return [each for each in await events.log.backlogs(sink) if each.stream == unique_name]

    assert await lacks("one") == [Backlog(unique_name, 0, 4)]
    await events.log.take("one", unique_name, 3)
    assert await lacks("one") == [Backlog(unique_name, 3, 4)]
    assert await lacks("two") == [Backlog(unique_name, 0, 4)]
    await events.log.take("one", unique_name, 2)
    await asyncio.gather(*(events.log.take("one", unique_name, place) for place in (4, 1, 3)))
    assert await lacks("one") == []
