"""Objects are found by what people call them."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    "create unique index objects_warehouses on objects (warehouse_id) where kind = 'warehouse'",
    """
create index objects_ids on objects (object_id)
 where public_id is null and object_id <> '00000000-0000-0000-0000-000000000000'
""",
)


def upgrade() -> None:
    """Make the indexes."""
    for statement in _STEPS:
        op.execute(statement)
