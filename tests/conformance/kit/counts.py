"""How many of the kit's tests do what: printed at a run's end, and a row a version in README."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.kit.java_kit import Result

COUNTED = "the kit's counts"
"""Under which a report carries them, from whichever process ran the kit."""
README = Path(__file__).resolve().parents[3] / "README.md"


@dataclass(frozen=True, slots=True)
class Counts:
    """Tests of one version by outcome; `failed` are those that differ."""

    passed: int
    failed: int
    skipped: int

    @staticmethod
    def of(results: Sequence[Result]) -> Counts:
        """Of the results of one run."""
        by_outcome = collections.Counter(result.outcome for result in results)
        return Counts(by_outcome["passed"], by_outcome["failed"], by_outcome["skipped"])

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} differ, {self.skipped} not asked"

    def row(self, version: str) -> str:
        """The version's row in README."""
        total = self.passed + self.failed + self.skipped
        return f"| {version} | {total} | {self.passed} | {self.failed} | {self.skipped} |"


def written(version: str) -> str | None:
    """The row that README has for a version."""
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {version} |")]
    return rows[0] if len(rows) == 1 else None


def write(version: str, counts: Counts) -> None:
    """Make README's row true."""
    old = written(version)
    assert old is not None, f"README has no row that begins with | {version} |"
    text = README.read_text(encoding="utf-8")
    README.write_text(text.replace(old, counts.row(version)), encoding="utf-8")
