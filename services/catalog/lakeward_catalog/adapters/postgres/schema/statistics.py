"""What is counted: the tabulars of warehouses, and the requests of projects."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, TIME, metadata, serves

warehouse_statistic = sa.Table(
    "warehouse_statistic",
    metadata,
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("hour", TIME, primary_key=True, doc="at whose end it counts; hours in which nothing changed have none"),
    sa.Column("tables", sa.BigInteger, nullable=False),
    sa.Column("views", sa.BigInteger, nullable=False),
    sa.Column("generic_tables", sa.BigInteger, nullable=False),
    sa.Column("counted_at", TIME, nullable=False),
)

endpoint_count = sa.Table(
    "endpoint_count",
    metadata,
    sa.Column("project_id", KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("hour", TIME, primary_key=True, doc="its end"),
    sa.Column("route", KEY, primary_key=True, doc="method and template of the path"),
    sa.Column("status", sa.SmallInteger, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, primary_key=True, doc="all zeros for none"),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME),
    sa.Index("endpoint_count_age", "hour", info=serves("sweeps.OLD_COUNTS")),
)
