"""Updates of statistics files, by snapshot id; whether the snapshot exists is not asked."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Invalid, Long
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.statistics import PartitionStatisticsFile, StatisticsFile, replace
from lakeward_catalog.domain.iceberg.updates.update import Update, applies


class SetStatistics(Update, frozen=True):
    """Give a snapshot its statistics file; `snapshot-id` beside it is an older spelling of what the file says."""

    ACTION = "set-statistics"
    statistics: StatisticsFile
    snapshot_id: Long | None = None


class RemoveStatistics(Update, frozen=True):
    """Take a snapshot's statistics file away."""

    ACTION = "remove-statistics"
    snapshot_id: Long


class SetPartitionStatistics(Update, frozen=True):
    """Give a snapshot its partition statistics file."""

    ACTION = "set-partition-statistics"
    partition_statistics: PartitionStatisticsFile


class RemovePartitionStatistics(Update, frozen=True):
    """Take a snapshot's partition statistics file away."""

    ACTION = "remove-partition-statistics"
    snapshot_id: Long


@applies(SetStatistics)
def set_statistics(draft: Draft, update: SetStatistics) -> None:
    """Replaces what the snapshot had, by content."""
    if update.snapshot_id is not None and update.snapshot_id != update.statistics.snapshot_id:
        raise Invalid(
            "snapshot-id", f"it is {update.snapshot_id}, and the statistics' own is {update.statistics.snapshot_id}"
        )
    files = replace(draft.table.statistics, update.statistics)
    if files != draft.table.statistics:
        draft.change(statistics=files)


@applies(RemoveStatistics)
def remove_statistics(draft: Draft, update: RemoveStatistics) -> None:
    """A snapshot without any is ignored."""
    kept = tuple(file for file in draft.table.statistics if file.snapshot_id != update.snapshot_id)
    if len(kept) != len(draft.table.statistics):
        draft.change(statistics=kept)


@applies(SetPartitionStatistics)
def set_partition_statistics(draft: Draft, update: SetPartitionStatistics) -> None:
    """Replaces what the snapshot had, by content."""
    files = replace(draft.table.partition_statistics, update.partition_statistics)
    if files != draft.table.partition_statistics:
        draft.change(partition_statistics=files)


@applies(RemovePartitionStatistics)
def remove_partition_statistics(draft: Draft, update: RemovePartitionStatistics) -> None:
    """A snapshot without any is ignored."""
    kept = tuple(file for file in draft.table.partition_statistics if file.snapshot_id != update.snapshot_id)
    if len(kept) != len(draft.table.partition_statistics):
        draft.change(partition_statistics=kept)
