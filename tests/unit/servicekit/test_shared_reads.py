"""A page that a crowd asks for is read a few times, and never before it was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

import pytest

from lakeward_servicekit.shared_reads import SharedReads

Asked: TypeAlias = tuple[str, ...]


class Reads:
    """Reads that end when they are told to; each answers which read it was."""

    def __init__(self) -> None:
        self.begun: list[Asked] = []
        self.open: list[asyncio.Future[None]] = []

    async def __call__(self, page: Asked) -> Sequence[int]:
        self.begun.append(page)
        number = len(self.begun)
        self.open.append(asyncio.get_running_loop().create_future())
        await self.open[-1]
        return [number]

    async def end(self) -> None:
        self.open.pop(0).set_result(None)
        await turns()


async def turns() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def test_who_asks_while_a_read_is_under_way_shares_the_next_one() -> None:
    reads = Reads()
    pages = SharedReads(reads)
    first = asyncio.create_task(pages(("one",)))
    await turns()
    crowd = [asyncio.create_task(pages(("one",))) for _ in range(20)]
    await turns()
    assert reads.begun == [("one",)]
    await reads.end()
    assert await first == [1]
    await reads.end()
    assert await asyncio.gather(*crowd) == [[2]] * 20
    assert reads.begun == [("one",)] * 2


async def test_another_page_waits_for_none() -> None:
    reads = Reads()
    pages = SharedReads(reads)
    asking = [asyncio.create_task(pages((name,))) for name in "abc"]
    await turns()
    assert reads.begun == [("a",), ("b",), ("c",)]
    for _ in asking:
        await reads.end()
    assert await asyncio.gather(*asking) == [[1], [2], [3]]


async def test_nothing_is_kept_of_a_page_that_nobody_waits_for() -> None:
    reads = Reads()
    pages = SharedReads(reads)
    for number in range(3):
        asking = asyncio.create_task(pages(("one",)))
        await turns()
        await reads.end()
        assert await asking == [number + 1]
    assert not pages.busy


async def test_a_read_that_fails_fails_those_who_shared_it_alone() -> None:
    calls = 0

    async def read(page: Asked) -> Sequence[int]:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)
        if calls == 1:
            raise ValueError(page)
        return [calls]

    pages = SharedReads(read)
    with pytest.raises(ValueError, match="one"):
        await pages(("one",))
    assert await pages(("one",)) == [2]
