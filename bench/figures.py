"""Figures, what they are held to, and the table of them."""

from __future__ import annotations

import enum
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


class Better(enum.Enum):
    """Which way is better."""

    HIGHER = ">="
    LOWER = "<="


class Verdict(enum.Enum):
    """How a figure did."""

    GOAL = "goal reached"
    FLOOR = "floor held, goal missed"
    MISSED = "FLOOR MISSED"
    GOAL_MISSED = "goal missed"
    TOLD = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        bench: which benchmark.
        name: what was measured.
        value: what was seen; the median where there were rounds.
        unit: of it.
        goal: where we go; None: the figure is told, and held to nothing.
        floor: what fails the run; None: nothing does.
        detail: what it was made from.
    """

    bench: str
    name: str
    value: float
    unit: str
    better: Better = Better.HIGHER
    goal: float | None = None
    floor: float | None = None
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        """How it did."""
        if self.floor is not None and not self._holds(self.floor):
            return Verdict.MISSED
        if self.goal is None:
            return Verdict.TOLD if self.floor is None else Verdict.GOAL
        if self._holds(self.goal):
            return Verdict.GOAL
        return Verdict.GOAL_MISSED if self.floor is None else Verdict.FLOOR

    def __str__(self) -> str:
        judged = f" ({self.verdict.value})" if self.verdict.value else ""
        return f"{self.name}: {shown(self.value)} {self.unit}{judged}; {self.detail}"

    def _holds(self, bound: float) -> bool:
        return self.value >= bound if self.better is Better.HIGHER else self.value <= bound


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


_HEADER: Final = ("bench", "figure", "value", "goal", "floor", "verdict", "from")


def table(figures: Sequence[Figure]) -> str:
    """The table, as Markdown."""
    rows = [_HEADER, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _row(figure: Figure) -> tuple[str, ...]:
    def bound(value: float | None) -> str:
        return "" if value is None else f"{figure.better.value} {shown(value)}"

    value = f"{shown(figure.value)} {figure.unit}".strip()
    return (
        figure.bench,
        figure.name,
        value,
        bound(figure.goal),
        bound(figure.floor),
        figure.verdict.value,
        figure.detail,
    )


def shown(value: float) -> str:
    """Three digits that count."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"
