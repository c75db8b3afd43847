"""The ids that people call tabulars by, so that rights are given by those."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    "alter table objects add column public_id uuid",
    "comment on column objects.public_id is 'what people call it by, where that is not object_id'",
    "create unique index objects_public on objects (warehouse_id, kind, public_id) where public_id is not null",
)


def upgrade() -> None:
    """Add the column; nothing was told of a tabular before it."""
    for statement in _STEPS:
        op.execute(statement)
