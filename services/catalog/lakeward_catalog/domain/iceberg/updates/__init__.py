"""Updates of a commit: each is one frozen type and one function that applies it to the draft."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.updates import encryption, partitions, schemas, snapshots, sort_orders, statistics
from lakeward_catalog.domain.iceberg.updates import table as table_updates
from lakeward_catalog.domain.iceberg.updates.update import ACTIONS, Update, apply_update, read_update

__all__ = [
    "ACTIONS",
    "Update",
    "apply_update",
    "encryption",
    "partitions",
    "read_update",
    "schemas",
    "snapshots",
    "sort_orders",
    "statistics",
    "table_updates",
]
