"""What is concluded from reads of many tables, and from creates."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import pytest

from bench.across import figures_of as figures_across
from bench.client import Connection
from bench.create import insist_each_once
from bench.figures import Verdict
from bench.freshness import Counter, StaleReadError, repeating
from bench.generators import Wrk
from bench.meter import Usage
from bench.reads import CONFIG, LOAD_MANY, Leg, Seen, figures_of
from tests.support.installations import Composition


@contextlib.asynccontextmanager
async def nothing_changes(_connection: Connection, _told: Counter) -> AsyncIterator[None]:
    yield


def counted(rate: int, *, p50: float = 10_000, p99: float = 20_000) -> Wrk:
    return Wrk(rate, 1_000_000, p50, p99, checked=rate, stale=0, unreadable=0, wrong=0, broken=0)


def seen(rates: Sequence[int], bases: Sequence[float], *, p50: float = 10_000, p99: float = 20_000) -> Seen:
    usages = [Usage(seconds=1, cpu={"Lakeward": 0.5}) for _ in rates]
    return Seen([counted(rate, p50=p50, p99=p99) for rate in rates], usages, list(bases))


def a_leg(*, bench: str = CONFIG, connections: int = 32) -> Leg:
    return Leg(bench, "of one warehouse", ["/x"], "nothing", nothing_changes, 4.0, 2.5, connections)


def test_each_round_is_held_to_its_own_base() -> None:
    assert seen([100, 400, 90], [1000, 2000, 100]).ratio == 0.2


def test_a_leg_of_many_connections_tells_its_rate_and_how_far_its_p99_is_from_its_p50() -> None:
    rate, spread = figures_of(a_leg(), seen([2600], [1000]), Composition.ONE_PROCESS, cores=2, size=3072)
    assert (rate.value, rate.unit, rate.verdict) == (2.6, "of load_many", Verdict.FLOOR)
    assert "2,600/s at p50 10.0 ms, p99 20.0 ms" in rate.detail
    assert (spread.value, spread.verdict) == (2.0, Verdict.GOAL)


def test_a_p99_of_more_than_four_times_its_p50_fails_the_run() -> None:
    _, spread = figures_of(a_leg(), seen([9999], [1], p99=40_001), Composition.ONE_PROCESS, cores=2, size=1)
    assert spread.verdict is Verdict.MISSED


def test_a_leg_of_few_connections_has_no_p99_to_be_judged() -> None:
    leg = a_leg(connections=8)
    assert len(figures_of(leg, seen([1], [1]), Composition.ONE_PROCESS, cores=2, size=1)) == 1


def test_loads_of_many_tables_are_held_to_pgbench_and_the_others_to_them() -> None:
    units = [
        figures_of(a_leg(bench=bench), seen([1], [1]), Composition.ONE_PROCESS, cores=2, size=1)[0].unit
        for bench in (LOAD_MANY, CONFIG)
    ]
    assert units == ["of pgbench", "of load_many"]


def test_four_processes_are_held_to_one_in_the_same_round_whatever_the_machine_did_meanwhile() -> None:
    # in the second round the machine has half the speed: half the rate, and twice the wait
    rounds = [(counted(1000, p50=1_000), counted(500, p50=2_500)), (counted(500, p50=2_000), counted(250, p50=5_000))]
    figures = figures_across({32: rounds, 8: [(counted(1000), counted(450))], 1: rounds})
    assert [figure.value for figure in figures] == [0.5, 0.45, 2.5]
    assert [figure.verdict for figure in figures] == [Verdict.FLOOR, Verdict.MISSED, Verdict.FLOOR]
    assert "500/s over 1,000, 250/s over 500" in figures[0].detail
    assert "2.50 ms over 1.00" in figures[2].detail


@pytest.mark.parametrize("listed", [["a"], ["a", "b", "b"], ["a", "b", "c"], []])
def test_a_listing_that_is_not_what_was_created_ends_the_run(listed: list[str]) -> None:
    with pytest.raises(StaleReadError, match="of 2 tables"):
        insist_each_once(["a", "b"], listed)


def test_a_listing_of_what_was_created_is_well() -> None:
    insist_each_once(["a", "b"], ["b", "a"])


async def test_what_ends_a_writer_early_ends_the_run() -> None:
    async def step() -> None:
        raise StaleReadError("seen")

    with pytest.raises(StaleReadError, match="seen"):
        async with repeating(step):
            await asyncio.sleep(0)
