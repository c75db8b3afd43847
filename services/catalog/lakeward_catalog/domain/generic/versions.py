"""Versions of generic tables: which writer's file is which one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal, invalid_field

LAST: Final = 2**63 - 2  # what is before the largest number of Postgres
MAX_PATH: Final = 1024  # characters
MAX_PROPERTIES: Final = 8 * 1024  # characters of all keys and values


@dataclasses.dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of a generic table.

    Attributes:
        version: from 0 to LAST.
        path: of its file, below the table's location.
        size: of the file, in bytes; None: nobody said.
        properties: whatever its writer wants readers to know.
    """

    version: int
    path: str
    size: int | None
    properties: Mapping[str, str]
    claimed_at: datetime

    def is_claim_of(self, other: TableVersion) -> bool:
        """Whether the other is the same claim, sent again."""
        return (self.version, self.path) == (other.version, other.path)


def check_version(version: TableVersion) -> None:
    """Whether a version may be claimed at all.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if version.version > LAST:
        raise invalid_field("version", version.version, f"at most {LAST}")
    if version.size is not None and version.size > LAST:
        raise invalid_field("size", version.size, f"at most {LAST} bytes")
    path = version.path
    segments = path.split("/")
    if len(path) > MAX_PATH or not path.isprintable() or not {"", ".", ".."}.isdisjoint(segments) or "\\" in path:
        raise invalid_field(
            "path",
            path,
            f"the file's place below the table's location: 1 to {MAX_PATH} printable characters, no '\\', and no segment that is "
            "empty, '.' or '..'",
        )
    length = sum(len(key) + len(value) for key, value in version.properties.items())
    if length > MAX_PROPERTIES or any("\0" in text for pair in version.properties.items() for text in pair):
        raise invalid_field("properties", f"{length} characters", f"at most {MAX_PROPERTIES} characters, without NUL")


def check_next(version: TableVersion, latest: TableVersion | None, *, table: str) -> None:
    """Whether a version is the next one.

    Raises:
        Refusal: TABLE_VERSION_TAKEN.
    """
    if latest is None or version.version == latest.version + 1:
        return
    raise Refusal(
        Reason.REASON_TABLE_VERSION_TAKEN,
        f"version {version.version} of {table} can't be claimed: the latest is {latest.version}, at {latest.path}; "
        f"read it, and claim {latest.version + 1}",
        table=table,
        version=str(version.version),
        latest=str(latest.version),
    )


def no_such_version(table: str, version: int | None) -> Refusal:
    """The refusal of a version that is not there."""
    shown = "latest" if version is None else str(version)
    missing = "version yet" if version is None else f"version {version}, or it was forgotten"
    return Refusal(
        Reason.REASON_NO_SUCH_TABLE_VERSION,
        f"{table} has no {missing}; list those that it has",
        table=table,
        version=shown,
    )
