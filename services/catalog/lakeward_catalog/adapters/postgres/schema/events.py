"""What became of changes: events, audit, snapshots to begin from, and what authz is still to hear of the tree."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, metadata, serves
from lakeward_servicekit.audit.tables import define_audit
from lakeward_servicekit.events.tables import define_events, define_snapshots

define_events(metadata)
define_audit(metadata)
define_snapshots(metadata, newest=serves("postgres_snapshots.CURRENT"))

tree_change = sa.Table(
    "tree_change",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True, doc="the stream: all zeros for that of projects"),
    sa.Column("change_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("verb", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, doc="as authz names it"),
    sa.Column("object_id", pg.UUID, doc="of a tabular its incarnation; null for warehouses and projects"),
    sa.Column("project_id", KEY, doc="of projects and warehouses; what is inside has its warehouse's"),
    sa.Column("parent_id", pg.UUID),
    sa.Column("public_id", pg.UUID),
    sa.Column("owner", sa.Text, doc="user:<id> or role:<id>"),
    sa.CheckConstraint("verb in ('made', 'moved', 'opened', 'closed', 'gone', 'nothing')", name="verb"),
    # No foreign keys: it is told after what it tells of is gone. Rows live for milliseconds, as those of the outbox.
    postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 2000},
)

tree_stream = sa.Table(
    "tree_stream",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("applied", sa.BigInteger, nullable=False, server_default="0", doc="what authz confirmed"),
    sa.Column(
        "in_flight",
        pg.ARRAY(sa.BigInteger),
        nullable=False,
        server_default="{}",
        doc="changes that were sent and are not confirmed; their numbers follow `applied`",
    ),
    postgresql_with={"fillfactor": 50},
)
