"""How long processes stood still, as they tell it and as it is judged."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import pytest

from bench.figures import Verdict
from bench.meter import Usage
from bench.pauses import Pauses, Slate, Watch, longest

SIZE = 4096


@pytest.fixture
def slate() -> Iterator[Slate]:
    with mmap.mmap(-1, SIZE) as mapped:
        yield Slate(mapped)


@pytest.fixture
def other() -> Iterator[Slate]:
    with mmap.mmap(-1, SIZE) as mapped:
        yield Slate(mapped)


def test_of_several_pauses_the_longest_are_told_and_collections_are_added() -> None:
    one = Pauses(collection=3, stall=9, collection_wall=4, stall_wall=10, collections=2, collecting=5)
    two = Pauses(collection=7, stall=1, collection_wall=8, stall_wall=2, collections=1, collecting=8)
    assert longest([one, two]) == Pauses(7, 9, 8, 10, 3, 13)
    assert longest([]) == Pauses()


def test_what_a_process_saw_is_read_as_it_was_told(slate: Slate) -> None:
    seen = Pauses(1.5, 2.5, 3.5, 4.5, 5, 6.5)
    slate.ask(3)
    slate.tell(slate.asked, seen)
    assert slate.seen() == seen


def test_what_was_seen_in_a_stretch_is_not_read_as_the_next_ones(slate: Slate) -> None:
    slate.ask(1)
    slate.tell(1, Pauses(collection=99))
    slate.ask(2)
    assert slate.seen() == Pauses()


def test_the_longest_of_any_process_counts_and_its_name_is_told(slate: Slate, other: Slate) -> None:
    watch = Watch({"catalog": slate, "authz": other})
    watch.begin()
    slate.tell(slate.asked, Pauses(collection=11, stall=12))
    other.tell(other.asked, Pauses(collection=4, stall=21))
    assert watch.read() == Pauses(collection=11, stall=21)
    collection, stall = watch.figures("commit", "four_processes")
    assert (collection.value, collection.verdict) == (11, Verdict.GOAL_MISSED)
    assert collection.detail.startswith("catalog; ")
    assert (stall.value, stall.verdict) == (21, Verdict.GOAL_MISSED)
    assert stall.detail.startswith("authz; ")


def test_pauses_of_ten_and_twenty_milliseconds_reach_the_goals(slate: Slate) -> None:
    watch = Watch({"lakeward": slate})
    watch.begin()
    slate.tell(slate.asked, Pauses(collection=10, stall=20))
    watch.read()
    assert [figure.verdict for figure in watch.figures("commit", "one_process")] == [Verdict.GOAL] * 2


def test_the_longest_of_all_stretches_is_judged_once(slate: Slate) -> None:
    watch = Watch({"lakeward": slate})
    for pause in (3.0, 8.0, 5.0):
        watch.begin()
        slate.tell(slate.asked, Pauses(collection=pause))
        watch.read()
    assert watch.figures("commit", "one_process")[0].value == 8
    assert watch.figures("create", "one_process") == []


def test_a_figure_tells_the_longest_pauses_behind_the_shares_of_the_machine() -> None:
    usage = Usage(seconds=10, cpu={"Lakeward": 5.0}, pauses=Pauses(4.2, 11.3, 5, 12))
    assert usage.told(cores=2) == (
        "CPU: Lakeward 25%; longest collection 4.2 ms, stall 11.3 ms (5 and 12 by the wall's clock)"
    )
