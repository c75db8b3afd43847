"""Questions that come together share a batch, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import bind_deadline, remaining, unbind_deadline

REFUSED = Refusal(Reason.REASON_NO_SUCH_TABLE, "there is no table ns.t", table="ns.t")


class Slow:
    """Answers a batch when it is told to, each item with the batch's number."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.answers = asyncio.Semaphore(0)

    async def __call__(self, items: Sequence[str]) -> list[int]:
        self.batches.append(list(items))
        number = len(self.batches)
        await self.answers.acquire()
        return [number] * len(items)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_calls_of_one_moment_share_a_batch_and_later_ones_do_not_join_it() -> None:
    batches: list[list[int]] = []
    gate = asyncio.Event()

    async def ask(items: Sequence[int]) -> list[int | Exception]:
        batches.append(list(items))
        await gate.wait()
        return [item * 2 for item in items]

    double = Coalescer(ask)
    early = [asyncio.ensure_future(double(n)) for n in (1, 2, 3)]
    while not batches:
        await asyncio.sleep(0)
    late = asyncio.ensure_future(double(4))
    gate.set()
    assert await asyncio.gather(*early, late) == [2, 4, 6, 8]
    assert batches == [[1, 2, 3], [4]]


async def test_a_batch_that_takes_long_does_not_keep_the_next_one_waiting() -> None:
    never = asyncio.Event()

    async def ask(items: Sequence[int]) -> list[int | Exception]:
        if 1 in items:
            await never.wait()
        return list(items)

    same = Coalescer(ask, patience=0.001)
    slow = asyncio.ensure_future(same(1))
    await asyncio.sleep(0)
    assert await asyncio.gather(same(2), same(3)) == [2, 3]
    never.set()
    assert await slow == 1


async def test_what_waits_goes_as_soon_as_a_batch_was_answered_whoever_else_may_come() -> None:
    slow = Slow()
    same = Coalescer(slow, alike=True, patience=None)
    first = asyncio.ensure_future(same("a"))
    await turns()
    second = asyncio.ensure_future(same("b"))
    await turns()
    assert slow.batches == [["a"]]
    slow.answers.release()
    await turns()
    assert slow.batches == [["a"], ["b"]]
    slow.answers.release()
    assert [await first, await second] == [1, 2]


@pytest.mark.parametrize("beside", [True, False])
async def test_what_is_under_way_is_asked_again_beside_that_or_once_that_was_answered(beside: bool) -> None:
    slow = Slow()
    same = Coalescer(slow, at_once=2, patience=None, alike=True, beside=beside)
    first = asyncio.ensure_future(same("a"))
    await turns()
    second = asyncio.ensure_future(same("a"))
    await turns()
    assert slow.batches == ([["a"], ["a"]] if beside else [["a"]])
    slow.answers.release()
    await turns()
    assert slow.batches == [["a"], ["a"]]
    slow.answers.release()
    assert [await first, await second] == [1, 2]


async def test_what_waits_for_what_is_under_way_goes_along_with_what_is_new() -> None:
    slow = Slow()
    same = Coalescer(slow, at_once=2, patience=None, alike=True, beside=False)
    asking = [asyncio.ensure_future(same("a"))]
    await turns()
    asking += [asyncio.ensure_future(same(name)) for name in "ab"]
    await turns()
    assert slow.batches == [["a"], ["a", "b"]]
    for _ in slow.batches:
        slow.answers.release()
    assert await asyncio.gather(*asking) == [1, 2, 2]


async def test_what_waits_for_a_batch_that_takes_long_goes_beside_it() -> None:
    slow = Slow()
    same = Coalescer(slow, at_once=2, patience=0.001, alike=True, beside=False)
    asking = [asyncio.ensure_future(same("a"))]
    while not slow.batches:
        await asyncio.sleep(0)
    asking.append(asyncio.ensure_future(same("a")))
    async with asyncio.timeout(10):
        while len(slow.batches) < 2:
            await asyncio.sleep(0.001)
    asking.append(asyncio.ensure_future(same("a")))
    async with asyncio.timeout(10):
        while len(slow.batches) < 3:
            await asyncio.sleep(0.001)
    for _ in slow.batches:
        slow.answers.release()
    assert await asyncio.gather(*asking) == [1, 2, 3]


async def test_more_than_go_into_a_batch_go_beside_it_as_far_as_is_allowed() -> None:
    slow = Slow()
    same = Coalescer(slow, max_items=1, at_once=2, patience=None, alike=True)
    asking = [asyncio.ensure_future(same(name)) for name in "abca"]
    await turns()
    assert slow.batches == [["a"], ["b"]]
    for _ in range(3):
        slow.answers.release()
    assert await asyncio.gather(*asking) == [1, 2, 3, 1]


async def test_a_refusal_of_one_place_is_each_callers_own() -> None:
    async def ask(items: Sequence[str]) -> list[int | Exception]:
        return [REFUSED for _ in items]

    same = Coalescer(ask, alike=True)
    refusals = await asyncio.gather(same("a"), same("a"), return_exceptions=True)
    assert all(isinstance(each, Refusal) and each.reason == REFUSED.reason for each in refusals)
    assert refusals[0] is not refusals[1]


async def test_questions_whose_callers_went_are_not_asked_and_the_others_are() -> None:
    asked: list[int] = []
    gate = asyncio.Event()

    async def ask(items: Sequence[int]) -> list[int | Exception]:
        asked.extend(items)
        await gate.wait()
        return list(items)

    same = Coalescer(ask, max_items=2)
    first = asyncio.ensure_future(same(0))
    while not asked:
        await asyncio.sleep(0)
    gone = [asyncio.ensure_future(same(n)) for n in (1, 2)]
    stays = asyncio.ensure_future(same(3))
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    gate.set()
    assert (await first, await stays, asked) == (0, 3, [0, 3])


async def test_one_items_failure_is_not_its_neighbours() -> None:
    async def ask(items: Sequence[int]) -> list[int | Exception]:
        return [REFUSED if item == 2 else item for item in items]

    same = Coalescer(ask)
    outcomes = await asyncio.gather(*(same(n) for n in (1, 2, 3)), return_exceptions=True)
    assert outcomes == [1, REFUSED, 3]


async def test_a_batch_that_fails_fails_all_of_its_callers_and_the_next_works() -> None:
    fail = True

    async def ask(items: Sequence[int]) -> list[int | Exception]:
        if fail:
            raise REFUSED
        return list(items)

    same = Coalescer(ask)
    one, other = await asyncio.gather(*(same(n) for n in (1, 2)), return_exceptions=True)
    assert isinstance(one, Refusal)
    assert isinstance(other, Refusal)
    assert one.reason == other.reason == REFUSED.reason
    assert one is not other  # else it would gather the tracebacks of all
    fail = False
    assert await same(3) == 3


async def test_equal_items_share_a_place_where_they_are_said_to_be_alike() -> None:
    slow = Slow()
    slow.answers.release()
    number = Coalescer(slow, alike=True)
    assert await asyncio.gather(*(number("".join(letters)) for letters in ("ab", "ba", "ab"))) == [1, 1, 1]
    assert slow.batches == [["ab", "ba"]]


async def test_as_many_batches_as_are_allowed_are_under_way_and_the_next_fills_up() -> None:
    slow = Slow()
    number = Coalescer(slow, at_once=2, max_items=3, patience=None)
    answers = []
    for item in "abcdefg":
        answers.append(number(item))
        await turns()
    assert slow.batches == [["a"], ["b"]]
    for _ in range(4):
        slow.answers.release()
    assert await asyncio.gather(*answers) == [1, 2, 3, 3, 3, 4, 4]
    assert slow.batches[2:] == [["c", "d", "e"], ["f", "g"]]


async def test_a_batch_that_was_given_up_still_answers_and_takes_no_further_one() -> None:
    first, asked = asyncio.Event(), []

    async def ask(items: Sequence[str]) -> list[str]:
        asked.append(list(items))
        if items[0] == "slow":
            await first.wait()
        return list(items)

    same = Coalescer(ask, patience=0.0)
    slow = same("slow")
    while not asked:
        await asyncio.sleep(0)
    assert [await same(item) for item in "ab"] == ["a", "b"]
    after = same("c")
    first.set()
    assert (await slow, await after) == ("slow", "c")
    assert asked == [["slow"], ["a"], ["b"], ["c"]]


async def test_a_batch_is_asked_within_nobodys_deadline() -> None:
    found: list[float | None] = []

    async def ask(items: Sequence[int]) -> list[int]:
        found.append(remaining())
        return list(items)

    token = bind_deadline(0.0)
    try:
        assert await Coalescer(ask)(1) == 1
    finally:
        unbind_deadline(token)
    assert found == [None]


async def test_too_few_answers_are_a_fault_of_everybody_who_has_none() -> None:
    async def ask(items: Sequence[int]) -> list[int]:
        return list(items)[:1]

    same = Coalescer(ask)
    answered, missed = await asyncio.gather(same(1), same(2), return_exceptions=True)
    assert answered == 1
    assert isinstance(missed, ValueError)


async def test_a_question_that_comes_as_a_sender_ends_is_answered() -> None:
    slow = Slow()
    number = Coalescer(slow, patience=None)
    for _ in range(50):
        slow.answers.release()
        async with asyncio.timeout(5):
            await number("a")


async def test_when_a_batch_is_cancelled_its_callers_are_told() -> None:
    slow = Slow()
    number = Coalescer(slow, patience=None)
    others = asyncio.all_tasks()
    waiting = number("a")
    while not slow.batches:
        await asyncio.sleep(0)
    sends = Coalescer._send.__qualname__
    (sender,) = (each for each in asyncio.all_tasks() - others if each.get_coro().__qualname__ == sends)
    sender.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    slow.answers.release()
    assert await number("b") == 2
