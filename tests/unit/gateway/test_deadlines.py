from __future__ import annotations

import asyncio

import pytest

from lakeward_gateway.deadlines import Deadlines


async def forever() -> None:
    await asyncio.Event().wait()


async def test_work_that_ends_in_time_gives_its_result() -> None:
    async def work() -> str:
        return "done"

    assert await Deadlines(5).within(work()) == "done"


async def test_work_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        await Deadlines(0.01).within(forever())


async def test_each_of_several_is_ended_and_the_rest_goes_on() -> None:
    deadlines = Deadlines(0.05)
    slow = [asyncio.create_task(deadlines.within(forever())) for _ in range(3)]
    assert await deadlines.within(asyncio.sleep(0, "quick")) == "quick"
    outcomes = await asyncio.gather(*slow, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {TimeoutError}
    with pytest.raises(TimeoutError):
        await deadlines.within(forever())


async def test_a_cancellation_from_outside_stays_one() -> None:
    task = asyncio.create_task(Deadlines(5).within(forever()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_the_work_raises_is_raised() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await Deadlines(5).within(work())


async def test_work_that_finishes_although_it_was_ended_leaves_nothing_behind() -> None:
    async def stubborn() -> str:
        try:
            await forever()
        except asyncio.CancelledError:
            return "finished"
        raise AssertionError

    assert await Deadlines(0.01).within(stubborn()) == "finished"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
