"""The time, and fresh identifiers."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """In UTC, with its time zone."""
        ...


class Ids(Protocol):
    """Fresh identifiers."""

    def uuid7(self) -> UUID:
        """Ordered by the time it is made."""
        ...

    def uuid4(self) -> UUID:
        """Random."""
        ...
