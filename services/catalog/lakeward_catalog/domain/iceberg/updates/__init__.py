"""Updates of a commit: each is one frozen type and one function that applies it to the draft."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.updates import encryption, partitions, schemas, snapshots, sort_orders, statistics
from lakeward_catalog.domain.iceberg.updates import table as table_updates
from lakeward_catalog.domain.iceberg.updates.update import TABLE_UPDATES, Update

__all__ = [
    "TABLE_UPDATES",
    "Update",
    "encryption",
    "partitions",
    "schemas",
    "snapshots",
    "sort_orders",
    "statistics",
    "table_updates",
]
