"""An index can be taken only by statements that compare the column it is for, and a warehouse may hold everything."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0016"
down_revision: Final = "0015"
branch_labels: Final = None
depends_on: Final = None

# Every index begins with the warehouse. While a table is small, or was when it was last looked at, whatever begins so looks as
# good as the right one, and the plan is kept while the table grows. `is not null` holds for every row; a statement shows that it
# holds by comparing the column, and is barred from the index else. An older release's statements compare the same columns.
_FOLDED: Final = '"left"(coalesce(location_folded, lower(location_key)), 600)'
_INDEXES: Final = (
    "drop index tabular_public_id",
    "create unique index tabular_public_id on tabular (warehouse_id, tabular_id) where tabular_id is not null",
    "drop index tabular_location",
    f"""create unique index tabular_location on tabular (warehouse_id, ({_FOLDED}), location_digest)
         where {_FOLDED} is not null""",
    "drop index tabular_beginning",
    """create index tabular_beginning on tabular (((warehouse_id::text) collate "C"), name_key)
        where state = 'live' and name_key is not null""",
    "drop index tabular_name",
    """create unique index tabular_name on tabular (warehouse_id, namespace_id, name_key)
        where state in ('live', 'staged') and name_key is not null""",
    "drop index tabular_body_incarnation",
    """create unique index tabular_body_incarnation on tabular_body (warehouse_id, incarnation)
        where incarnation is not null""",
)
# What is true of an average warehouse or namespace is not of the one that has most. A plan for one that holds all rows serves
# every other one, too: it compares whole keys and goes by the order that is asked for.
_HOLDING_ALL: Final = (
    ("namespace", "warehouse_id"),
    ("tabular", "warehouse_id"),
    ("tabular", "namespace_id"),
    ("tabular_body", "warehouse_id"),
    ("body_chunk", "warehouse_id"),
    ("table_version", "warehouse_id"),
)


def upgrade() -> None:
    """Make the indexes again, each with what bars it, and let statistics tell of one warehouse and one namespace."""
    for statement in _INDEXES:
        op.execute(statement)
    for table, column in _HOLDING_ALL:
        op.execute(f"alter table {table} alter column {column} set (n_distinct = 1)")
