"""Schemas: reading, checking, comparing, and giving fresh field ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, Self

import msgspec

from lakeward_catalog.domain.iceberg.defaults import check_default
from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, convert, decode, encode, join
from lakeward_catalog.domain.iceberg.types import (
    V3_TYPES,
    ListType,
    MapType,
    NestedField,
    Primitive,
    StructType,
    Type,
    parse_primitive,
)

V3: Final = 3


class SchemaBody(msgspec.Struct, frozen=True, rename="kebab"):
    """A schema as it is read; what a request leaves out has a default."""

    fields: tuple[NestedField, ...]
    type: Literal["struct"] = "struct"
    schema_id: Int = 0
    identifier_field_ids: tuple[Int, ...] | None = None


class Column(msgspec.Struct, frozen=True, gc=False):
    """A field of any depth, and where it stands.

    Attributes:
        id: its field id.
        name: its full name: "address.street", "tags.element".
        path: where it stands in the schema's JSON.
        type: nested, or the written name of a primitive type.
        primitive: the primitive type; None for a nested one.
        required: whether it may not be null.
        field: the struct field; None for elements, keys and values.
        in_collection: whether a list or a map is above it.
        below_optional: whether anything above it may be null.
    """

    id: int
    name: str
    path: str
    type: Type
    primitive: Primitive | None
    required: bool
    field: NestedField | None
    in_collection: bool
    below_optional: bool


class Schema:
    """A schema of a table or a view: its JSON, and on first use its columns.

    Equality is by bytes; `same_structure` compares what a schema says.
    """

    __slots__ = ("_body", "_columns", "_structure", "encoded", "schema_id")

    def __init__(self, schema_id: int, encoded: bytes) -> None:
        """`encoded` must be a schema whose `schema-id` is `schema_id`."""
        self.schema_id: Final = schema_id
        self.encoded: Final = encoded
        self._body: SchemaBody | None = None
        self._columns: dict[int, Column] | None = None
        self._structure: object = None

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read a decoded schema; a missing `schema-id` is 0.

        Raises:
            Invalid: a member is missing or has the wrong type, or a type's name is unknown.
        """
        body = convert(value, SchemaBody)
        tree = _canonical_schema(value)
        tree["schema-id"] = body.schema_id
        return cls(body.schema_id, encode(tree))

    def with_id(self, schema_id: int) -> Schema:
        """The same schema under another id."""
        return (
            self if schema_id == self.schema_id else Schema(schema_id, encode(self.tree() | {"schema-id": schema_id}))
        )

    def tree(self) -> JsonObject:
        """A fresh decoded copy."""
        return decode(self.encoded, JsonObject)

    @property
    def body(self) -> SchemaBody:
        """The typed content."""
        if self._body is None:
            self._body = decode(self.encoded, SchemaBody)
        return self._body

    @property
    def columns(self) -> dict[int, Column]:
        """Every field of every depth, by id, outer before inner. Not to be changed.

        Raises:
            Invalid: two fields share an id, or a type's name is unknown.
        """
        if self._columns is None:
            columns: dict[int, Column] = {}
            for column in walk(self.body.fields):
                if column.id in columns:
                    raise Invalid(
                        column.path, f"field id {column.id} is used twice, by {columns[column.id].name!r} too"
                    )
                columns[column.id] = column
            self._columns = columns
        return self._columns

    @property
    def names(self) -> dict[str, int]:
        """Field ids by full name."""
        return {column.name: column.id for column in self.columns.values()}

    @property
    def highest_field_id(self) -> int:
        """The highest field id of any depth; 0 without fields."""
        return max(self.columns, default=0)

    def same_structure(self, other: Schema) -> bool:
        """Whether both say the same, ids of the schemas apart; absent and null members are alike."""
        return self.encoded == other.encoded or self.structure == other.structure

    @property
    def structure(self) -> object:
        """What the schema says, in a form that compares: without its id, nulls left out."""
        if self._structure is None:
            tree = _canonical_schema(self.tree())
            tree.pop("schema-id", None)
            tree["identifier-field-ids"] = sorted(self.body.identifier_field_ids or ())
            self._structure = tree
        return self._structure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"Schema({self.encoded.decode()})"


def walk(fields: tuple[NestedField, ...]) -> Iterator[Column]:
    """All columns below `fields`; those of one struct come before what is inside them."""
    level: list[tuple[int, str, str, Type, bool, NestedField | None, bool, bool]] = [
        (field.id, field.name, f"fields[{index}]", field.type, field.required, field, False, False)
        for index, field in enumerate(fields)
    ]
    while level:
        below: list[tuple[int, str, str, Type, bool, NestedField | None, bool, bool]] = []
        for field_id, name, path, kind, required, field, in_collection, below_optional in level:
            try:
                primitive = parse_primitive(kind) if isinstance(kind, str) else None
            except Invalid as finding:
                raise finding.below(join(path, "type")) from None
            yield Column(field_id, name, path, kind, primitive, required, field, in_collection, below_optional)
            optional = below_optional or not required
            match kind:
                case StructType():
                    below += [
                        (
                            f.id,
                            f"{name}.{f.name}",
                            f"{path}.type.fields[{i}]",
                            f.type,
                            f.required,
                            f,
                            in_collection,
                            optional,
                        )
                        for i, f in enumerate(kind.fields)
                    ]
                case ListType():
                    at = f"{path}.type.element"
                    below.append(
                        (
                            kind.element_id,
                            f"{name}.element",
                            at,
                            kind.element,
                            kind.element_required,
                            None,
                            True,
                            optional,
                        )
                    )
                case MapType():
                    at = f"{path}.type"
                    below.append((kind.key_id, f"{name}.key", f"{at}.key", kind.key, True, None, True, optional))
                    below.append(
                        (
                            kind.value_id,
                            f"{name}.value",
                            f"{at}.value",
                            kind.value,
                            kind.value_required,
                            None,
                            True,
                            optional,
                        )
                    )
                case _:
                    pass
        level = below


def check_schema(schema: Schema, *, format_version: int | None) -> None:
    """Refuse a schema that breaks the format.

    Args:
        schema: what a request brings.
        format_version: the table's; None for a view, which may use every type.

    Raises:
        Invalid: ids or names used twice, types or defaults that need a later format version, a default that is not a
            value of its type, identifier fields that can't identify.
    """
    names: dict[str, int] = {}
    for column in schema.columns.values():
        if column.id < 0:
            raise Invalid(column.path, f"field id {column.id} is negative")
        if column.name in names:
            raise Invalid(column.path, f"field name {column.name!r} is used twice")
        names[column.name] = column.id
        kind, field = column.primitive, column.field
        if kind is not None and kind.kind in V3_TYPES:
            _check_version(column, kind, format_version)
        if field is not None and (field.initial_default is not None or field.write_default is not None):
            _check_defaults(column, field, format_version)
    for field_id in schema.body.identifier_field_ids or ():
        _check_identifier(schema.columns.get(field_id), field_id)


def _check_version(column: Column, kind: Primitive, format_version: int | None) -> None:
    if format_version is not None and format_version < V3:
        raise Invalid(
            join(column.path, "type"),
            f"type {kind.text} of {column.name!r} needs format version 3; the table has {format_version}",
        )
    if kind.kind == "unknown" and column.required:
        raise Invalid(join(column.path, "type"), f"{column.name!r} has type unknown, so it must be optional")


def _check_defaults(column: Column, field: NestedField, format_version: int | None) -> None:
    for member, value in (("initial-default", field.initial_default), ("write-default", field.write_default)):
        if value is None:
            continue
        if format_version is not None and format_version < V3:
            raise Invalid(
                join(column.path, member),
                f"a default of {column.name!r} needs format version 3; the table has {format_version}",
            )
        try:
            check_default(column.primitive, value)
        except Invalid as finding:
            raise finding.below(join(column.path, member)) from None


def _check_identifier(column: Column | None, field_id: int) -> None:
    if column is None:
        raise Invalid("identifier-field-ids", f"identifier field {field_id} is not in the schema")
    if column.primitive is None or column.primitive.kind in {"float", "double"}:
        raise Invalid("identifier-field-ids", f"{column.name!r} can't identify rows: its type is nested or floating")
    if not column.required or column.below_optional or column.in_collection:
        raise Invalid(
            "identifier-field-ids",
            f"{column.name!r} can't identify rows: it must be required, in required structs, outside lists and maps",
        )


def _canonical_schema(value: object) -> JsonObject:
    tree = dict(value) if isinstance(value, dict) else {}
    tree["type"] = "struct"
    tree["fields"] = [_canonical_field(field) for field in tree.get("fields", ())]
    if not tree.get("identifier-field-ids"):
        tree.pop("identifier-field-ids", None)
    return tree


def _canonical_field(field: JsonObject) -> JsonObject:
    kept = {
        name: member
        for name, member in field.items()
        if member is not None or name not in {"doc", "initial-default", "write-default"}
    }
    kept["type"] = _canonical_type(field["type"])
    return kept


def _canonical_type(kind: object) -> object:
    if isinstance(kind, str):
        return parse_primitive(kind).text
    tree = dict(kind) if isinstance(kind, dict) else {}
    if "fields" in tree:
        tree["fields"] = [_canonical_field(field) for field in tree["fields"]]
    for inner in ("element", "key", "value"):
        if inner in tree:
            tree[inner] = _canonical_type(tree[inner])
    return tree
