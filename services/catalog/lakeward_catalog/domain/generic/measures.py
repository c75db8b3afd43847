"""How much a generic table holds, as its recorded statistics say it. Statistics that somebody else wrote stay as they are."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

BY: Final = "lakeward"
_MAX_ERROR: Final = 500


class Measures(msgspec.Struct, frozen=True, omit_defaults=True, rename="kebab"):
    """How much there is. What the files don't say is None.

    Attributes:
        version: of the table, in its format's own count.
        files: of data.
        bytes: of these files.
        error: why nothing else is known.
    """

    version: int | None = None
    rows: int | None = None
    files: int | None = None
    bytes: int | None = None
    error: str | None = None

    @classmethod
    def failed(cls, why: str) -> Measures:
        """Nothing is known. Part of what is said may be a stranger's."""
        return cls(error="".join(each if each.isprintable() else "�" for each in why[:_MAX_ERROR]))


class _Recorded(Measures, frozen=True, omit_defaults=True, rename="kebab"):
    measured_by: str = ""
    measured_at: str = ""


def may_record(statistics: bytes) -> bool:
    """Whether these are nobody's, or were measured here."""
    return not statistics or _read(statistics) is not None


def recorded(measures: Measures, statistics: bytes, *, at: datetime) -> bytes:
    """Statistics that say so; those that are there where they do already, whenever they were measured."""
    before = _read(statistics)
    said = msgspec.structs.asdict(measures)
    if before is not None and all(getattr(before, name) == value for name, value in said.items()):
        return statistics
    time = at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return msgspec.json.encode(_Recorded(**said, measured_by=BY, measured_at=time))


def _read(statistics: bytes) -> _Recorded | None:
    try:
        found = msgspec.json.decode(statistics, type=_Recorded)
    except msgspec.DecodeError:
        return None
    return found if found.measured_by == BY else None
