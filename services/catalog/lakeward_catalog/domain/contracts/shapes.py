"""What contracts look at in metadata: the columns of the current schema, the default partitioning, the properties."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import msgspec


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A column at any depth.

    Attributes:
        path: its dotted path; elements, keys and values are parts of it.
        type: as Iceberg writes it; of what has columns itself, only what that is: "struct", "list" or "map".
        defaulted: rows that were written before it have a value for it.
    """

    path: str
    type: str
    required: bool
    defaulted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What a table or view looks like from outside.

    Attributes:
        columns: by field id; None where metadata of its kind has no schema.
        partitioning: transforms over columns, as ("day(ts)",); None for what is never partitioned.
    """

    columns: Mapping[int, Column] | None
    partitioning: tuple[str, ...] | None
    properties: Mapping[str, str]


class _Metadata(msgspec.Struct, rename="kebab"):
    """As much of metadata as contracts look at, a table's or a view's."""

    schemas: list[dict[str, Any]] | None = None
    current_schema_id: int | None = None
    partition_specs: list[dict[str, Any]] | None = None
    default_spec_id: int | None = None
    versions: list[dict[str, Any]] | None = None
    current_version_id: int | None = None
    properties: dict[str, str] = {}


_decode: Final = msgspec.json.Decoder(_Metadata).decode


def shape_of(metadata: bytes) -> Shape:
    """What metadata, as JSON that this catalog wrote, looks like."""
    read = _decode(metadata)
    columns = _columns(read)
    return Shape(columns, _partitioning(read, columns or {}), read.properties)


def _columns(read: _Metadata) -> Mapping[int, Column] | None:
    schema_id = read.current_schema_id
    if schema_id is None and read.versions is not None:
        current = (each for each in read.versions if each["version-id"] == read.current_version_id)
        schema_id = next((each["schema-id"] for each in current), None)
    if read.schemas is None or schema_id is None:
        return None
    found: dict[int, Column] = {}
    for schema in read.schemas:
        if schema.get("schema-id", 0) == schema_id:
            _walk(schema["fields"], "", found)
    return found


def _walk(fields: list[dict[str, Any]], above: str, found: dict[int, Column]) -> None:
    for field in fields:
        path = f"{above}{field['name']}"
        defaulted = field.get("initial-default") is not None
        _add(field["id"], path, field["type"], required=field["required"], defaulted=defaulted, found=found)


def _add(
    field_id: int, path: str, of: str | dict[str, Any], *, required: bool, defaulted: bool, found: dict[int, Column]
) -> None:
    if isinstance(of, str):
        found[field_id] = Column(path, of.replace(" ", ""), required, defaulted)
        return
    found[field_id] = Column(path, of["type"], required, defaulted)
    match of["type"]:
        case "struct":
            _walk(of["fields"], f"{path}.", found)
        case "list":
            needed = of["element-required"]
            _add(of["element-id"], f"{path}.element", of["element"], required=needed, defaulted=False, found=found)
        case "map":
            needed = of["value-required"]
            _add(of["key-id"], f"{path}.key", of["key"], required=True, defaulted=False, found=found)
            _add(of["value-id"], f"{path}.value", of["value"], required=needed, defaulted=False, found=found)
        case _:
            pass


def _partitioning(read: _Metadata, columns: Mapping[int, Column]) -> tuple[str, ...] | None:
    for spec in read.partition_specs or ():
        if spec.get("spec-id", 0) == read.default_spec_id:
            fields = [field for field in spec["fields"] if field["transform"] != "void"]
            return tuple(f"{field['transform']}({_sources(field, columns)})" for field in fields)
    return None


def _sources(field: dict[str, Any], columns: Mapping[int, Column]) -> str:
    ids = field.get("source-ids") or [field["source-id"]]
    return ",".join(columns[each].path if each in columns else str(each) for each in ids)
