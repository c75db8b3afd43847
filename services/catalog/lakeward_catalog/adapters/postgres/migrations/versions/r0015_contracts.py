"""Warehouses have contracts, which are asked before changes of what is in them."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0015"
down_revision: Final = "0013"
branch_labels: Final = None
depends_on: Final = None


def upgrade() -> None:
    """Add them; there are none yet, and an older release goes on as if there were none."""
    op.execute("alter table warehouse add column contracts text")
