"""The first schema."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

_STATEMENTS: Final = (
    """
create table secret (
    secret_id uuid not null,
    key_id text not null,
    nonce bytea not null,
    ciphertext bytea not null,
    staged_by text not null,
    staged_at timestamptz not null,
    staged_for uuid,
    warehouse_id uuid,
    kept_at timestamptz,
    constraint secret_pkey primary key (secret_id),
    constraint secret_kept_whole check ((warehouse_id is null) = (kept_at is null))
)
""",
    "create index secret_staged on secret (staged_at) where warehouse_id is null",
    "create index secret_key on secret (key_id)",
)


def upgrade() -> None:
    """Create everything."""
    for statement in _STATEMENTS:
        op.execute(statement)
