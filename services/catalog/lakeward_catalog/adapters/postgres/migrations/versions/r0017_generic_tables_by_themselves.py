"""Generic tables are found by themselves, among however many others."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0017"
down_revision: Final = "0016"
branch_labels: Final = None
depends_on: Final = None

# An older release does not use it.
_INDEX: Final = """
create index tabular_generic on tabular (warehouse_id, incarnation) where kind = 'generic_table' and state = 'live'
"""


def upgrade() -> None:
    """Make their index."""
    op.execute(_INDEX)
