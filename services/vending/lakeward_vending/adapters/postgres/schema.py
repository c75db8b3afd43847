"""The tables of vending."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

from lakeward_servicekit.audit.tables import define_audit
from lakeward_servicekit.events.tables import define_events, define_snapshots
from lakeward_servicekit.postgres.lease_table import define_leases

METADATA: Final = sa.MetaData()
define_audit(METADATA)
define_events(METADATA)
define_snapshots(METADATA)
define_leases(METADATA)

SECRET: Final = sa.Table(
    "secret",
    METADATA,
    sa.Column("secret_id", UUID, primary_key=True),
    sa.Column("key_id", sa.Text, nullable=True),
    sa.Column("nonce", sa.LargeBinary, nullable=True),
    sa.Column("ciphertext", sa.LargeBinary, nullable=True),
    sa.Column("staged_by", sa.Text, nullable=False),
    sa.Column("staged_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("staged_for", UUID, nullable=True),
    sa.Column("warehouse_id", UUID, nullable=True),
    sa.Column("kept_at", sa.DateTime(timezone=True), nullable=True),
    sa.Column("store", sa.Text, nullable=False, server_default="postgres", doc="where it is read: postgres or kv2"),
    sa.Column("in_kv2", sa.Boolean, nullable=False, server_default=sa.false(), doc="something of it may lie there"),
    sa.Column(
        "project_id", sa.Text(collation="C"), nullable=True, doc="for which it was staged; null: by an older release"
    ),
    sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=True, doc="it is gone, and to be deleted there"),
    sa.CheckConstraint("(warehouse_id is null) = (kept_at is null)", name="secret_kept_whole"),
    sa.CheckConstraint("store = 'kv2' and in_kv2 or store = 'postgres'", name="secret_store_known"),
    sa.CheckConstraint(
        "(store = 'postgres') = (key_id is not null and nonce is not null and ciphertext is not null)",
        name="secret_text_whole",
    ),
)
# serves the sweep, which looks at staged rows alone
sa.Index("secret_staged", SECRET.c.staged_at, postgresql_where=sa.text("warehouse_id is null"))
# serves a rotation, which looks for rows of other keys than the first
sa.Index("secret_key", SECRET.c.key_id)
# serves the sweep of what could not be deleted at once
sa.Index("secret_forgotten", SECRET.c.forgotten_at, postgresql_where=sa.text("forgotten_at is not null"))

ENCRYPTION_KEY: Final = sa.Table(
    "encryption_key",
    METADATA,
    sa.Column("key_id", sa.Text, primary_key=True),
    sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True, doc="from then on nothing is encrypted with it"),
)
