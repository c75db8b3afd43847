"""What is recorded of a generic table: one small JSON document, which nothing here reads a meaning into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, decode, malformed, read
from lakeward_servicekit.errors import Reason, Refusal

T = TypeVar("T")

MAX_FORMAT: Final = 64  # characters
MAX_DOCUMENT: Final = 1024 * 1024  # bytes of a schema, and of statistics, without spaces


class GenericMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded of a generic table.

    Attributes:
        format: opaque, as "lance".
        location: where its files lie, without a trailing slash; it never changes.
        schema: JSON without spaces, as it was given; b"" for none. Likewise `statistics`.
        registered: files lay at the location before the table did: they may be somebody's.
    """

    format: str
    location: str
    doc: str | None = None
    properties: Mapping[str, str] = {}
    schema: bytes = b""
    statistics: bytes = b""
    registered: bool = False

    def encode(self) -> bytes:
        """The whole document as JSON."""
        return msgspec.json.encode(
            _Stored(
                format=self.format,
                location=self.location,
                doc=self.doc,
                properties=dict(self.properties),
                schema=_raw(self.schema),
                statistics=_raw(self.statistics),
                registered=self.registered,
            )
        )


_NONE: Final = msgspec.Raw()


def _raw(text: bytes) -> msgspec.Raw:
    return msgspec.Raw(text) if text else _NONE


class _Stored(msgspec.Struct, omit_defaults=True, kw_only=True):
    format: str
    location: str
    doc: str | None = None
    properties: dict[str, str] = {}
    schema: msgspec.Raw = _NONE  # left out by the encoder, as it is the default itself
    statistics: msgspec.Raw = _NONE
    registered: bool = False


def parse_generic(text: bytes) -> GenericMetadata:
    """A document as `GenericMetadata.encode` writes it."""
    stored = decode(text, _Stored)
    return GenericMetadata(
        format=stored.format,
        location=stored.location,
        doc=stored.doc,
        properties=stored.properties,
        schema=bytes(stored.schema),
        statistics=bytes(stored.statistics),
        registered=stored.registered,
    )


class CreateGenericTable(msgspec.Struct, frozen=True, kw_only=True):
    """A generic table to make; see `GenericMetadata`."""

    name: str
    format: str
    location: str | None = None
    doc: str | None = None
    properties: Mapping[str, str] = {}
    schema: bytes = b""
    statistics: bytes = b""


class _Create(msgspec.Struct, rename="kebab"):
    name: str
    format: str
    base_location: str | None = None
    doc: str | None = None
    properties: dict[str, str] | None = None
    schema: msgspec.Raw = _NONE
    statistics: msgspec.Raw = _NONE


def parse_create(body: bytes) -> CreateGenericTable:
    """Read a createGenericTable request.

    Raises:
        Refusal: MALFORMED_DOCUMENT, with the path; INVALID_TABLE_FORMAT; TOO_LARGE.
    """
    asked = read_as(body, _Create)
    return CreateGenericTable(
        name=asked.name,
        format=checked_format(asked.format),
        location=asked.base_location,
        doc=asked.doc,
        properties=asked.properties or {},
        schema=checked_document("schema", asked.schema),
        statistics=checked_document("statistics", asked.statistics),
    )


def read_as(body: bytes, kind: type[T]) -> T:
    """A request as its class, once it is known to hold no more than any request may.

    Raises:
        Refusal: MALFORMED_DOCUMENT, with the path.
    """
    try:
        read(body)
        return decode(body, kind)
    except Invalid as finding:
        raise malformed(finding.path, finding.message) from None


def checked_format(text: str) -> str:
    """A format's name, without spaces around it. Any is welcome: what it means its readers know.

    Raises:
        Refusal: INVALID_TABLE_FORMAT.
    """
    name = text.strip()
    if name and len(name) <= MAX_FORMAT and name.isprintable():
        return name
    shown = text[:200]
    raise Refusal(
        Reason.REASON_INVALID_TABLE_FORMAT,
        f"format {shown!r} can't be one: give it 1 to {MAX_FORMAT} printable characters, as in 'lance' or 'delta'",
        format=shown,
    )


def checked_document(what: str, given: msgspec.Raw) -> bytes:
    """JSON without spaces; b"" for null and where none was given.

    Raises:
        Refusal: TOO_LARGE.
    """
    raw = bytes(given)
    text = msgspec.json.format(raw, indent=-1) if raw else b""
    if len(text) > MAX_DOCUMENT:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the {what} of a generic table has {len(text)} bytes; at most {MAX_DOCUMENT} are kept",
            what=what,
            limit=str(MAX_DOCUMENT),
        )
    return b"" if text == b"null" else text
