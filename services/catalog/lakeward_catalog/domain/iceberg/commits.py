"""Applying a commit to a table: requirements, updates, and what must hold at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, encode
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.history import History
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.partitioning import FIRST_FIELD_ID, PartitionSpec, check_bound, check_names
from lakeward_catalog.domain.iceberg.properties import KNOWN_VERSIONS, previous_versions_max
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.iceberg.requirements import Requirement, check_table_requirements, conflict
from lakeward_catalog.domain.iceberg.snapshots import SnapshotLogEntry
from lakeward_catalog.domain.iceberg.sorting import UNSORTED_ID, SortOrder, check_order
from lakeward_catalog.domain.iceberg.table import MetadataLogEntry, MetadataLogHead, TableMetadata
from lakeward_catalog.domain.iceberg.updates import TABLE_UPDATES, Update
from lakeward_catalog.domain.iceberg.updates.table import AssignUuid, SetLocation

ALL_VERSIONS: Final = frozenset(KNOWN_VERSIONS)
_NONE: Final = -1  # of a table that is being built: no schema, spec or order is current yet


class TableCommit(msgspec.Struct, frozen=True):
    """What a commit makes.

    Attributes:
        metadata: the table after it.
        changed: False where the updates changed nothing; then `metadata` is the base and no file need be written.
        trimmed: metadata files that fell out of the log and are not named in it still, each once, oldest first.
            `files.deletable` says which may be deleted.
    """

    metadata: TableMetadata
    changed: bool
    trimmed: tuple[str, ...] = ()


def apply_to_table(  # noqa: PLR0913 - pure, so all that it depends on is named
    base: TableMetadata,
    requirements: Iterable[Requirement],
    updates: Iterable[Update],
    *,
    object_name: str,
    now_ms: int,
    previous_file: str | None,
    staged: bool = False,
    allowed_format_versions: Collection[int] = ALL_VERSIONS,
) -> TableCommit:
    """Check the requirements against the base, then apply the updates in order.

    Costs what the updates touch: snapshots and log entries that stay are neither read nor encoded.

    Args:
        base: the table, or the staged metadata of one that is being created.
        requirements: of the request.
        updates: of the request.
        object_name: how messages call the table: "ns.t".
        now_ms: the time, in milliseconds since the epoch.
        previous_file: the base's metadata file, for the log; None where it has none.
        staged: whether the base is staged; then the commit creates the table, and always changes something.
        allowed_format_versions: what the warehouse allows to upgrade to.

    Raises:
        Refusal: COMMIT_CONFLICT for a requirement that does not hold, a sequence number or first row id that is
            behind, and a result that another commit made impossible. INVALID_UPDATE for an update that can't be
            applied, or the reason that names why: ASSIGN_UUID_NOT_ALLOWED, SET_LOCATION_NOT_ALLOWED,
            PROPERTY_FORBIDDEN, IMMUTABLE_PROPERTY, UNSUPPORTED_COMPRESSION, INVALID_FORMAT_VERSION,
            FORMAT_VERSION_NOT_ALLOWED.
    """
    check_table_requirements(requirements, base, object_name=object_name, staged=staged)
    draft = Draft(base, object_name=object_name, now_ms=now_ms, allowed_format_versions=allowed_format_versions)
    TABLE_UPDATES.apply(draft, updates, object_name=draft.object_name)
    if draft.table is base and not staged:
        return TableCommit(base, changed=False)
    return _finish(draft, previous_file)


def build_table(
    request: CommitRequest,
    *,
    table_uuid: str,
    location: str,
    format_version: int,
    object_name: str,
    now_ms: int,
    allowed_format_versions: Collection[int] = ALL_VERSIONS,
) -> TableMetadata:
    """The table that a commit with `assert-create` makes where nothing was staged: from its updates alone.

    Ids of columns and partition fields are the request's. A table without a spec is unpartitioned, one without an order unsorted.

    Args:
        request: its UUID and location were chosen from already; they are not applied again.
        table_uuid: the table's.
        location: where it is.
        format_version: what it begins with.
        object_name: how messages call the table: "ns.t".
        now_ms: the time, in milliseconds since the epoch.
        allowed_format_versions: what the warehouse allows to upgrade to.

    Raises:
        Refusal: INVALID_METADATA where no schema, or none of its specs or orders, is made current; as `apply_to_table`.
    """
    base = TableMetadata(
        format_version=format_version,
        table_uuid=table_uuid,
        location=location.rstrip("/"),
        last_updated_ms=0,
        last_column_id=0,
        schemas=(),
        current_schema_id=_NONE,
        partition_specs=(),
        default_spec_id=_NONE,
        last_partition_id=FIRST_FIELD_ID - 1,
        sort_orders=(),
        default_sort_order_id=_NONE,
    )
    check_table_requirements(request.requirements, base, object_name=object_name, staged=True)
    draft = Draft(base, object_name=object_name, now_ms=now_ms, allowed_format_versions=allowed_format_versions)
    TABLE_UPDATES.apply(
        draft,
        [update for update in request.updates if not isinstance(update, (AssignUuid, SetLocation))],
        object_name=draft.object_name,
    )
    if not draft.table.partition_specs:
        draft.change(partition_specs=(PartitionSpec.unpartitioned(),), default_spec_id=0)
    if not draft.table.sort_orders:
        draft.change(sort_orders=(SortOrder.unsorted(),), default_sort_order_id=UNSORTED_ID)
    for what, current in (
        ("set-current-schema", draft.table.current_schema_id),
        ("set-default-spec", draft.table.default_spec_id),
        ("set-default-sort-order", draft.table.default_sort_order_id),
    ):
        if current == _NONE:
            raise invalid_metadata(
                Invalid("updates", f"{object_name} does not exist, so they must make it: add {what}")
            )
    return _finish(draft, None).metadata


def _finish(draft: Draft, previous_file: str | None) -> TableCommit:
    _check_current(draft)
    _check_bindings(draft)
    draft.change(
        snapshot_log=_snapshot_log(draft),
        last_updated_ms=draft.now_ms if draft.snapshot_time is None else draft.snapshot_time,
    )
    trimmed = _log_previous(draft, previous_file)
    return TableCommit(draft.table, changed=True, trimmed=trimmed)


def _check_current(draft: Draft) -> None:
    current = draft.table.current_snapshot_id
    if draft.snapshots_removed and current is not None and draft.table.snapshots.find(current) is None:
        # Whoever removed it may have read the table before main was moved back to it: emptying the table would lose
        # data, while a fresh read keeps the snapshot.
        raise conflict(draft.object_name, "remove-snapshots", f"snapshot {current} is the current one of main")


def _check_bindings(draft: Draft) -> None:
    base, table = draft.base, draft.table
    if (
        table.schemas is base.schemas
        and table.partition_specs is base.partition_specs
        and table.sort_orders is base.sort_orders
        and table.current_schema_id == base.current_schema_id
        and table.default_spec_id == base.default_spec_id
        and table.default_sort_order_id == base.default_sort_order_id
    ):
        return
    what = "default-spec"
    try:
        check_bound(table.default_spec, table.current_schema)
        what = "default-sort-order"
        check_order(table.default_sort_order, table.current_schema)
        what = "partition-names"
        check_names(table.partition_specs, table.current_schema)
    except Invalid as finding:
        raise conflict(draft.object_name, what, f"it does not fit the current schema, {finding.message}") from None


def _snapshot_log(draft: Draft) -> History[SnapshotLogEntry]:
    """The log without snapshots that this commit both added and superseded, and without what a removal cuts off."""
    log, current = draft.table.snapshot_log, draft.table.current_snapshot_id
    if draft.became_current:
        passing = {snapshot_id for snapshot_id in draft.became_current if snapshot_id in draft.added} - {current}
        if passing:
            log = log.without(passing)
    if not draft.snapshots_removed:
        return log
    gone = log.ids() - draft.table.snapshots.ids()
    # History before a gap would claim that a snapshot was current when it was not.
    return log.after_last(gone) if gone else log


def _log_previous(draft: Draft, previous_file: str | None) -> tuple[str, ...]:
    if previous_file is None:
        return ()
    head = MetadataLogHead(metadata_file=previous_file, timestamp_ms=draft.base.last_updated_ms)
    entry = MetadataLogEntry(head, encode({"metadata-file": previous_file, "timestamp-ms": head.timestamp_ms}))
    log = (*draft.table.metadata_log, entry)
    keep = previous_versions_max(draft.table.properties)
    trimmed, kept = log[:-keep], log[-keep:]
    draft.change(metadata_log=kept)
    if not trimmed:
        return ()
    # A log that came with a file can name one file twice, the file itself among them.
    still = {entry.head.metadata_file for entry in kept}
    return tuple(dict.fromkeys(old.head.metadata_file for old in trimmed if old.head.metadata_file not in still))
