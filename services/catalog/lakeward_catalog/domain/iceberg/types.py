"""Column types: primitives by their written name, and the three nested kinds."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid

V3_TYPES: Final = frozenset({"unknown", "variant", "timestamp_ns", "timestamptz_ns", "geometry", "geography"})
PLAIN_TYPES: Final = frozenset(
    {
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "string",
        "uuid",
        "binary",
    }
    | V3_TYPES
)
PRIMITIVE_KINDS: Final = PLAIN_TYPES | {"fixed", "decimal"}
MAX_DECIMAL_PRECISION: Final = 38
_FIXED: Final = re.compile(r"fixed\[\s*(\d{1,9})\s*\]")
_DECIMAL: Final = re.compile(r"decimal\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_GEOMETRY: Final = re.compile(r"geometry\(\s*([^),]+?)\s*\)")
_GEOGRAPHY: Final = re.compile(r"geography\(\s*([^),]+?)\s*(?:,\s*(\w+)\s*)?\)")
EDGE_ALGORITHMS: Final = frozenset({"spherical", "vincenty", "thomas", "andoyer", "karney"})


class Primitive(msgspec.Struct, frozen=True):
    """A primitive type, or variant.

    Attributes:
        kind: the name without parameters: "decimal".
        text: how it is written: "decimal(9, 2)".
        first: fixed's length, decimal's precision; else 0.
        second: decimal's scale; else 0.
    """

    kind: str
    text: str
    first: int = 0
    second: int = 0


_PLAIN: Final = {name: Primitive(name, name) for name in PLAIN_TYPES}


def parse_primitive(text: str) -> Primitive:
    """Read a type's name; letters compare without case.

    Raises:
        Invalid: no Iceberg type is written so.
    """
    if (usual := _PLAIN.get(text)) is not None:
        return usual
    lowered = text.strip().lower()
    if lowered in _PLAIN:
        return _PLAIN[lowered]
    if match := _FIXED.fullmatch(lowered):
        length = int(match[1])
        return Primitive("fixed", f"fixed[{length}]", length)
    if match := _DECIMAL.fullmatch(lowered):
        precision, scale = int(match[1]), int(match[2])
        if not 1 <= precision <= MAX_DECIMAL_PRECISION or scale > precision:
            raise Invalid("", f"type {text!r}: a decimal's precision is 1 to 38 and its scale at most that")
        return Primitive("decimal", f"decimal({precision}, {scale})", precision, scale)
    if lowered.startswith("geometry") and (match := re.fullmatch(_GEOMETRY.pattern, text.strip(), re.IGNORECASE)):
        return Primitive("geometry", f"geometry({match[1]})")
    if lowered.startswith("geography") and (match := re.fullmatch(_GEOGRAPHY.pattern, text.strip(), re.IGNORECASE)):
        algorithm = (match[2] or "spherical").lower()
        if algorithm not in EDGE_ALGORITHMS:
            raise Invalid("", f"type {text!r}: the edge algorithm must be one of {', '.join(sorted(EDGE_ALGORITHMS))}")
        return Primitive("geography", f"geography({match[1]}, {algorithm})" if match[2] else f"geography({match[1]})")
    raise Invalid("", f"{text[:100]!r} is not an Iceberg type")


class NestedField(msgspec.Struct, frozen=True, rename="kebab"):
    """A field of a struct. Defaults are JSON single values; UNSET and null both mean none."""

    id: Int
    name: str
    required: bool
    type: str | StructType | ListType | MapType
    doc: str | None = None
    initial_default: Any = None
    write_default: Any = None


class StructType(msgspec.Struct, frozen=True, rename="kebab", tag="struct", tag_field="type"):
    """Named fields, in order."""

    fields: tuple[NestedField, ...]


class ListType(msgspec.Struct, frozen=True, rename="kebab", tag="list", tag_field="type"):
    """A list; its element is a field too."""

    element_id: Int
    element: str | StructType | ListType | MapType
    element_required: bool


class MapType(msgspec.Struct, frozen=True, rename="kebab", tag="map", tag_field="type"):
    """A map; key and value are fields too."""

    key_id: Int
    key: str | StructType | ListType | MapType
    value_id: Int
    value: str | StructType | ListType | MapType
    value_required: bool


Type = str | StructType | ListType | MapType
