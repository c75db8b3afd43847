"""When a call is made again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

REPEATED = frozenset({429, 502, 503, 504})
"""Statuses after which asking again may help."""


@dataclass(frozen=True)
class Retries:
    """How often and how slowly a call is repeated.

    Only what may be repeated is: reads, and changes that carry an idempotency key, which all of this client's do where the
    API takes one. A refusal that says for how long to wait is heeded, up to `longest`.

    Attributes:
        attempts: at most, the first included; 1 never repeats.
        first: seconds before the second attempt, at most; twice that before the third, and so on.
        longest: seconds between two attempts, at most.
        source: of randomness.
    """

    attempts: int = 4
    first: float = 0.2
    longest: float = 10.0
    source: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def delay(self, attempt: int, told: float | None) -> float:
        """Seconds to wait after an attempt.

        Args:
            attempt: which one failed; 1 is the first.
            told: what the refusal said, in seconds.
        """
        if told is not None:
            return min(told, self.longest)
        return self.source.uniform(0.0, min(self.longest, self.first * 2.0 ** (attempt - 1)))
