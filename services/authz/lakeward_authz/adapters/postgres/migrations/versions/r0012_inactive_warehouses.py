"""Which warehouses are inactive, by the catalog's word."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0012"
down_revision: Final = "0009"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    "alter table objects add column inactive boolean default false not null",
    "comment on column objects.inactive is 'a warehouse in which nothing is there'",
    "create unique index objects_inactive on objects (warehouse_id) where inactive",
)


def upgrade() -> None:
    """Add the column; the catalog's own migration has it told."""
    for statement in _STEPS:
        op.execute(statement)
