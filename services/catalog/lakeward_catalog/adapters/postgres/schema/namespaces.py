"""Namespaces, below each other."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, TIME, WAREHOUSE_BYTES, metadata, serves

namespace = sa.Table(
    "namespace",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("namespace_id", pg.UUID, primary_key=True),
    sa.Column("parent_id", pg.UUID),
    sa.Column("path", pg.ARRAY(sa.Text), nullable=False, doc="stored casing, outermost first"),
    sa.Column("path_key", KEY, nullable=False, doc="the parts' keys joined by 0x1F"),
    sa.Column("properties", pg.JSON, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", TIME, nullable=False),
    sa.ForeignKeyConstraint(["warehouse_id"], ["warehouse.warehouse_id"]),
    sa.ForeignKeyConstraint(["warehouse_id", "parent_id"], ["namespace.warehouse_id", "namespace.namespace_id"]),
    sa.CheckConstraint("(parent_id is null) = (cardinality(path) = 1)", name="top_has_no_parent"),
    sa.Index(
        "namespace_path",
        "warehouse_id",
        "path_key",
        unique=True,
        info=serves("tabulars.LOCATE", "namespaces.FIND", "containers.LOCK_SUBTREE", "containers.INSERT"),
    ),
    # Two, since Postgres does not take `parent_id is null` for an equality that keeps the order of what follows.
    sa.Index(
        "namespace_top_by_age",
        "warehouse_id",
        "created_at",
        "namespace_id",
        postgresql_where=sa.text("parent_id is null"),
        info=serves("namespaces.TOP_PAGE"),
    ),
    sa.Index(
        "namespace_children_by_age",
        "warehouse_id",
        "parent_id",
        "created_at",
        "namespace_id",
        postgresql_where=sa.text("parent_id is not null"),
        info=serves("namespaces.CHILDREN_PAGE", "the foreign key to parents"),
    ),
    sa.Index(
        "namespace_search",
        WAREHOUSE_BYTES,
        "path_key",
        postgresql_using="gin",
        postgresql_ops={"path_key": "gin_trgm_ops"},
        postgresql_with={"gin_pending_list_limit": 512},
        info=serves("tabulars.SEARCH"),
    ),
)
