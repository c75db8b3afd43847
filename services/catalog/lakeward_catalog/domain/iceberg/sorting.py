"""Sort orders: reading and binding to a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Self

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, convert, decode, encode
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.transforms import check_source, parse_transform

UNSORTED_ID: Final = 0


class SortField(msgspec.Struct, frozen=True, rename="kebab"):
    """A sort field."""

    transform: str
    direction: Literal["asc", "desc"]
    null_order: Literal["nulls-first", "nulls-last"]
    source_id: Int | None = None
    source_ids: tuple[Int, ...] | None = None

    @property
    def source(self) -> int:
        """The first source column."""
        return self.source_id if self.source_id is not None else (self.source_ids or (0,))[0]

    @property
    def meaning(self) -> tuple[tuple[int, ...], str, str, str]:
        """What it says, in a form that compares."""
        return (
            self.source_ids or (self.source,),
            parse_transform(self.transform).text,
            self.direction,
            self.null_order,
        )


class OrderBody(msgspec.Struct, frozen=True, rename="kebab"):
    """A sort order as it is read."""

    fields: tuple[SortField, ...]
    order_id: Int = 0


class SortOrder:
    """A sort order: its typed content and its JSON."""

    __slots__ = ("_meanings", "encoded", "fields", "order_id")

    def __init__(self, body: OrderBody, encoded: bytes) -> None:
        """`encoded` must say what `body` does."""
        self.order_id: Final = body.order_id
        self.fields: Final = body.fields
        # a new order is held against all that there are, so what they compare by is made once
        self._meanings: Final = tuple([field.meaning for field in body.fields])
        self.encoded: Final = encoded

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read a decoded sort order; a missing `order-id` is 0.

        Raises:
            Invalid: a member is missing or has the wrong type, or a field has no source.
        """
        body = convert(value, OrderBody)
        for index, field in enumerate(body.fields):
            if field.source_id is None and not field.source_ids:
                raise Invalid(f"fields[{index}].source-id", "it is missing; it must be a field id of the schema")
        return cls(body, encode(value))

    @classmethod
    def unsorted(cls) -> SortOrder:
        """Order 0, without fields."""
        return cls.from_json({"order-id": UNSORTED_ID, "fields": []})

    def rewritten(self, *, order_id: int, source: Callable[[int], int] = int) -> SortOrder:
        """The same fields under another id; `source` maps the ids of source columns."""
        tree = decode(self.encoded, JsonObject)
        fields = tree["fields"]
        assert isinstance(fields, list)
        for field in fields:
            if field.get("source-id") is not None:
                field["source-id"] = source(field["source-id"])
            if field.get("source-ids"):
                field["source-ids"] = [source(source_id) for source_id in field["source-ids"]]
        return SortOrder.from_json(tree | {"order-id": order_id})

    def same_order(self, other: SortOrder) -> bool:
        """Whether both sort alike; their ids apart."""
        return self._meanings == other._meanings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortOrder) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"SortOrder({self.encoded.decode()})"


def check_order(order: SortOrder, schema: Schema) -> None:
    """Refuse an order that does not fit the schema.

    Raises:
        Invalid: a source column is missing, nested, or of a type that the transform can't take.
    """
    for index, field in enumerate(order.fields):
        try:
            check_source(schema, field.source, field.transform, what=f"sort field {index + 1}")
        except Invalid as finding:
            raise finding.below(f"fields[{index}]") from None
