"""Reading table metadata: quickly from our own bodies, with every check from foreign files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeVar

import msgspec

from lakeward_catalog.domain.iceberg.documents import (
    INT,
    LONG,
    TIME,
    Int,
    Invalid,
    JsonObject,
    decode,
    join,
    read_members,
)
from lakeward_catalog.domain.iceberg.history import History
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.partitioning import FIRST_FIELD_ID, PartitionSpec, with_legacy_ids
from lakeward_catalog.domain.iceberg.parts import Part
from lakeward_catalog.domain.iceberg.properties import check_codec, check_keys, check_version
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.snapshots import MAIN, NO_SNAPSHOT, Snapshot, SnapshotLogEntry, SnapshotRef
from lakeward_catalog.domain.iceberg.sorting import UNSORTED_ID, SortOrder
from lakeward_catalog.domain.iceberg.statistics import EncryptedKey, PartitionStatisticsFile, StatisticsFile
from lakeward_catalog.domain.iceberg.table import MetadataLogEntry, TableMetadata
from lakeward_catalog.domain.iceberg.validation import check_table

T = TypeVar("T")
P = TypeVar("P", bound=Part[Any])
Members = Mapping[str, msgspec.Raw]

KNOWN: Final = frozenset(
    {
        "format-version",
        "table-uuid",
        "location",
        "last-sequence-number",
        "last-updated-ms",
        "last-column-id",
        "schema",
        "current-schema-id",
        "schemas",
        "partition-spec",
        "default-spec-id",
        "partition-specs",
        "last-partition-id",
        "default-sort-order-id",
        "sort-orders",
        "properties",
        "current-snapshot-id",
        "next-row-id",
        "encryption-keys",
        "refs",
        "statistics",
        "partition-statistics",
        "metadata-log",
        "snapshots",
        "snapshot-log",
    }
)
_NULL: Final = b"null"


def parse_table(body: bytes) -> TableMetadata:
    """Read metadata that this engine encoded, without checking it again.

    Columns are read when they are first asked for, and of a snapshot only ids, sequence number and times.

    Raises:
        Refusal: INVALID_METADATA, for a body that is not table metadata at all.
    """
    try:
        return _parse(decode(body, dict[str, msgspec.Raw]), fresh_uuid=None)
    except Invalid as finding:
        raise invalid_metadata(finding) from None


def register_table(body: bytes, *, fresh_uuid: str, allowed_format_versions: Collection[int]) -> TableMetadata:
    """Read a metadata file of foreign origin.

    Args:
        body: the file, inflated.
        fresh_uuid: the table's UUID if the file has none, which format version 1 allows.
        allowed_format_versions: what the warehouse allows.

    Raises:
        Refusal: INVALID_METADATA with the path; INVALID_FORMAT_VERSION, FORMAT_VERSION_NOT_ALLOWED,
            PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION.
    """
    try:
        members = read_members(body)
        check_version(_required(members, "format-version", INT), allowed=allowed_format_versions)
        table = _parse(members, fresh_uuid=fresh_uuid)
        check_table(table)
    except Invalid as finding:
        raise invalid_metadata(finding) from None
    check_keys(table.properties)
    check_codec(table.properties)
    return table


def _parse(members: Members, *, fresh_uuid: str | None) -> TableMetadata:
    schemas = _schemas(members)
    specs = _specs(members)
    version = _required(members, "format-version", INT)
    current = _optional(members, "current-snapshot-id", LONG, NO_SNAPSHOT)
    orders = tuple(_each(members, "sort-orders", SortOrder)) or (SortOrder.unsorted(),)
    refs = _refs(members)
    if not refs and current != NO_SNAPSHOT:
        refs = {MAIN: SnapshotRef.branch(current)}
    last_partition_id = max(spec.last_field_id for spec in specs) if specs else FIRST_FIELD_ID - 1
    return TableMetadata(
        format_version=version,
        table_uuid=_required(members, "table-uuid", str)
        if fresh_uuid is None
        else _optional(members, "table-uuid", str, fresh_uuid),
        location=_required(members, "location", str),
        last_updated_ms=_required(members, "last-updated-ms", TIME),
        last_column_id=_required(members, "last-column-id", INT),
        schemas=schemas,
        current_schema_id=_optional(members, "current-schema-id", INT, schemas[-1].schema_id),
        partition_specs=specs,
        default_spec_id=_optional(members, "default-spec-id", INT, 0),
        last_partition_id=_optional(members, "last-partition-id", INT, last_partition_id),
        sort_orders=orders,
        default_sort_order_id=_optional(members, "default-sort-order-id", INT, UNSORTED_ID),
        last_sequence_number=_optional(members, "last-sequence-number", LONG, 0) if version > 1 else 0,
        properties=_optional(members, "properties", dict[str, str], {}),
        current_snapshot_id=None if current == NO_SNAPSHOT else current,
        next_row_id=_optional(members, "next-row-id", LONG, 0),
        encryption_keys=_parts(members, "encryption-keys", EncryptedKey),
        refs=refs,
        statistics=_parts(members, "statistics", StatisticsFile),
        partition_statistics=_parts(members, "partition-statistics", PartitionStatisticsFile),
        metadata_log=_parts(members, "metadata-log", MetadataLogEntry),
        extra={name: bytes(value) for name, value in members.items() if name not in KNOWN},
        snapshots=History.of(_parts(members, "snapshots", Snapshot)),
        snapshot_log=History.of(_parts(members, "snapshot-log", SnapshotLogEntry)),
    )


def _schemas(members: Members) -> tuple[Schema, ...]:
    raws = _optional(members, "schemas", list[msgspec.Raw], [])
    path = "schemas"
    if not raws:
        raws, path = [_required(members, "schema", msgspec.Raw)], "schema"
    return tuple(_schema(raw, path=f"{path}[{index}]") for index, raw in enumerate(raws))


class _SchemaId(msgspec.Struct, rename="kebab"):
    schema_id: Int | None = None


def _schema(raw: msgspec.Raw, *, path: str) -> Schema:
    try:
        schema_id = decode(raw, _SchemaId).schema_id
        return Schema(schema_id, bytes(raw)) if schema_id is not None else Schema.from_json(decode(raw, JsonObject))
    except Invalid as finding:
        raise finding.below(path) from None


def _specs(members: Members) -> tuple[PartitionSpec, ...]:
    if _present(members, "partition-specs"):
        specs = _each(members, "partition-specs", PartitionSpec)
    else:
        fields = _optional(members, "partition-spec", list[JsonObject], [])
        specs = [PartitionSpec.from_json({"spec-id": 0, "fields": fields})]
    return tuple(with_legacy_ids(spec) for spec in specs)


def _refs(members: Members) -> dict[str, SnapshotRef]:
    refs = {}
    for name, raw in _optional(members, "refs", dict[str, msgspec.Raw], {}).items():
        try:
            refs[name] = SnapshotRef.from_raw(raw)
        except Invalid as finding:
            raise finding.below(join("refs", name)) from None
    return refs


N = TypeVar("N", PartitionSpec, SortOrder)


def _each(members: Members, name: str, kind: type[N]) -> list[N]:
    found = []
    for index, value in enumerate(_optional(members, name, list[JsonObject], [])):
        try:
            found.append(kind.from_json(value))
        except Invalid as finding:
            raise finding.below(f"{name}[{index}]") from None
    return found


def _parts(members: Members, name: str, kind: type[P]) -> tuple[P, ...]:
    if not _present(members, name):
        return ()
    try:
        return tuple(kind.read_all(members[name]))
    except Invalid as finding:
        raise finding.below(name) from None


def _present(members: Members, name: str) -> bool:
    raw = members.get(name)
    return raw is not None and bytes(memoryview(raw)[:5]) != _NULL


def _optional(members: Members, name: str, kind: type[T], default: T) -> T:
    return _required(members, name, kind) if _present(members, name) else default


def _required(members: Members, name: str, kind: type[T]) -> T:
    if name not in members:
        raise Invalid(name, "it is missing")
    try:
        return decode(members[name], kind)
    except Invalid as finding:
        raise finding.below(name) from None
