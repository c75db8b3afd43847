"""Secrets that no warehouse names any more are remembered until they are forgotten."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0012"
down_revision: Final = "0011"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on to forget such a secret as well as may be.
_TABLE: Final = """
create table unnamed_secret (
    secret_id uuid not null,
    unnamed_at timestamptz not null,
    constraint unnamed_secret_pkey primary key (secret_id)
)
"""


def upgrade() -> None:
    """Make their table."""
    op.execute(_TABLE)
