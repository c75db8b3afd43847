"""The table of leases, for the metadata of a service's migrations; nothing that serves imports it."""

from __future__ import annotations

import sqlalchemy as sa


def define_leases(metadata: sa.MetaData) -> sa.Table:
    """Add the table `lease` to a service's metadata; a migration creates it."""
    return sa.Table(
        "lease",
        metadata,
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
    )
