"""The table of audit records, for the metadata of a service's migrations; nothing that serves imports it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg


def define_audit(metadata: sa.MetaData) -> None:
    """Add the table to a service's metadata; a migration creates it."""
    words = ("outcome", "action", "kind", "object_id", "object")
    more = ("principal", "role", "reason", "request_id", "client", "user_agent")
    sa.Table(
        "audit_record",
        metadata,
        sa.Column("audit_id", pg.UUID, primary_key=True, doc="of version 7; a change's is its event's"),
        sa.Column("at", pg.TIMESTAMP(timezone=True), nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in words),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False, doc="empty: of no project"),
        sa.Column("warehouse_id", pg.UUID),
        *(sa.Column(name, sa.Text, nullable=False) for name in more),
        sa.Index("audit_record_project", "project_id", "audit_id", info={"serves": ("audit.READ",)}),
    )
