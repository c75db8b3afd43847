"""Where a consumer is in a stream, as a text that it keeps: "beginning", "now", "120", or a place in a snapshot."""

from __future__ import annotations

import dataclasses
import re
from typing import Final, TypeAlias
from uuid import UUID

from lakeward_servicekit.errors import invalid_field

BEGINNING: Final = "beginning"
NOW: Final = "now"
_LARGEST: Final = 2**63 - 1
_IN_LOG: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_IN_SNAPSHOT: Final = re.compile(r"snapshot\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9]{1,18})", re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class LogPlace:
    """Behind the event of this number; 0: before the first."""

    sequence: int

    def __str__(self) -> str:
        return str(self.sequence)


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Behind the entry of this number of a snapshot, from 1; 0: before the first."""

    snapshot_id: UUID
    entry: int

    def __str__(self) -> str:
        return f"snapshot.{self.snapshot_id}.{self.entry}"


@dataclasses.dataclass(frozen=True, slots=True)
class Beginning:
    """Before all that is there."""

    def __str__(self) -> str:
        return BEGINNING


@dataclasses.dataclass(frozen=True, slots=True)
class Now:
    """Behind all that was put in order when it is asked."""

    def __str__(self) -> str:
        return NOW


Position: TypeAlias = LogPlace | SnapshotPlace | Beginning | Now


def position_of(text: str) -> Position:
    """What a consumer sent; "" is the beginning.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if text in {"", BEGINNING}:
        return Beginning()
    if text == NOW:
        return Now()
    if _IN_LOG.fullmatch(text) is not None and int(text) <= _LARGEST:
        return LogPlace(int(text))
    if (found := _IN_SNAPSHOT.fullmatch(text)) is not None:
        return SnapshotPlace(UUID(found[1]), int(found[2]))
    raise invalid_field("after", text, '"beginning", "now", or a position that came with an event')
