"""Snapshots, the log of which one was current, and the named references to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, Long, Time, convert, decode, encode
from lakeward_catalog.domain.iceberg.numbers import LONG_MAX
from lakeward_catalog.domain.iceberg.parts import Part

MAIN: Final = "main"
NO_SNAPSHOT: Final = -1  # how files of formats 1 and 2 write that no snapshot is current
_MAX_DIGITS: Final = 19  # of a number of 64 bits
_KINDS: Final = ("data-files", "delete-files", "equality-delete-files", "position-delete-files", "dvs", "files-size")
_KINDS_OF_ROWS: Final = ("records", "position-deletes", "equality-deletes")
# What Iceberg's writers count in a summary, and add up from one snapshot to the next.
_COUNTS: Final = frozenset(
    f"{verb}-{kind}"
    for verb in ("added", "deleted", "removed", "total", "changed")
    for kind in (*_KINDS, *_KINDS_OF_ROWS, "partition-count")
)
Positive = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class SnapshotHead(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """What the engine reads of a snapshot. `sequence_number` is absent in format 1, and counts as 0."""

    snapshot_id: Long
    timestamp_ms: Time
    parent_snapshot_id: Long | None = None
    sequence_number: Count | None = None
    first_row_id: Count | None = None
    added_rows: Count | None = None


class Snapshot(Part[SnapshotHead]):
    """One state of the table's data."""

    __slots__ = ()
    HEAD = SnapshotHead

    @property
    def snapshot_id(self) -> int:
        """Its id."""
        return self.head.snapshot_id

    @property
    def sequence_number(self) -> int:
        """Its sequence number; 0 where none is written."""
        return self.head.sequence_number or 0


class _Manifested(msgspec.Struct, rename="kebab"):
    manifest_list: str | None = None
    manifests: list[str] | None = None
    summary: dict[str, str] | None = None
    schema_id: Int | None = None
    key_id: str | None = None


class SnapshotSummary(msgspec.Struct, frozen=True, rename="kebab"):
    """What is said of a snapshot to people who did not ask for it; the summary as it was written."""

    snapshot_id: Long
    timestamp_ms: Time
    parent_snapshot_id: Long | None = None
    sequence_number: Count | None = None
    schema_id: Int | None = None
    summary: msgspec.Raw = msgspec.Raw(b"{}")


_SUMMARIES: Final = msgspec.json.Decoder(SnapshotSummary)


def summary_of(snapshot: Snapshot) -> SnapshotSummary:
    """A snapshot of a table, without its files."""
    return _SUMMARIES.decode(snapshot.encoded)


def check_members(snapshot: Snapshot) -> None:
    """Refuse a snapshot of a file with a member of the wrong type, those among them that the engine does not read.

    Raises:
        Invalid: there is one.
    """
    decode(snapshot.encoded, _Manifested)


def check_new_snapshot(snapshot: Snapshot, *, format_version: int) -> None:
    """Refuse what readers of this format version could not read.

    Raises:
        Invalid: no manifest list, or a summary without an operation (both are optional in format 1); the id that stands for
            no snapshot; a count in the summary that is beyond 64 bits.
    """
    if snapshot.snapshot_id == NO_SNAPSHOT:
        raise Invalid("snapshot.snapshot-id", f"{NO_SNAPSHOT} stands for no snapshot; choose another id")
    body = convert(msgspec.json.decode(snapshot.encoded), _Manifested)
    if body.manifest_list is None and (format_version > 1 or body.manifests is None):
        raise Invalid("snapshot.manifest-list", "it is missing; it must be the location of the manifest list")
    if body.summary is None:
        if format_version > 1:
            raise Invalid("snapshot.summary", "it is missing; it must hold at least the operation")
    elif "operation" not in body.summary:
        raise Invalid("snapshot.summary.operation", "it is missing; it must be append, replace, overwrite or delete")
    else:
        _check_counts(body.summary)


def _check_counts(summary: Mapping[str, str]) -> None:
    for name in _COUNTS & summary.keys():
        text = summary[name]
        digits = text.removeprefix("-")
        # a longer text is no number of 64 bits, whatever it says, and is not read as one
        if digits.isdecimal() and (len(digits) > _MAX_DIGITS or not -LONG_MAX - 1 <= int(text) <= LONG_MAX):
            raise Invalid(f"snapshot.summary.{name}", f"{text[:_MAX_DIGITS]} is beyond 64 bits")


class SnapshotLogHead(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """When which snapshot became current."""

    snapshot_id: Long
    timestamp_ms: Time


class SnapshotLogEntry(Part[SnapshotLogHead]):
    """An entry of the snapshot log."""

    __slots__ = ()
    HEAD = SnapshotLogHead

    @classmethod
    def at(cls, *, snapshot_id: int, timestamp_ms: int) -> SnapshotLogEntry:
        """A new entry."""
        return cls(
            SnapshotLogHead(snapshot_id=snapshot_id, timestamp_ms=timestamp_ms),
            encode({"snapshot-id": snapshot_id, "timestamp-ms": timestamp_ms}),
        )

    @property
    def snapshot_id(self) -> int:
        """The snapshot that became current."""
        return self.head.snapshot_id


class SnapshotRefHead(msgspec.Struct, frozen=True, rename="kebab"):
    """A branch or a tag; the three limits are retention, in milliseconds and snapshots."""

    snapshot_id: Long
    type: Literal["branch", "tag"]
    min_snapshots_to_keep: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | None = None
    max_snapshot_age_ms: Positive | None = None
    max_ref_age_ms: Positive | None = None


class SnapshotRef(Part[SnapshotRefHead]):
    """A named reference to a snapshot."""

    __slots__ = ()
    HEAD = SnapshotRefHead

    @classmethod
    def branch(cls, snapshot_id: int) -> SnapshotRef:
        """A branch without retention limits."""
        return cls.from_json({"snapshot-id": snapshot_id, "type": "branch"})

    @property
    def snapshot_id(self) -> int:
        """The snapshot it points to."""
        return self.head.snapshot_id

    def in_place_of(self, known: SnapshotRef | None) -> SnapshotRef:
        """This reference, with the members of its predecessor that the engine does not know.

        A writer that does not know them either replaces the reference with each commit; it does not mean to drop them.
        """
        if known is None:
            return self
        old, new = decode(known.encoded, JsonObject), decode(self.encoded, JsonObject)
        kept = {name: member for name, member in old.items() if name not in _REF_MEMBERS and name not in new}
        return SnapshotRef.from_json(new | kept) if kept else self


_REF_MEMBERS: Final = frozenset(field.encode_name for field in msgspec.structs.fields(SnapshotRefHead))


def check_ref(name: str, ref: SnapshotRef) -> None:
    """Refuse a reference that no reader accepts.

    Raises:
        Invalid: main as a tag, an empty name, or a tag with a branch's retention limits.
    """
    if not name:
        raise Invalid("ref-name", "it is empty; a branch or tag needs a name")
    if ref.head.type == "tag":
        if name == MAIN:
            raise Invalid("type", "main is always a branch, never a tag")
        if ref.head.min_snapshots_to_keep is not None or ref.head.max_snapshot_age_ms is not None:
            raise Invalid(
                "type", f"tag {name!r} has min-snapshots-to-keep or max-snapshot-age-ms, which only branches have"
            )
