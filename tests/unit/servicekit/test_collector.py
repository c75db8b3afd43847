"""What the garbage collector looks at in a process that serves, and that nothing frozen stays for ever."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import weakref
from collections.abc import Iterator

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
    with settled() as kept:
        assert looked_at() == 0
        assert kept.frozen >= len(made)
        assert gc.get_freeze_count() >= len(made)


def test_a_full_collection_examines_only_what_came_since() -> None:
    with settled():
        young = many(100)
        gc.collect()
        assert 100 <= looked_at() < GROWN, len(young)


def test_what_has_grown_is_frozen_behind_the_next_full_collection() -> None:
    with settled() as kept:
        before = kept.frozen
        remembered = many(GROWN + 100)
        gc.collect()
        assert looked_at() < 100
        assert kept.frozen > before + GROWN
        assert gc.get_freeze_count() > before + GROWN, len(remembered)


def test_a_steady_process_freezes_nothing_more() -> None:
    with settled() as kept:
        before = kept.frozen
        for _ in range(3):
            few = many(100)
            gc.collect()
            del few
        assert kept.frozen == before
        assert gc.get_freeze_count() <= before


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


def with_frozen_garbage(kept: Settled, times: int) -> None:
    """Freeze cycles that nobody reaches, so many times what is alive, and some more: what is alive is counted to within a few."""
    nodes = [Node() for _ in range(times * kept.frozen + GROWN)]
    gc.freeze()
    nodes.clear()
    kept.frozen = gc.get_freeze_count()


def after_five_seconds(*, of_work: float) -> tuple[Settled, int]:
    """Settled in a process that worked so long since: (it, how much was alive)."""
    wall, cpu = iter((0.0, 5.0)), iter((0.0, of_work))
    kept = Settled(wall=lambda: next(wall), cpu=lambda: next(cpu))
    kept.refreeze()
    return kept, kept.frozen


def test_a_quiet_process_thaws_when_twice_as_much_is_frozen() -> None:
    kept, alive = after_five_seconds(of_work=0.1)
    with_frozen_garbage(kept, 1)
    kept.look()
    assert kept.frozen < alive + GROWN


def test_a_busy_process_does_not_thaw_at_twice_as_much() -> None:
    kept, alive = after_five_seconds(of_work=5.0)
    with_frozen_garbage(kept, 2)
    kept.look()
    assert kept.frozen >= 3 * alive


def test_a_busy_process_does_not_go_through_what_is_frozen_before_it_may_be_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, alive = after_five_seconds(of_work=5.0)
    counted: list[None] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(None) or alive)
    kept.frozen = 3 * alive
    kept.look()
    assert not counted
    kept, alive = after_five_seconds(of_work=5.0)
    counted.clear()
    kept.frozen = 5 * alive
    kept.look()
    assert len(counted) == 1


def test_a_busy_process_thaws_at_four_times_as_much() -> None:
    kept, alive = after_five_seconds(of_work=5.0)
    with_frozen_garbage(kept, 3)
    kept.look()
    assert kept.frozen < alive + GROWN


def test_what_was_freed_meanwhile_is_no_reason_to_thaw() -> None:
    kept, alive = after_five_seconds(of_work=0.0)
    kept.frozen = 5 * alive  # as if many had been frozen, and freed with their last references
    node = Node()
    gc.freeze()
    seen = weakref.ref(node)
    del node
    kept.look()
    assert kept.frozen < 2 * alive
    assert seen() is not None, "everything was thawed"


def test_the_thresholds_bound_what_a_full_collection_finds_new() -> None:
    set_thresholds()
    young, middle, old = gc.get_threshold()
    assert (young, middle, old) == THRESHOLDS
    assert young * (middle + 1) * (old + 1) <= 8_000


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
