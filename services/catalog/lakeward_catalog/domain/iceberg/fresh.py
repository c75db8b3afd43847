"""Fresh field ids for a schema that a create request brings.

The request's ids only say what its partition spec, sort order and identifier fields refer to. Ids count from 1, all
fields of a struct before anything inside them.
"""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Invalid, JsonObject, encode
from lakeward_catalog.domain.iceberg.schema import Schema


class FieldIds:
    """Which new id each of the request's ids became."""

    __slots__ = ("_last", "_new")

    def __init__(self) -> None:
        """Start before id 1."""
        self._last = 0
        self._new: dict[object, list[int]] = {}

    def assign(self, old: object) -> int:
        """The next id, remembered for `old`."""
        self._last += 1
        self._new.setdefault(old, []).append(self._last)
        return self._last

    def resolve(self, old: int, *, path: str) -> int:
        """The new id of a field that the request refers to.

        Raises:
            Invalid: no field has that id, or several have it, at `path`.
        """
        new = self._new.get(old, [])
        if len(new) != 1:
            raise Invalid(path, f"field id {old} is {'not in the schema' if not new else 'used by several fields'}")
        return new[0]

    @property
    def last(self) -> int:
        """The highest id that was assigned."""
        return self._last


def with_fresh_ids(schema: Schema) -> tuple[Schema, FieldIds]:
    """The schema under id 0 with fresh field ids, and which became which.

    Raises:
        Invalid: an identifier field is not in the schema.
    """
    ids = FieldIds()
    tree = schema.tree()
    _fields(tree, ids)
    identifiers = schema.body.identifier_field_ids
    if identifiers:
        tree["identifier-field-ids"] = [ids.resolve(old, path="schema.identifier-field-ids") for old in identifiers]
    tree["schema-id"] = 0
    return Schema(0, encode(tree)), ids


def _fields(struct: JsonObject, ids: FieldIds) -> None:
    fields = struct["fields"]
    assert isinstance(fields, list)
    for field in fields:
        field["id"] = ids.assign(field["id"])
    for field in fields:
        if not isinstance(kind := field["type"], str):
            _type(kind, ids)


def _type(kind: object, ids: FieldIds) -> None:
    if not isinstance(kind, dict):
        return
    match kind["type"]:
        case "struct":
            _fields(kind, ids)
        case "list":
            kind["element-id"] = ids.assign(kind["element-id"])
            _type(kind["element"], ids)
        case _:
            kind["key-id"] = ids.assign(kind["key-id"])
            kind["value-id"] = ids.assign(kind["value-id"])
            _type(kind["key"], ids)
            _type(kind["value"], ids)
