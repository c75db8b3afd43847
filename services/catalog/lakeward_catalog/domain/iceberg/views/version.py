"""Versions of a view, and the log of which one was current."""

from __future__ import annotations

from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, Time, decode, encode
from lakeward_catalog.domain.iceberg.parts import Part
from lakeward_servicekit.errors import Reason, Refusal

SQL: Final = "sql"


class Representation(msgspec.Struct, frozen=True, rename="kebab"):
    """One way to say what the view computes. Kinds other than sql are kept and not read."""

    type: str
    sql: str | None = None
    dialect: str | None = None


class ViewVersionHead(msgspec.Struct, frozen=True, rename="kebab"):
    """What the engine reads of a version."""

    version_id: Int
    timestamp_ms: Time
    schema_id: Int
    summary: dict[str, str]
    representations: tuple[Representation, ...]
    default_namespace: tuple[str, ...]
    default_catalog: str | None = None


class ViewVersion(Part[ViewVersionHead]):
    """A version of a view."""

    __slots__ = ()
    HEAD = ViewVersionHead

    @property
    def version_id(self) -> int:
        """Its id."""
        return self.head.version_id

    @property
    def dialects(self) -> frozenset[str]:
        """The SQL dialects it is written in, in lower case."""
        return frozenset((known.dialect or "").lower() for known in self.head.representations if known.type == SQL)

    def behaves_as(self, other: ViewVersion) -> bool:
        """Whether both say the same; id and time apart."""
        return self._behaviour() == other._behaviour()

    def _behaviour(self) -> JsonObject:
        tree = decode(self.encoded, JsonObject)
        return {
            name: value
            for name, value in tree.items()
            if value is not None and name not in {"version-id", "timestamp-ms"}
        }


def check_version(version: ViewVersion) -> None:
    """Refuse a version that no reader could use.

    Raises:
        Invalid: a SQL representation without text or dialect.
        Refusal: VIEW_DIALECT_TWICE.
    """
    seen: set[str] = set()
    for index, known in enumerate(version.head.representations):
        if known.type != SQL:
            continue
        if known.sql is None or not known.dialect:
            missing = "sql" if known.sql is None else "dialect"
            raise Invalid(f"representations[{index}].{missing}", "it is missing")
        dialect = known.dialect.lower()
        if dialect in seen:
            shown = known.dialect[:100]
            raise Refusal(
                Reason.REASON_VIEW_DIALECT_TWICE,
                f"Invalid view version: Cannot add multiple queries for dialect {shown.lower()}; give each dialect one",
                dialect=shown,
            )
        seen.add(dialect)


class VersionLogHead(msgspec.Struct, frozen=True, rename="kebab"):
    """When which version became current."""

    version_id: Int
    timestamp_ms: Time


class VersionLogEntry(Part[VersionLogHead]):
    """An entry of the version log."""

    __slots__ = ()
    HEAD = VersionLogHead

    @classmethod
    def at(cls, *, version_id: int, timestamp_ms: int) -> VersionLogEntry:
        """A new entry."""
        return cls(
            VersionLogHead(version_id=version_id, timestamp_ms=timestamp_ms),
            encode({"version-id": version_id, "timestamp-ms": timestamp_ms}),
        )
