"""The tables of vending."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

METADATA: Final = sa.MetaData()

SECRET: Final = sa.Table(
    "secret",
    METADATA,
    sa.Column("secret_id", UUID, primary_key=True),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("nonce", sa.LargeBinary, nullable=False),
    sa.Column("ciphertext", sa.LargeBinary, nullable=False),
    sa.Column("staged_by", sa.Text, nullable=False),
    sa.Column("staged_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("staged_for", UUID, nullable=True),
    sa.Column("warehouse_id", UUID, nullable=True),
    sa.Column("kept_at", sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("(warehouse_id is null) = (kept_at is null)", name="secret_kept_whole"),
)
# serves the sweep, which looks at staged rows alone
sa.Index("secret_staged", SECRET.c.staged_at, postgresql_where=sa.text("warehouse_id is null"))
# serves a rotation, which looks for rows of other keys than the first
sa.Index("secret_key", SECRET.c.key_id)
