"""What the garbage collector looks at in a process that serves, and that nothing frozen stays for ever."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lakeward_servicekit import process
from lakeward_servicekit.collector import GROWN, THRESHOLDS, Settled, set_thresholds, settled
from lakeward_servicekit.process import told_to_stop

OLDEST = 2


class Leaf:
    """Part of no cycle."""


class Node:
    """Part of a cycle of one."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector_as_it_was() -> Iterator[None]:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    assert gc.callbacks == callbacks, "a callback was left behind"


def looked_at() -> int:
    """Objects that the next full collection looks at, the young ones left out."""
    return len(gc.get_objects(generation=OLDEST))


def many(count: int) -> list[list[int]]:
    return [[number] for number in range(count)]


def test_what_lived_at_the_end_of_the_start_is_in_the_permanent_generation() -> None:
    made = many(GROWN + 100)
    with settled():
        assert looked_at() == 0
        assert gc.get_freeze_count() >= len(made)


def test_a_full_collection_examines_only_what_came_since() -> None:
    with settled():
        young = many(100)
        gc.collect()
        assert 100 <= looked_at() < GROWN, len(young)


def test_what_has_grown_is_frozen_behind_the_next_full_collection() -> None:
    with settled():
        before = gc.get_freeze_count()
        remembered = many(GROWN + 100)
        gc.collect()
        assert looked_at() < 100
        assert gc.get_freeze_count() > before + GROWN, len(remembered)


def test_a_steady_process_freezes_nothing_more() -> None:
    with settled():
        before = gc.get_freeze_count()
        for _ in range(3):
            few = many(100)
            gc.collect()
            del few
        assert gc.get_freeze_count() <= before


def test_what_takes_the_place_of_others_is_collected_though_it_is_not_counted() -> None:
    gc.collect()
    set_thresholds()
    cache = many(3 * THRESHOLDS[0])
    with settled() as kept:
        longest = 0
        for turn in range(12):
            for index in range(len(cache)):
                cache[index] = [index]
            young = len(gc.get_objects(generation=0))
            assert turn or young > 2 * THRESHOLDS[0], "this test would show nothing: they are collected without"
            kept.tidy()
            assert len(gc.get_objects(generation=0)) < THRESHOLDS[0]
            longest = max(longest, looked_at())
        assert longest < 5 * len(cache)  # what has come to stay is frozen on the way


def test_what_has_come_to_stay_is_frozen_before_it_is_much_to_look_at() -> None:
    gc.collect()
    gc.disable()  # what Python collects by itself is another matter
    try:
        with settled() as kept:
            stays: list[list[list[int]]] = []
            longest = 0
            for _ in range(20):
                stays.append(many(2_000))
                longest = max(
                    longest, len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1)) + looked_at()
                )
                kept.tidy()
            assert longest < 9_000
            assert gc.get_freeze_count() > 30_000
    finally:
        gc.enable()


def test_what_is_young_is_looked_at_more_often_where_much_is_and_less_where_little_is() -> None:
    gc.collect()
    gc.disable()
    try:
        with settled() as kept:
            pauses = []
            for _ in range(5):
                made = many(10_000)
                pauses.append(kept.tidy())
                del made
            assert pauses == [0.05, 0.025, 0.0125, 0.0125, 0.0125]
            assert [kept.tidy() for _ in range(4)] == [0.025, 0.05, 0.1, 0.1]
    finally:
        gc.enable()


def test_nothing_is_collected_where_little_is_young() -> None:
    gc.collect()
    with settled() as kept:
        young = many(100)
        before = gc.get_stats()
        kept.tidy()
        assert gc.get_stats() == before, len(young)


def test_what_is_frozen_and_no_cycle_is_freed_with_its_last_reference() -> None:
    leaf = Leaf()
    gc.freeze()
    seen = weakref.ref(leaf)
    del leaf
    assert seen() is None


def test_a_frozen_cycle_stays_until_the_thaw_and_no_longer() -> None:
    with settled() as kept:
        node = Node()
        gc.freeze()
        seen = weakref.ref(node)
        del node
        gc.collect()
        assert seen() is not None, "this test would show nothing: nothing keeps it"
        kept.refreeze()
        assert seen() is None


@dataclass
class Machine:
    """What `Settled` asks of the process that it is in.

    Attributes:
        blocks: of memory that are held.
        worked: seconds of the five since it was last looked at.
    """

    blocks: int = 1000
    worked: float = 0.0
    _now: float = 0.0

    def wall(self) -> float:
        self._now += 5
        return self._now

    def cpu(self) -> float:
        return self.worked * self._now / 5

    def settled(self) -> Settled:
        kept = Settled(wall=self.wall, cpu=self.cpu, blocks=lambda: self.blocks)
        kept.refreeze()
        return kept


def frozen_garbage() -> weakref.ref[Node]:
    """A cycle that nobody reaches, and no collection finds before the thaw."""
    node = Node()
    gc.freeze()
    return weakref.ref(node)


@pytest.mark.parametrize(
    ("worked", "held", "thaws"),
    [
        pytest.param(0.1, 1999, False, id="a quiet process that holds less than twice as much"),
        pytest.param(0.1, 2000, True, id="a quiet process that holds twice as much"),
        pytest.param(5.0, 7999, False, id="a busy process that holds less than eight times as much"),
        pytest.param(5.0, 8000, True, id="a busy process that holds eight times as much"),
    ],
)
def test_what_is_frozen_is_thawed_when_the_process_has_grown(*, worked: float, held: int, thaws: bool) -> None:
    machine = Machine(worked=worked)
    kept = machine.settled()
    garbage = frozen_garbage()
    machine.blocks = held
    kept.look()
    assert (garbage() is None) is thaws
    if garbage() is not None:
        machine.blocks = 8000
        kept.look()
        assert garbage() is None


def test_the_next_thaw_is_of_what_the_last_one_left() -> None:
    machine = Machine()
    kept = machine.settled()
    machine.blocks = 2500
    kept.look()
    garbage = frozen_garbage()
    machine.blocks = 4999
    kept.look()
    assert garbage() is not None
    machine.blocks = 5000
    kept.look()
    assert garbage() is None


def test_cycles_that_nobody_reaches_hold_blocks() -> None:
    """It is blocks that say when to thaw, so garbage must not be free of them."""
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        for _ in range(10_000):
            Node()
        assert sys.getallocatedblocks() - before >= 10_000
    finally:
        gc.enable()
        gc.collect()
    assert sys.getallocatedblocks() - before < 5_000


def test_looking_does_not_go_through_what_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Machine(worked=5.0).settled()

    def counted() -> int:
        raise AssertionError

    monkeypatch.setattr(gc, "get_freeze_count", counted)
    monkeypatch.setattr(gc, "get_objects", counted)
    kept.look()


def test_the_thresholds_bound_what_a_full_collection_finds_new() -> None:
    set_thresholds()
    young, middle, old = gc.get_threshold()
    assert (young, middle, old) == THRESHOLDS
    assert young * (middle + 1) * (old + 1) <= 6_000


def test_a_full_collection_behind_the_freeze_comes_as_soon_as_the_thresholds_say() -> None:
    young, middle, old = THRESHOLDS
    found: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == OLDEST:
            found.append(looked_at())

    was_there = many(
        20 * GROWN
    )  # as much as a process holds that has started; a quarter of it is far more than may come
    set_thresholds()
    with settled():
        gc.callbacks.append(count)
        try:
            came = many(5 * young * (middle + 2) * (old + 2))
        finally:
            gc.callbacks.remove(count)
    assert found, (len(was_there), len(came))
    assert max(found) < young * (middle + 2) * (old + 2)


async def test_a_process_that_waits_to_be_told_to_stop_has_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Settled] = []
    looked = asyncio.Event()
    monkeypatch.setattr(process, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(Settled, "look", lambda self: (looks.append(self), looked.set()))
    waiting = asyncio.create_task(told_to_stop())
    await looked.wait()
    assert gc.get_freeze_count() > GROWN
    os.kill(os.getpid(), signal.SIGTERM)
    await waiting
    assert gc.get_freeze_count() == 0
    assert looks
