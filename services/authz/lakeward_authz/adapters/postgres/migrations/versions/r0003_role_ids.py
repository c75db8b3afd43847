"""A role's id is one role's on the whole server, so that it can be found, and assumed, by its id alone."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"
branch_labels: Final = None
depends_on: Final = None


def upgrade() -> None:
    """Make the index."""
    op.execute("create unique index objects_role_ids on objects (object_id) where kind = 'role'")
