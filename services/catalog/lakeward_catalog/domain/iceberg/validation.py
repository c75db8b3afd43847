"""What must hold within table metadata of foreign origin, so that every reader can read it."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.partitioning import check_bound, check_names
from lakeward_catalog.domain.iceberg.schema import check_schema
from lakeward_catalog.domain.iceberg.snapshots import MAIN, NO_SNAPSHOT, check_members, check_ref
from lakeward_catalog.domain.iceberg.sorting import check_order
from lakeward_catalog.domain.iceberg.table import TableMetadata

CLOCK_SKEW_MS: Final = 60_000  # by how much Iceberg's readers let a log run backwards


def check_table(table: TableMetadata) -> None:
    """Refuse metadata that contradicts itself.

    Raises:
        Invalid: with the path of what is wrong.
    """
    _check_ids(table)
    _check_schemas(table)
    _check_snapshots(table)
    _check_logs(table)


def _check_ids(table: TableMetadata) -> None:
    if not table.location:
        raise Invalid("location", "it is empty")
    for path, wanted, ids in (
        ("current-schema-id", table.current_schema_id, [schema.schema_id for schema in table.schemas]),
        ("default-spec-id", table.default_spec_id, [spec.spec_id for spec in table.partition_specs]),
        ("default-sort-order-id", table.default_sort_order_id, [order.order_id for order in table.sort_orders]),
    ):
        if wanted not in ids:
            raise Invalid(path, f"it is {wanted}, which is none of {ids}")
        if len(set(ids)) != len(ids):
            raise Invalid(path, f"an id is used twice: {ids}")
    for order in table.sort_orders:
        if (order.order_id == 0) != (not order.fields):
            raise Invalid(
                "sort-orders", f"order {order.order_id} has {len(order.fields)} fields; id 0 is the unsorted one"
            )


def _check_schemas(table: TableMetadata) -> None:
    for index, schema in enumerate(table.schemas):
        try:
            check_schema(schema, format_version=table.format_version)
        except Invalid as finding:
            raise finding.below(f"schemas[{index}]") from None
    try:
        check_bound(table.default_spec, table.current_schema)
    except Invalid as finding:
        raise finding.below("partition-specs") from None
    try:
        check_names(table.partition_specs, table.current_schema)
    except Invalid as finding:
        raise finding.below("partition-specs") from None
    try:
        check_order(table.default_sort_order, table.current_schema)
    except Invalid as finding:
        raise finding.below("sort-orders") from None


def _check_snapshots(table: TableMetadata) -> None:
    for index, snapshot in enumerate(table.snapshots):
        try:
            check_members(snapshot)
        except Invalid as finding:
            raise finding.below(f"snapshots[{index}]") from None
    ids = table.snapshots.ids()
    if len(ids) != len(table.snapshots):
        raise Invalid("snapshots", "a snapshot id is used twice")
    if NO_SNAPSHOT in ids:
        raise Invalid("snapshots", f"{NO_SNAPSHOT} stands for no snapshot, and a snapshot has it as its id")
    if table.current_snapshot_id is not None and table.current_snapshot_id not in ids:
        raise Invalid("current-snapshot-id", f"it is {table.current_snapshot_id}, which is not among the snapshots")
    for name, ref in table.refs.items():
        check_ref(name, ref)
        if ref.snapshot_id not in ids:
            raise Invalid(f"refs.{name}", f"it points to {ref.snapshot_id}, which is not among the snapshots")
    main = table.refs.get(MAIN)
    if (None if main is None else main.snapshot_id) != table.current_snapshot_id:
        raise Invalid("refs.main", "it does not point to the current snapshot")
    highest = max((snapshot.sequence_number for snapshot in table.snapshots), default=0)
    if highest > table.last_sequence_number:
        raise Invalid("last-sequence-number", f"it is {table.last_sequence_number}, but a snapshot has {highest}")


def _check_logs(table: TableMetadata) -> None:
    last = None
    for entry in table.snapshot_log:
        if last is not None and entry.head.timestamp_ms < last - CLOCK_SKEW_MS:
            raise Invalid("snapshot-log", f"it runs backwards by more than a minute, to {entry.head.timestamp_ms}")
        last = entry.head.timestamp_ms
    newest = table.snapshot_log.last
    if newest is not None and table.current_snapshot_id is not None and newest.snapshot_id != table.current_snapshot_id:
        raise Invalid("snapshot-log", "its last entry is not the current snapshot")
    if last is not None and table.last_updated_ms < last - CLOCK_SKEW_MS:
        raise Invalid("last-updated-ms", "it is more than a minute before the last entry of the snapshot log")
    last = None
    for previous in table.metadata_log:
        if last is not None and previous.head.timestamp_ms < last - CLOCK_SKEW_MS:
            raise Invalid("metadata-log", f"it runs backwards by more than a minute, to {previous.head.timestamp_ms}")
        last = previous.head.timestamp_ms
    if last is not None and table.last_updated_ms < last - CLOCK_SKEW_MS:
        raise Invalid("last-updated-ms", "it is more than a minute before the last entry of the metadata log")
