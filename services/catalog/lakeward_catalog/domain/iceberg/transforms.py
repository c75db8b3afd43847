"""Transforms of partition and sort fields, and which types they take."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.types import PRIMITIVE_KINDS

_TIMESTAMPS: Final = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_SOURCES: Final = {
    "bucket": frozenset({"int", "long", "decimal", "date", "time", "string", "uuid", "fixed", "binary"}) | _TIMESTAMPS,
    "truncate": frozenset({"int", "long", "decimal", "string", "binary"}),
    "year": _TIMESTAMPS | {"date"},
    "month": _TIMESTAMPS | {"date"},
    "day": _TIMESTAMPS | {"date"},
    "hour": _TIMESTAMPS,
    "identity": PRIMITIVE_KINDS - {"variant", "geometry", "geography"},
    "void": PRIMITIVE_KINDS - {"variant"},
}
_WIDE: Final = re.compile(r"(bucket|truncate)\[(\d{1,10})\]")
MAX_WIDTH: Final = 2**31 - 1


class Transform(msgspec.Struct, frozen=True):
    """A transform; `kind` is None for one that this engine does not know."""

    kind: str | None
    text: str


def parse_transform(text: str) -> Transform:
    """Read a transform's name; letters compare without case. One that is unknown is kept as it is written."""
    lowered = text.lower()
    if lowered in {"identity", "void", "year", "month", "day", "hour"}:
        return Transform(lowered, lowered)
    match = _WIDE.fullmatch(lowered)
    if match is not None and 1 <= int(match[2]) <= MAX_WIDTH:
        return Transform(match[1], f"{match[1]}[{int(match[2])}]")
    return Transform(None, text)


def check_source(schema: Schema, source_id: int, transform: str, *, what: str) -> None:
    """Refuse a transform of a column that is missing or can't be transformed so.

    Raises:
        Invalid: with `what` naming the partition or sort field.
    """
    known = parse_transform(transform)
    column = schema.columns.get(source_id)
    if known.kind is None:
        raise Invalid("transform", f"{what}: {transform[:100]!r} is not a transform that can be written")
    if column is None:
        raise Invalid("source-id", f"{what}: source field {source_id} is not in the current schema")
    if column.primitive is None or column.in_collection:
        raise Invalid("source-id", f"{what}: {column.name!r} must be a primitive column outside lists and maps")
    if column.primitive.kind not in _SOURCES[known.kind]:
        raise Invalid("transform", f"{what}: {known.text} can't be taken of {column.name!r}, a {column.primitive.text}")
