"""Places without regard to case, beside what they are; and whether a warehouse's store tells them apart."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"
branch_labels: Final = None
depends_on: Final = None

_BATCH: Final = 1000
# What an older release knows of a warehouse says nothing of case, and null stands for that: its places compare folded.
_COLUMNS: Final = (
    "alter table warehouse add column tells_case boolean",
    """alter table tabular add column location_folded text collate "C" """,
    """alter table task add column location_folded text collate "C" """,
)
_INDEXES: Final = (
    "drop index tabular_location",
    """create unique index tabular_location
           on tabular (warehouse_id, ("left"(coalesce(location_folded, lower(location_key)), 600)), location_digest)""",
    "drop index task_purged_location",
    """create index task_purged_location on task (warehouse_id, ("left"(coalesce(location_folded, lower(location_key)), 600)))
 where queue = 'tabular_purge' and state in ('waiting', 'running')""",
)


def upgrade() -> None:
    """Store what the database can't fold: what is not ASCII. An older release goes on, and stores nothing of the kind."""
    for statement in _COLUMNS:
        op.execute(statement)
    for table, key in (("tabular", "incarnation"), ("task", "task_id")):
        _fold(table, key)
    for statement in _INDEXES:
        op.execute(statement)


def _fold(table: str, key: str) -> None:
    connection = op.get_bind()
    found = sa.text(f"select warehouse_id, {key}, location_key from {table} where location_key ~ '[^[:ascii:]]'")
    store = sa.text(f"update {table} set location_folded = :folded where warehouse_id = :warehouse and {key} = :row")
    rows = [{"warehouse": row[0], "row": row[1], "folded": row[2].casefold()} for row in connection.execute(found)]
    for start in range(0, len(rows), _BATCH):
        connection.execute(store, rows[start : start + _BATCH])
