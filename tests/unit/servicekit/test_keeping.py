"""What is kept stays within its bounds, and is made once however many ask."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit.keeping import Kept, Loaded, Once


def test_what_was_used_last_goes_last() -> None:
    cache = Kept[str, int](size=8)
    for key in "abcd":
        cache.put(key, 0, size=2)
    assert cache.get("a") == 0
    cache.put("e", 0, size=2)
    assert [key for key in "abcde" if cache.get(key) is None] == ["b"]


def test_one_value_does_not_push_out_all_the_others() -> None:
    cache = Kept[str, int](size=8)
    cache.put("small", 0, size=2)
    cache.put("large", 0, size=5)
    assert (cache.get("small"), cache.get("large")) == (0, None)


def test_of_too_many_entries_the_one_goes_that_was_put_or_used_longest_ago() -> None:
    kept = Kept[str, int](3)
    for number, key in enumerate("abc"):
        kept.put(key, number)
    assert kept.get("a") == 0
    kept.used("b")
    kept.put("d", 3)
    assert [key for key in "abcd" if key in kept] == ["a", "b", "d"]
    kept.put("a", 4)
    kept.put("e", 5)
    assert ([key for key in "abde" if key in kept], kept.look("a"), len(kept)) == (["a", "d", "e"], 4, 3)


def test_looking_at_a_value_does_not_keep_it_longer() -> None:
    kept = Kept[str, int](2)
    kept.put("a", 0)
    kept.put("b", 1)
    assert kept.look("a") == 0
    kept.put("c", 2)
    assert [key for key in "abc" if key in kept] == ["b", "c"]


def test_a_value_that_takes_anothers_place_gives_its_bytes_back() -> None:
    kept = Kept[str, int](size=10)
    for _ in range(5):
        kept.put("a", 0, size=5)
    kept.put("b", 1, size=5)
    assert ("a" in kept, "b" in kept) == (True, True)
    kept.discard("a")
    kept.discard("never there")
    kept.put("c", 2, size=5)
    assert ("b" in kept, "c" in kept) == (True, True)


def test_a_value_too_large_to_be_kept_takes_the_place_of_the_old_one_all_the_same() -> None:
    kept = Kept[str, str](size=10)
    kept.put("a", "old", size=2)
    kept.put("a", "new", size=9)
    assert kept.look("a") is None


@given(st.integers(1, 5), st.integers(1, 40), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=60))
def test_both_bounds_hold_whatever_is_put(entries: int, budget: int, puts: list[tuple[int, int]]) -> None:
    kept, sizes = Kept[int, int](entries, size=budget), dict[int, int]()
    for key, size in puts:
        kept.put(key, size, size=size)
        sizes[key] = size
        there = [each for each in sizes if each in kept]
        assert len(there) == len(kept) <= entries
        assert sum(sizes[each] for each in there) <= budget
        assert all(kept.look(each) == sizes[each] for each in there)


async def test_all_who_ask_while_it_is_made_share_one_making_and_the_next_begins_another() -> None:
    once, made = Once[str, int](), 0

    async def make() -> int:
        nonlocal made
        made += 1
        mine = made
        await asyncio.sleep(0)
        return mine

    assert await asyncio.gather(*(once("a", make) for _ in range(20)), once("b", make)) == [1] * 20 + [2]
    assert await once("a", make) == 3
    assert len(once) == 0


async def test_who_goes_away_takes_the_making_from_nobody_whoever_began_it() -> None:
    once, release = Once[str, str](), asyncio.Event()

    async def make() -> str:
        await release.wait()
        return "made"

    asking = [asyncio.create_task(once("a", make)) for _ in range(3)]
    await asyncio.sleep(0)
    for leaving in asking[:2]:
        leaving.cancel()
    await asyncio.gather(*asking[:2], return_exceptions=True)
    release.set()
    assert await asking[2] == "made"


async def test_what_fails_fails_for_all_who_asked_and_is_made_anew_at_once() -> None:
    once, fails = Once[str, str](), True

    async def make() -> str:
        await asyncio.sleep(0)
        if fails:
            raise ValueError("no")
        return "made"

    async def insistent() -> str:
        try:
            return await once("a", make)
        except ValueError:
            nonlocal fails
            fails = False
            return await once("a", make)

    assert await asyncio.gather(insistent(), insistent()) == ["made", "made"]


async def test_a_failure_that_nobody_waits_for_any_more_is_no_complaint() -> None:
    gc.collect()  # what others left
    once, complaints = Once[str, None](), list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))
    release = asyncio.Event()

    async def make() -> None:
        await release.wait()
        raise ValueError("no")

    leaving = asyncio.create_task(once("a", make))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    leaving.cancel()
    release.set()
    await asyncio.gather(leaving, return_exceptions=True)
    while len(once):
        await asyncio.sleep(0)
    gc.collect()
    asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []


async def test_nobody_joins_a_making_that_was_left() -> None:
    once, release = Once[str, bool](), asyncio.Event()

    async def make() -> bool:
        await release.wait()
        return once.is_current("a")

    first = asyncio.create_task(once("a", make))
    await asyncio.sleep(0)
    once.leave("a")
    second = asyncio.create_task(once("a", make))
    await asyncio.sleep(0)
    release.set()
    assert (await first, await second) == (False, True)


async def test_concurrent_misses_of_one_key_share_one_load() -> None:
    cache: Loaded[str, int] = Loaded(4)
    loads = 0

    async def load() -> tuple[int, float]:
        nonlocal loads
        loads += 1
        await asyncio.sleep(0)
        return loads, 60.0

    assert await asyncio.gather(*(cache.get("a", load) for _ in range(20))) == [1] * 20
    assert await cache.get("b", load) == 2


async def test_a_load_whose_first_caller_is_cancelled_still_answers_the_others() -> None:
    cache: Loaded[str, str] = Loaded(4)
    release = asyncio.Event()

    async def load() -> tuple[str, float]:
        await release.wait()
        return "value", 60.0

    first, second = (asyncio.create_task(cache.get("a", load)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    release.set()
    assert await second == "value"


async def test_an_error_is_told_to_all_who_wait_and_is_not_kept() -> None:
    cache: Loaded[str, int] = Loaded(4)
    answers: Iterator[Any] = iter([ValueError("no"), 7])

    async def load() -> tuple[int, float]:
        await asyncio.sleep(0)
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer, 60.0

    outcomes = await asyncio.gather(*(cache.get("a", load) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [ValueError] * 3
    assert await cache.get("a", load) == 7


async def test_the_least_recently_used_value_goes_and_an_old_one_is_loaded_again() -> None:
    now = [0.0]
    cache: Loaded[str, str] = Loaded(2, now=lambda: now[0])
    loaded: list[str] = []

    async def get(key: str, seconds: float = 10.0) -> None:
        async def load() -> tuple[str, float]:
            loaded.append(key)
            return key, seconds

        await cache.get(key, load)

    for key in ("a", "b", "a", "c", "a", "b"):
        await get(key)
    assert loaded == ["a", "b", "c", "b"]
    now[0] = 10.0
    await get("b")
    await get("brief", 0.0)
    await get("brief", 0.0)
    assert loaded[4:] == ["b", "brief", "brief"]


async def test_what_is_discarded_during_its_load_is_not_kept() -> None:
    cache: Loaded[str, int] = Loaded(2)
    release = asyncio.Event()

    async def load() -> tuple[int, float]:
        await release.wait()
        return 1, 60.0

    waiting = asyncio.create_task(cache.get("a", load))
    await asyncio.sleep(0)
    cache.discard("a")
    release.set()
    assert await waiting == 1

    async def again() -> tuple[int, float]:
        return 2, 60.0

    assert await cache.get("a", again) == 2
