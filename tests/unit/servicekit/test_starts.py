"""When requests begin: at once, or in a later turn of the loop, and never out of their order."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward_servicekit.starts import FEWEST, FIRST, LONG_SECONDS, MOST, SHORT_SECONDS, Starts


class Worked:
    """How much the loop's thread has worked: so much more in each step."""

    def __init__(self, each: float) -> None:
        self.each, self.seconds = each, 0.0

    def __call__(self) -> float:
        return self.seconds

    def step(self) -> None:
        self.seconds += self.each


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class Requests:
    """Requests that arrive, each a task whose first step takes as long as `worked` says; `began` has their numbers."""

    def __init__(self, starts: Starts, worked: Worked) -> None:
        self.began: list[int] = []
        self._starts, self._worked = starts, worked
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    def arrive(self, count: int) -> None:
        for number in itertools.islice(self._numbers, count):
            begin = partial(self._begin, number)
            if self._starts.now():
                begin()
            else:
                self._starts.later(begin)

    def _begin(self, number: int) -> None:
        task = asyncio.create_task(self._first_step(number))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _first_step(self, number: int) -> None:
        self.began.append(number)
        self._worked.step()


async def test_what_arrives_alone_begins_at_once() -> None:
    worked = Worked(0.001)
    requests = Requests(Starts(worked), worked)
    for count in range(1, 5):
        requests.arrive(1)
        await turns(1)
        assert len(requests.began) == count
        await turns(5)


async def test_of_what_arrives_together_so_many_begin_in_a_turn_and_all_in_the_end() -> None:
    worked = Worked(0.0)
    starts = Starts(worked)
    requests = Requests(starts, worked)
    requests.arrive(3 * FIRST)
    await turns(1)
    assert len(requests.began) == FIRST
    await turns(1)
    assert FIRST < len(requests.began) < 3 * FIRST
    await turns(5)
    assert requests.began == list(range(3 * FIRST))


async def test_what_comes_later_waits_behind_what_waits() -> None:
    worked = Worked(0.0)
    requests = Requests(Starts(worked), worked)
    requests.arrive(2 * FIRST)
    await turns(1)
    requests.arrive(5)
    await turns(10)
    assert requests.began == list(range(2 * FIRST + 5))


async def test_long_turns_have_fewer_begin_until_they_are_short_enough() -> None:
    worked = Worked(LONG_SECONDS / 10)
    starts = Starts(worked)
    requests = Requests(starts, worked)
    for _ in range(60):
        requests.arrive(32)
        await turns(1)
    assert 5 <= starts.most <= 10
    assert starts.most * worked.each <= LONG_SECONDS


async def test_one_long_turn_halves_once() -> None:
    worked = Worked(LONG_SECONDS / 20)
    starts = Starts(worked)
    requests = Requests(starts, worked)
    requests.arrive(FIRST)  # one turn of 32, longer than it may be
    await turns(1)
    requests.arrive(FIRST)  # read before anybody knew
    await turns(6)
    assert starts.most == FIRST // 2


async def test_short_turns_have_one_more_begin_each_where_some_had_to_wait() -> None:
    worked = Worked(0.0)
    starts = Starts(worked)
    requests = Requests(starts, worked)
    for _ in range(5):
        requests.arrive(1)
        await turns(3)
    assert starts.most == FIRST
    requests.arrive(MOST * MOST)
    await turns(MOST)
    assert FIRST < starts.most <= MOST


async def test_the_slowest_requests_still_begin_a_few_at_a_time() -> None:
    worked = Worked(10 * LONG_SECONDS)
    starts = Starts(worked)
    requests = Requests(starts, worked)
    requests.arrive(10 * FIRST)
    await turns(100)
    assert starts.most == FEWEST
    assert len(requests.began) == 10 * FIRST


async def test_what_takes_time_later_on_goes_on_in_turns_too_and_who_left_holds_nobody_up() -> None:
    starts, went_on = Starts(Worked(0.0)), list[int]()

    async def go_on(number: int) -> None:
        await starts.turn()
        went_on.append(number)

    going = [asyncio.create_task(go_on(number)) for number in range(3 * FIRST)]
    await turns(1)
    assert went_on == list(range(FIRST))
    going[FIRST + 1].cancel()
    await asyncio.gather(*going, return_exceptions=True)
    assert went_on == [number for number in range(3 * FIRST) if number != FIRST + 1]


async def test_nothing_is_timed_while_nothing_begins() -> None:
    loop, looks = asyncio.get_running_loop(), 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return loop.time()

    starts = Starts(clock)
    requests = Requests(starts, Worked(0.0))
    requests.arrive(1)
    await turns(5)
    before = looks
    await turns(20)
    assert looks == before


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 80), st.integers(1, 4)), max_size=12), st.floats(0, 3 * SHORT_SECONDS))
async def test_every_request_begins_once_and_in_its_order(arrivals: Sequence[tuple[int, int]], each: float) -> None:
    worked = Worked(each)
    requests = Requests(Starts(worked), worked)
    for count, between in arrivals:
        requests.arrive(count)
        await turns(between)
    await turns(400)
    assert requests.began == list(range(sum(count for count, _ in arrivals)))
