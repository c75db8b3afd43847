"""View metadata as an immutable value, and reading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, decode, encode, encode_text, read_members
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.parts import Part
from lakeward_catalog.domain.iceberg.properties import check_codec, check_keys
from lakeward_catalog.domain.iceberg.schema import Schema, check_schema
from lakeward_catalog.domain.iceberg.views.version import (
    VersionLogEntry,
    VersionLogHead,
    ViewVersion,
    ViewVersionHead,
    check_version,
)

FORMAT_VERSION: Final = 1


class ViewMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """A view's metadata. `extra` holds members that the engine does not know, as JSON by name."""

    view_uuid: str
    location: str
    schemas: tuple[Schema, ...]
    current_version_id: int
    versions: tuple[ViewVersion, ...]
    version_log: tuple[VersionLogEntry, ...]
    properties: Mapping[str, str] = {}
    extra: Mapping[str, bytes] = {}

    @property
    def current_version(self) -> ViewVersion:
        """The version that readers use."""
        return next(version for version in self.versions if version.version_id == self.current_version_id)

    def encode(self) -> bytes:
        """The whole document as compact JSON."""
        members = (
            (b"view-uuid", encode_text(self.view_uuid)),
            (b"format-version", b"%d" % FORMAT_VERSION),
            (b"location", encode_text(self.location)),
            (b"schemas", b"[" + b",".join([schema.encoded for schema in self.schemas]) + b"]"),
            (b"current-version-id", b"%d" % self.current_version_id),
            (b"versions", _array(self.versions)),
            (b"version-log", _array(self.version_log)),
            (b"properties", encode(self.properties)),
        )
        known = b",".join([b'"' + name + b'":' + value for name, value in members])
        unknown = b"".join([b"," + encode_text(name) + b":" + value for name, value in self.extra.items()])
        return b"{" + known + unknown + b"}"


def _array(parts: Sequence[Part[ViewVersionHead]] | Sequence[Part[VersionLogHead]]) -> bytes:
    return b"[" + b",".join([part.encoded for part in parts]) + b"]"


class _View(msgspec.Struct, rename="kebab"):
    view_uuid: str
    format_version: Int
    location: str
    schemas: list[Schema]
    current_version_id: Int
    versions: list[ViewVersion]
    version_log: list[VersionLogEntry]
    properties: dict[str, str] | None = None


_KNOWN: Final = frozenset(field.encode_name for field in msgspec.structs.fields(_View))


def parse_view(body: bytes) -> ViewMetadata:
    """Read metadata that this engine encoded.

    Raises:
        Refusal: INVALID_METADATA, for a body that is not view metadata at all.
    """
    try:
        return _parse(body)
    except Invalid as finding:
        raise invalid_metadata(finding) from None


def register_view(body: bytes) -> ViewMetadata:
    """Read a metadata file of foreign origin, with every check.

    Raises:
        Refusal: INVALID_METADATA with the path, PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION.
    """
    try:
        view = _parse(encode(read_members(body)))
        _check(view)
    except Invalid as finding:
        raise invalid_metadata(finding) from None
    check_keys(view.properties)
    check_codec(view.properties)
    return view


def _parse(body: bytes) -> ViewMetadata:
    view = decode(body, _View)
    if view.format_version != FORMAT_VERSION:
        raise Invalid("format-version", f"it is {view.format_version}; it must be 1")
    members = decode(body, dict[str, msgspec.Raw])
    return ViewMetadata(
        view_uuid=view.view_uuid,
        location=view.location,
        schemas=tuple(view.schemas),
        current_version_id=view.current_version_id,
        versions=tuple(view.versions),
        version_log=tuple(view.version_log),
        properties=view.properties or {},
        extra={name: bytes(value) for name, value in members.items() if name not in _KNOWN},
    )


def _check(view: ViewMetadata) -> None:
    schema_ids = [schema.schema_id for schema in view.schemas]
    version_ids = [version.version_id for version in view.versions]
    if len(set(version_ids)) != len(version_ids):
        raise Invalid("versions", f"an id is used twice: {version_ids}")
    if len(set(schema_ids)) != len(schema_ids):
        raise Invalid("schemas", f"an id is used twice: {schema_ids}")
    if view.current_version_id not in version_ids:
        raise Invalid("current-version-id", f"it is {view.current_version_id}, which is none of {version_ids}")
    for index, schema in enumerate(view.schemas):
        try:
            check_schema(schema, format_version=None)
        except Invalid as finding:
            raise finding.below(f"schemas[{index}]") from None
    for index, version in enumerate(view.versions):
        try:
            check_version(version)
        except Invalid as finding:
            raise finding.below(f"versions[{index}]") from None
        if version.head.schema_id not in schema_ids:
            raise Invalid(f"versions[{index}].schema-id", f"schema {version.head.schema_id} does not exist")
