"""Loads of many tables by four processes, over those by one: both stand beside each other, and take turns.

A host that is busy with others takes from both what it takes, and a moment later gives it back. Measured minutes apart, with
pgbench to compare the minutes, the same tree was seen at 0.45 and at 0.61 of one process: what wakes another process gets dearer
than what computes, and pgbench is neither.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench import reads
from bench.callers import Callers, callers
from bench.figures import Better, Figure, median
from bench.freshness import Counter
from bench.generators import CONNECTIONS, Wrk
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from tests.support.installations import Composition

# (One round of one process, the same of four.)
Round = tuple[Wrk, Wrk]
_GOAL: Final = 0.8
_FLOOR: Final = 0.5
_GOAL_WAIT: Final = 2.0
_FLOOR_WAIT: Final = 3.0


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One of the two.

    Attributes:
        legs: by 32, 8 and one connection.
        told: how fresh each has to be.
    """

    served: Lakeward
    legs: Sequence[reads.Leg]
    told: Sequence[Counter]


def run(parts: Stack, plan: Plan) -> Iterator[Figure]:
    """Rates and waits of four processes, over those of one in the same seconds.

    Raises:
        StaleReadError: a reply was older than it may be, or the check was found blind.
    """
    with callers(parts, count=reads.TOKENS) as known, ExitStack() as ending:
        behind = known.behind(parts)
        one, four = (
            _side(ending.enter_context(lakeward(behind, composition)), known, plan, ending)
            for composition in (Composition.ONE_PROCESS, Composition.FOUR_PROCESSES)
        )
        yield from figures_of(asyncio.run(_rounds((one, four), known, plan, known.written(parts.home))))


def _side(served: Lakeward, known: Callers, plan: Plan, ending: ExitStack) -> Side:
    house = asyncio.run(reads.furnish(served, known, plan))
    legs = reads.legs(house, served.composition, {reads.LOAD_MANY})
    told = ending.enter_context(reads.counters(served.stack.home / f"fresh-{served.composition}", legs))
    return Side(served, legs, told)


async def _rounds(sides: tuple[Side, Side], known: Callers, plan: Plan, tokens: Path) -> Mapping[int, Sequence[Round]]:
    """By the number of connections."""
    found: dict[int, list[Round]] = {}
    for side in sides:
        await reads.see_a_fault(side.served, side.legs[0], side.told[0], tokens)
    for number in range(plan.rounds):
        for index, leg in enumerate(sides[0].legs):
            counted: dict[Composition, Wrk] = {}
            for side in sides[:: 1 if number % 2 else -1]:  # each is the first in turns
                counted[side.served.composition] = await reads.while_changing(
                    side.served, known, side.legs[index], side.told[index], tokens=tokens, seconds=plan.seconds
                )
            one, four = (counted[side.served.composition] for side in sides)
            found.setdefault(leg.connections, []).append((one, four))
    return found


def figures_of(found: Mapping[int, Sequence[Round]]) -> Sequence[Figure]:
    """Medians of rounds; `found` by the number of connections."""
    figures = [
        Figure(
            reads.LOAD_MANY,
            f"four processes, {connections} connections",
            median([four.per_second / one.per_second for one, four in found[connections]]),
            "of one process",
            goal=_GOAL,
            floor=_FLOOR,
            detail=_told(
                [(one.per_second, four.per_second) for one, four in found[connections]], "{1:,.0f}/s over {0:,.0f}"
            ),
        )
        for connections in (CONNECTIONS, 8)
    ]
    waits = [(one.p50 / 1000, four.p50 / 1000) for one, four in found[1]]
    figures.append(
        Figure(
            reads.LOAD_MANY,
            "p50 of one connection, four processes",
            median([four / one for one, four in waits]),
            "x of one process",
            Better.LOWER,
            goal=_GOAL_WAIT,
            floor=_FLOOR_WAIT,
            detail=_told(waits, "{1:.2f} ms over {0:.2f}"),
        )
    )
    return figures


def _told(rounds: Sequence[tuple[float, float]], form: str) -> str:
    return "side by side, in turns: " + ", ".join(form.format(*each) for each in rounds)
