"""How much is measured: enough for figures to keep, or just enough to see that the benchmarks work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything.

    Attributes:
        rounds: repetitions, of which medians are told.
        seconds: of each leg under load.
        snapshots: of the big table; each is made by a commit.
        appends: commits whose cost is measured, at each size.
        loads: of the big table, at one client.
        tables: of the large namespace.
        many: tables that are loaded and listed at random.
        pages: listings that are timed.
        idle: seconds before memory is read.
        backlog: events that the relay drains.
    """

    rounds: int
    seconds: float
    snapshots: int
    appends: int
    loads: int
    tables: int
    many: int
    pages: int
    idle: float
    backlog: int


FULL: Final = Plan(
    rounds=3,
    seconds=5,
    snapshots=9000,
    appends=180,
    loads=100,
    tables=10_000,
    many=1_000,
    pages=500,
    idle=60,
    backlog=1_000_000,
)
QUICK: Final = Plan(
    rounds=1,
    seconds=2,
    snapshots=200,
    appends=20,
    loads=20,
    tables=1_000,
    many=1_000,
    pages=60,
    idle=5,
    backlog=20_000,
)
