"""Table metadata as a value: immutable, sharing with its predecessor whatever a commit did not touch."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, Time, encode, encode_text
from lakeward_catalog.domain.iceberg.history import Chunk, History
from lakeward_catalog.domain.iceberg.partitioning import PartitionSpec
from lakeward_catalog.domain.iceberg.parts import Part
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.snapshots import Snapshot, SnapshotLogEntry, SnapshotRef
from lakeward_catalog.domain.iceberg.sorting import SortOrder
from lakeward_catalog.domain.iceberg.statistics import EncryptedKey, PartitionStatisticsFile, StatisticsFile

V3: Final = 3


class MetadataLogHead(msgspec.Struct, frozen=True, rename="kebab"):
    """An earlier metadata file, and when it was written."""

    metadata_file: str
    timestamp_ms: Time


class MetadataLogEntry(Part[MetadataLogHead]):
    """An entry of the metadata log."""

    __slots__ = ()
    HEAD = MetadataLogHead


class Selection(enum.Enum):
    """Which snapshots a reader asked for."""

    ALL = "all"
    REFS = "refs"


class Segments(NamedTuple):
    """Encoded metadata in pieces, so that what did not change need not be joined or compressed again.

    The document is `head`, the snapshots joined by commas, `MIDDLE`, the log entries joined by commas, `END`.

    Attributes:
        head: all members but snapshots and snapshot-log, ending in `"snapshots":[`.
        snapshots: their chunks; `chunk.encoded` is a chunk's JSON, and full chunks keep their identity across commits.
        snapshot_log: likewise.
    """

    head: bytes
    snapshots: tuple[Chunk[Snapshot], ...]
    snapshot_log: tuple[Chunk[SnapshotLogEntry], ...]

    def join(self) -> bytes:
        """The whole document."""
        return b"".join((self.head, _joined(self.snapshots), MIDDLE, _joined(self.snapshot_log), END))


_ENCODED: Final = operator.attrgetter("encoded")
MIDDLE: Final = b'],"snapshot-log":['
END: Final = b"]}"


class TableMetadata(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A table's metadata. `extra` holds members that the engine does not know, as JSON by name."""

    format_version: int
    table_uuid: str
    location: str
    last_updated_ms: int
    last_column_id: int
    schemas: tuple[Schema, ...]
    current_schema_id: int
    partition_specs: tuple[PartitionSpec, ...]
    default_spec_id: int
    last_partition_id: int
    sort_orders: tuple[SortOrder, ...]
    default_sort_order_id: int
    last_sequence_number: int = 0
    properties: Mapping[str, str] = {}
    current_snapshot_id: int | None = None
    next_row_id: int = 0
    encryption_keys: tuple[EncryptedKey, ...] = ()
    refs: Mapping[str, SnapshotRef] = {}
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[PartitionStatisticsFile, ...] = ()
    metadata_log: tuple[MetadataLogEntry, ...] = ()
    extra: Mapping[str, bytes] = {}
    snapshots: History[Snapshot] = History()
    snapshot_log: History[SnapshotLogEntry] = History()

    @property
    def current_schema(self) -> Schema:
        """The schema that writers use.

        Raises:
            Invalid: none is current yet, in a table that a commit is still building.
        """
        for schema in self.schemas:
            if schema.schema_id == self.current_schema_id:
                return schema
        raise Invalid("", "no schema is current yet; make one current before what is bound to it")

    @property
    def default_spec(self) -> PartitionSpec:
        """The partition spec that writers use."""
        return next(spec for spec in self.partition_specs if spec.spec_id == self.default_spec_id)

    @property
    def default_sort_order(self) -> SortOrder:
        """The sort order that writers use."""
        return next(order for order in self.sort_orders if order.order_id == self.default_sort_order_id)

    def segments(self, selection: Selection = Selection.ALL) -> Segments:
        """The encoded document in pieces; REFS leaves out snapshots that no branch or tag points to, and nothing else."""
        snapshots = self.snapshots
        if selection is Selection.REFS:
            snapshots = snapshots.only({ref.snapshot_id for ref in self.refs.values()})
        return Segments(self._head(), snapshots.chunks, self.snapshot_log.chunks)

    def encode(self, selection: Selection = Selection.ALL) -> bytes:
        """The whole document as compact JSON."""
        return self.segments(selection).join()

    def _head(self) -> bytes:
        members: list[tuple[bytes, bytes]] = [
            (b"format-version", b"%d" % self.format_version),
            (b"table-uuid", encode_text(self.table_uuid)),
            (b"location", encode_text(self.location)),
        ]
        if self.format_version > 1:
            members.append((b"last-sequence-number", b"%d" % self.last_sequence_number))
        members += [
            (b"last-updated-ms", b"%d" % self.last_updated_ms),
            (b"last-column-id", b"%d" % self.last_column_id),
        ]
        if self.format_version == 1:  # readers of the first format know these two alone
            members += [
                (b"schema", self.current_schema.encoded),
                (b"partition-spec", encode(msgspec.json.decode(self.default_spec.encoded)["fields"])),
            ]
        members += [
            (b"current-schema-id", b"%d" % self.current_schema_id),
            (b"schemas", _array(self.schemas)),
            (b"default-spec-id", b"%d" % self.default_spec_id),
            (b"partition-specs", _array(self.partition_specs)),
            (b"last-partition-id", b"%d" % self.last_partition_id),
            (b"default-sort-order-id", b"%d" % self.default_sort_order_id),
            (b"sort-orders", _array(self.sort_orders)),
            (b"properties", encode(self.properties)),
            (b"current-snapshot-id", self._current_snapshot()),
        ]
        if self.format_version >= V3:
            members.append((b"next-row-id", b"%d" % self.next_row_id))
        if self.encryption_keys:
            members.append((b"encryption-keys", _array(self.encryption_keys)))
        refs = b",".join([encode_text(name) + b":" + ref.encoded for name, ref in self.refs.items()])
        members += [
            (b"refs", b"{" + refs + b"}"),
            (b"statistics", _array(self.statistics)),
            (b"partition-statistics", _array(self.partition_statistics)),
            (b"metadata-log", _array(self.metadata_log)),
        ]
        known = b",".join([b'"' + name + b'":' + value for name, value in members])
        unknown = b"".join([b"," + encode_text(name) + b":" + value for name, value in self.extra.items()])
        return b"{" + known + unknown + b',"snapshots":['

    def _current_snapshot(self) -> bytes:
        if self.current_snapshot_id is not None:
            return b"%d" % self.current_snapshot_id
        return b"null" if self.format_version >= V3 else b"-1"  # what readers of each format take for "none"


def _array(
    parts: Iterable[
        Schema
        | PartitionSpec
        | SortOrder
        | Part[MetadataLogHead]
        | StatisticsFile
        | PartitionStatisticsFile
        | EncryptedKey
    ],
) -> bytes:
    return b"[" + b",".join(map(_ENCODED, parts)) + b"]"


def _joined(chunks: tuple[Chunk[Snapshot], ...] | tuple[Chunk[SnapshotLogEntry], ...]) -> bytes:
    return b",".join(map(_ENCODED, chunks))
