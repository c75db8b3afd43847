"""Updates of snapshots and of the references to them."""

from __future__ import annotations

from typing import Final, Self

from lakeward_catalog.domain.iceberg.documents import Invalid, JsonObject, Long, convert
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.numbers import sum_of
from lakeward_catalog.domain.iceberg.requirements import conflict
from lakeward_catalog.domain.iceberg.snapshots import MAIN, Snapshot, SnapshotRef, check_new_snapshot, check_ref
from lakeward_catalog.domain.iceberg.updates.update import Update, applies
from lakeward_catalog.domain.iceberg.validation import CLOCK_SKEW_MS

V3: Final = 3


class AddSnapshot(Update, frozen=True):
    """Add a snapshot; no reference points to it yet."""

    ACTION = "add-snapshot"
    snapshot: Snapshot


class SetSnapshotRef(Update, frozen=True):
    """Point a branch or tag at a snapshot, with its retention limits."""

    ACTION = "set-snapshot-ref"
    ref_name: str
    ref: SnapshotRef

    @classmethod
    def from_wire(cls, value: JsonObject) -> Self:
        """Read it; the reference's members stand beside the name."""
        name = convert(value.get("ref-name"), str) if "ref-name" in value else None
        if name is None:
            raise Invalid("ref-name", "it is missing; it must be the branch's or tag's name")
        members = {key: member for key, member in value.items() if key not in {"action", "ref-name"}}
        limits = {key: member for key, member in members.items() if member is not None}
        return cls(ref_name=name, ref=SnapshotRef.from_json(limits))


class RemoveSnapshots(Update, frozen=True):
    """Remove snapshots, with their statistics and the references to them."""

    ACTION = "remove-snapshots"
    snapshot_ids: tuple[Long, ...]


class RemoveSnapshotRef(Update, frozen=True):
    """Remove a branch or tag."""

    ACTION = "remove-snapshot-ref"
    ref_name: str


@applies(AddSnapshot)
def add_snapshot(draft: Draft, update: AddSnapshot) -> None:
    """Its id must be new, its sequence number and first row id ahead of the table's, its time not behind the logs'."""
    snapshot, table = update.snapshot, draft.table
    check_new_snapshot(snapshot, format_version=table.format_version)
    if table.snapshots.find(snapshot.snapshot_id) is not None:
        raise Invalid("snapshot.snapshot-id", f"snapshot {snapshot.snapshot_id} exists")
    if draft.snapshots_removed and draft.base.snapshots.find(snapshot.snapshot_id) is not None:
        raise Invalid("snapshot.snapshot-id", f"snapshot {snapshot.snapshot_id} is removed by this commit")
    _check_time(draft, snapshot)
    _check_sequence(draft, snapshot)
    draft.change(
        snapshots=table.snapshots.append(snapshot),
        last_sequence_number=max(table.last_sequence_number, snapshot.sequence_number),
        next_row_id=_next_row_id(draft, snapshot),
    )
    draft.added[snapshot.snapshot_id] = snapshot
    draft.snapshot_time = snapshot.head.timestamp_ms


def _check_time(draft: Draft, snapshot: Snapshot) -> None:
    newest = draft.table.snapshot_log.last
    logged = draft.base.last_updated_ms if newest is None else max(newest.head.timestamp_ms, draft.base.last_updated_ms)
    if snapshot.head.timestamp_ms < logged - CLOCK_SKEW_MS:
        raise Invalid(
            "snapshot.timestamp-ms",
            f"{snapshot.head.timestamp_ms} is more than a minute before the table's last change, at {logged}",
        )


def _check_sequence(draft: Draft, snapshot: Snapshot) -> None:
    table, number = draft.table, snapshot.head.sequence_number
    if table.format_version == 1:
        if number:
            raise Invalid("snapshot.sequence-number", f"it is {number}; format version 1 has none but 0")
        return
    if number is None:
        raise Invalid("snapshot.sequence-number", "it is missing; from format version 2 on every snapshot has one")
    if number <= table.last_sequence_number and snapshot.head.parent_snapshot_id is not None:
        raise conflict(
            draft.object_name,
            "sequence-number",
            f"a snapshot has sequence number {number}, and the table is at {table.last_sequence_number} already",
        )


def _next_row_id(draft: Draft, snapshot: Snapshot) -> int:
    table, first, added = draft.table, snapshot.head.first_row_id, snapshot.head.added_rows
    if table.format_version < V3:
        return table.next_row_id
    if first is None or added is None:
        missing = "first-row-id" if first is None else "added-rows"
        raise Invalid(f"snapshot.{missing}", "it is missing; from format version 3 on every snapshot has it")
    if first < table.next_row_id:
        raise conflict(
            draft.object_name,
            "first-row-id",
            f"a snapshot starts at row id {first}, and the table is at {table.next_row_id} already",
        )
    return sum_of(first, added, path="snapshot.added-rows", what="the next row id")


@applies(SetSnapshotRef)
def set_snapshot_ref(draft: Draft, update: SetSnapshotRef) -> None:
    """The snapshot must exist. Main moves the current snapshot and is logged; an equal reference changes nothing."""
    check_ref(update.ref_name, update.ref)
    known = draft.table.refs.get(update.ref_name)
    ref = update.ref.in_place_of(known)
    snapshot_id = ref.snapshot_id
    if snapshot_id not in draft.added and draft.table.snapshots.find(snapshot_id) is None:
        raise Invalid("snapshot-id", f"{update.ref_name!r} can't point to snapshot {snapshot_id}, which does not exist")
    if known is not None and known.same_content(ref):
        return
    draft.change(refs={**draft.table.refs, update.ref_name: ref})
    if update.ref_name == MAIN:
        draft.make_current(snapshot_id)


@applies(RemoveSnapshots)
def remove_snapshots(draft: Draft, update: RemoveSnapshots) -> None:
    """Unknown ids are ignored; branches and tags that point to one vanish. Main is judged when all updates are done."""
    table = draft.table
    gone = table.snapshots.ids().intersection(update.snapshot_ids)
    if not gone:
        return
    draft.snapshots_removed = True
    refs = {name: ref for name, ref in table.refs.items() if name == MAIN or ref.snapshot_id not in gone}
    draft.change(
        snapshots=table.snapshots.without(gone),
        refs=refs,
        statistics=tuple(file for file in table.statistics if file.snapshot_id not in gone),
        partition_statistics=tuple(file for file in table.partition_statistics if file.snapshot_id not in gone),
    )
    for snapshot_id in gone:
        draft.added.pop(snapshot_id, None)


@applies(RemoveSnapshotRef)
def remove_snapshot_ref(draft: Draft, update: RemoveSnapshotRef) -> None:
    """An unknown one is ignored; main takes the current snapshot with it."""
    if update.ref_name in draft.table.refs:
        draft.remove_ref(update.ref_name)
