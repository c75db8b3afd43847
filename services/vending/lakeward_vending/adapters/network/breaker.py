"""When a service that fails is left alone, and when it is tried again. Pure: whoever holds one tells it the time.

Closed, calls go out. So many failures in a row open it: calls are refused for a rest. Then one call probes: an answer closes it,
and a failure opens it again for a rest that is twice as long.
"""

from __future__ import annotations

import enum
from typing import Final

FIRST_REST_SECONDS: Final = 5.0
LONGEST_REST_SECONDS: Final = 60.0


class Admission(enum.Enum):
    """Whether a call may go out."""

    GOES = enum.auto()
    PROBES = enum.auto()
    RESTS = enum.auto()


class Breaker:
    """The state of one service.

    Args:
        failures: how many in a row open it; 0: it never opens.
    """

    def __init__(self, failures: int) -> None:
        """Closed; see the class."""
        self._threshold = failures
        self._failures = 0
        self._rest = FIRST_REST_SECONDS
        self._until: float | None = None
        self._probing = False
        self.proven = False
        """Whether the last call that ended was answered."""

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, but for a probe now and then."""
        return self._until is not None

    def admit(self, now: float) -> Admission:
        """Whether a call may go out. Who probes says how it ended, or `give_up`."""
        if self._until is None:
            return Admission.GOES
        if self._probing or now < self._until:
            return Admission.RESTS
        self._probing = True
        return Admission.PROBES

    def rests_for(self, now: float) -> float:
        """Seconds until it is tried again; 0 while a probe is under way."""
        return max(0.0, (self._until or now) - now)

    def answered(self) -> bool:
        """The service answered, whatever it said; whether that closed the breaker."""
        was_open = self.is_open
        self._failures, self._rest, self._until, self._probing, self.proven = 0, FIRST_REST_SECONDS, None, False, True
        return was_open

    def failed(self, now: float, *, probe: bool) -> bool:
        """The service did not answer; whether that opened the breaker, again or for the first time."""
        self.proven = False
        self._failures += 1
        if probe:
            self._probing = False
            self._rest = min(self._rest * 2, LONGEST_REST_SECONDS)
            self._until = now + self._rest
            return True
        if self._until is None and 0 < self._threshold <= self._failures:
            self._until = now + self._rest
            return True
        return False

    def give_up(self) -> None:
        """A probe ended without telling anything; the next call probes."""
        self._probing = False
