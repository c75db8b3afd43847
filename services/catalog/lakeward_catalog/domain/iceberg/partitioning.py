"""Partition specs: reading, binding to a schema, and their field ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Self

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, convert, decode, encode
from lakeward_catalog.domain.iceberg.numbers import next_id
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.transforms import check_source, parse_transform

FIRST_FIELD_ID: Final = 1000


class PartitionField(msgspec.Struct, frozen=True, rename="kebab"):
    """A partition field; a request may leave its id to the catalog. Several sources need format version 3."""

    name: str
    transform: str
    source_id: Int | None = None
    source_ids: tuple[Int, ...] | None = None
    field_id: Int | None = None

    @property
    def source(self) -> int:
        """The first source column."""
        return self.source_id if self.source_id is not None else (self.source_ids or (0,))[0]

    @property
    def meaning(self) -> tuple[tuple[int, ...], str]:
        """What it computes: equal for equal columns and transforms."""
        return self.source_ids or (self.source,), parse_transform(self.transform).text


class SpecBody(msgspec.Struct, frozen=True, rename="kebab"):
    """A partition spec as it is read."""

    fields: tuple[PartitionField, ...]
    spec_id: Int = 0


class PartitionSpec:
    """A partition spec: its typed content and its JSON.

    Attributes:
        computed: the ids of the fields by what they compute; 0 for a field without one.
    """

    __slots__ = ("_meanings", "computed", "encoded", "fields", "spec_id")

    def __init__(self, body: SpecBody, encoded: bytes) -> None:
        """`encoded` must say what `body` does."""
        self.spec_id: Final = body.spec_id
        self.fields: Final = body.fields
        # a new spec is held against all that there are, so what they compare by is made once
        meanings = [field.meaning for field in body.fields]
        self._meanings: Final = tuple(zip([field.name for field in body.fields], meanings, strict=True))
        self.computed: Final[dict[tuple[tuple[int, ...], str], list[int]]] = {}
        for meaning, field in zip(meanings, body.fields, strict=True):
            self.computed.setdefault(meaning, []).append(field.field_id or 0)
        self.encoded: Final = encoded

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read a decoded spec; a missing `spec-id` is 0.

        Raises:
            Invalid: a member is missing or has the wrong type, or a field has no source.
        """
        body = convert(value, SpecBody)
        for index, field in enumerate(body.fields):
            if field.source_id is None and not field.source_ids:
                raise Invalid(f"fields[{index}].source-id", "it is missing; it must be a field id of the schema")
        return cls(body, encode(value))

    @classmethod
    def unpartitioned(cls) -> PartitionSpec:
        """Spec 0, without fields."""
        return cls.from_json({"spec-id": 0, "fields": []})

    def rewritten(self, *, spec_id: int, field_ids: Sequence[int], source: Callable[[int], int] = int) -> PartitionSpec:
        """The same fields under other ids; `source` maps the ids of source columns."""
        tree = decode(self.encoded, JsonObject)
        fields = tree["fields"]
        assert isinstance(fields, list)
        for field, field_id in zip(fields, field_ids, strict=True):
            field["field-id"] = field_id
            if field.get("source-id") is not None:
                field["source-id"] = source(field["source-id"])
            if field.get("source-ids"):
                field["source-ids"] = [source(source_id) for source_id in field["source-ids"]]
        return PartitionSpec.from_json(tree | {"spec-id": spec_id})

    def compatible_with(self, other: PartitionSpec) -> bool:
        """Whether both partition alike: equal sources, transforms and names, in order; field ids apart."""
        return self._meanings == other._meanings

    @property
    def last_field_id(self) -> int:
        """The highest field id; 999 without fields."""
        return max((field.field_id or 0 for field in self.fields), default=FIRST_FIELD_ID - 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"PartitionSpec({self.encoded.decode()})"


def with_legacy_ids(spec: PartitionSpec) -> PartitionSpec:
    """A spec of an old file whose fields may lack ids: those count from 1000 by position."""
    if all(field.field_id is not None for field in spec.fields):
        return spec
    ids = [
        FIRST_FIELD_ID + index if field.field_id is None else field.field_id for index, field in enumerate(spec.fields)
    ]
    return spec.rewritten(spec_id=spec.spec_id, field_ids=ids)


def assign_field_ids(
    spec: PartitionSpec, *, known: Iterable[PartitionSpec], last_partition_id: int, format_version: int
) -> tuple[int, ...]:
    """The field ids of a new spec.

    A field that computes what an earlier spec's field does keeps that field's id, so that its files stay comparable;
    else it has the id that the request gives; else the next one that was never used.

    Args:
        spec: as requested.
        known: the table's specs, oldest first.
        last_partition_id: the highest id that was ever assigned.
        format_version: in 1 an id is its position, and says nothing about what the field computes.

    Raises:
        Invalid: no id is left.
    """
    if format_version == 1:
        return tuple(
            FIRST_FIELD_ID + place if field.field_id is None else field.field_id
            for place, field in enumerate(spec.fields)
        )
    wanted = {field.meaning for field in spec.fields}
    earlier: dict[tuple[tuple[int, ...], str], list[int]] = {}
    for old in known:
        for meaning in wanted & old.computed.keys():
            earlier.setdefault(meaning, []).extend(old.computed[meaning])
    requested = [field.field_id for field in spec.fields if field.field_id is not None]
    last = max([last_partition_id, FIRST_FIELD_ID - 1, *requested])
    taken: list[int] = []
    for field in spec.fields:
        candidates = [known_id for known_id in earlier.get(field.meaning, []) if known_id not in taken]
        if field.field_id in candidates or (field.field_id is not None and not candidates):
            taken.append(field.field_id)
        elif candidates:
            taken.append(candidates[-1])
        else:
            last = next_id([last], what="partition field id")
            taken.append(last)
    return tuple(taken)


def check_spec(spec: PartitionSpec, schema: Schema, *, format_version: int) -> None:
    """Refuse a spec that does not fit the schema or the format version; its field ids are assigned.

    Raises:
        Invalid: a source or transform that does not bind, names or ids used twice, a name that is another column's, or
            in format 1 ids that do not count from 1000.
    """
    names: set[str] = set()
    ids: set[int] = set()
    columns = schema.names
    for index, field in enumerate(spec.fields):
        at = f"fields[{index}]"
        if not field.name or field.name in names:
            raise Invalid(f"{at}.name", f"partition name {field.name!r} is {'used twice' if field.name else 'empty'}")
        names.add(field.name)
        if field.field_id in ids:
            raise Invalid(f"{at}.field-id", f"partition field id {field.field_id} is used twice")
        ids.add(field.field_id or 0)
        if field.source_ids is not None and len(field.source_ids) > 1:
            raise Invalid(f"{at}.source-ids", "transforms of several columns can't be written")
        _check_source(field, schema)
        _check_name(field, columns.get(field.name), path=f"{at}.name")
        if format_version == 1 and field.field_id != FIRST_FIELD_ID + index:
            raise Invalid(f"{at}.field-id", f"it is {field.field_id}; in format version 1 ids count from 1000")


def _check_name(field: PartitionField, column_id: int | None, *, path: str) -> None:
    if column_id is None:
        return
    if parse_transform(field.transform).kind in {"identity", "void"} and column_id == field.source:
        return  # void takes an identity partition's place where format 1 drops one
    raise Invalid(path, f"partition name {field.name!r} is a column's; only its own identity partition may have it")


def check_names(specs: Iterable[PartitionSpec], schema: Schema) -> None:
    """Refuse a schema with a column that has the name of another column's partition field, in any of the specs.

    Readers bind every spec to the current schema, and could not read the table.

    Raises:
        Invalid: there is such a column.
    """
    columns = schema.names
    for spec in specs:
        for field in spec.fields:
            if columns.get(field.name, field.source) != field.source:
                raise Invalid("", f"partition field {field.name!r} of spec {spec.spec_id} has another column's name")


def _check_source(field: PartitionField, schema: Schema) -> None:
    if parse_transform(field.transform).kind != "void":  # a dropped field's; its column may be gone too
        check_source(schema, field.source, field.transform, what=f"partition field {field.name!r}")


def check_bound(spec: PartitionSpec, schema: Schema) -> None:
    """Refuse a schema that a spec of the table no longer fits.

    Raises:
        Invalid: a source column is gone or changed to a type that the transform can't take.
    """
    for index, field in enumerate(spec.fields):
        if parse_transform(field.transform).kind is None:
            continue  # a transform of a later version, already in the table
        try:
            _check_source(field, schema)
        except Invalid as finding:
            raise finding.below(f"fields[{index}]") from None
