"""Secrets may lie in a KV v2 store, and keys can be retired."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on meanwhile: what it writes lies in Postgres, which is the default.
_STATEMENTS: Final = (
    """alter table secret
           alter column key_id drop not null,
           alter column nonce drop not null,
           alter column ciphertext drop not null,
           add column store text not null default 'postgres',
           add column in_kv2 boolean not null default false,
           add column forgotten_at timestamptz,
           add constraint secret_store_known check (store = 'kv2' and in_kv2 or store = 'postgres'),
           add constraint secret_text_whole check (
               (store = 'postgres') = (key_id is not null and nonce is not null and ciphertext is not null))""",
    "create index secret_forgotten on secret (forgotten_at) where forgotten_at is not null",
    """
create table encryption_key (
    key_id text not null,
    retired_at timestamptz,
    constraint encryption_key_pkey primary key (key_id)
)
""",
)


def upgrade() -> None:
    """Add what is new."""
    for statement in _STATEMENTS:
        op.execute(statement)
