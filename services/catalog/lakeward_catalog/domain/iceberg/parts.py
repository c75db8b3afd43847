"""A part of a metadata document: a JSON object kept as it was written, beside what the engine reads of it.

Members that the engine does not know live on in the bytes. A part never changes; a commit that does not touch it
carries the same object, so its bytes are neither parsed nor encoded again.
"""

from __future__ import annotations

from typing import Generic, Self, TypeVar, cast

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, convert, decode, encode

H = TypeVar("H", bound=msgspec.Struct)


class Part(Generic[H]):
    """A JSON object and its typed head.

    Attributes:
        head: the members that the engine reads.
        encoded: the whole object as compact JSON, unknown members included.
    """

    __slots__ = ("encoded", "head")
    HEAD: type[msgspec.Struct]

    def __init__(self, head: H, encoded: bytes) -> None:
        """`encoded` must decode to `head`; use `from_json` or `read_all` instead where it is not known to."""
        self.head = head
        self.encoded = encoded

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read one decoded object.

        Raises:
            Invalid: not an object, or a known member is missing or has the wrong type.
        """
        if not isinstance(value, dict):
            raise Invalid("", f"it must be an object, not {type(value).__name__}")
        return cls(cast("H", convert(value, cls.HEAD)), encode(value))

    @classmethod
    def from_raw(cls, raw: msgspec.Raw) -> Self:
        """Read one object that keeps its own bytes.

        Raises:
            Invalid: as `from_json`.
        """
        return cls(cast("H", decode(raw, cls.HEAD)), bytes(raw))

    @classmethod
    def read_all(cls, encoded: bytes | msgspec.Raw) -> list[Self]:
        """Read a JSON array of objects, each keeping its own bytes: two passes, both outside Python.

        Raises:
            Invalid: as `from_json`.
        """
        heads = decode(encoded, list[cls.HEAD])  # type: ignore[name-defined]
        raws = decode(encoded, list[msgspec.Raw])
        return [cls(cast("H", head), bytes(raw)) for head, raw in zip(heads, raws, strict=True)]

    def same_content(self, other: Part[H]) -> bool:
        """Whether both are the same JSON value; member order and spacing do not count."""
        return self.encoded == other.encoded or msgspec.json.decode(self.encoded) == msgspec.json.decode(other.encoded)

    def with_members(self, **members: object) -> Self:
        """The same object with some members set; an underscore in a name stands for a hyphen."""
        value = msgspec.json.decode(self.encoded)
        value.update({name.replace("_", "-"): member for name, member in members.items()})
        return type(self).from_json(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and type(self) is type(other) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.encoded.decode()})"
