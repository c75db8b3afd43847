"""Tags: what they are, and what they are attached to."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, TIME, metadata, serves

tag_definition = sa.Table(
    "tag_definition",
    metadata,
    sa.Column("project_id", KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag_id", pg.UUID, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", KEY, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("scopes", pg.ARRAY(sa.Text), nullable=False),
    sa.Column("value_kind", sa.Text, nullable=False),
    sa.Column("allowed_values", pg.ARRAY(sa.Text), nullable=False, doc="of an enumerated one; empty for others"),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME),
    sa.CheckConstraint("value_kind in ('marker', 'free-text', 'enumerated')", name="value_kind"),
    sa.CheckConstraint("cardinality(scopes) > 0", name="some_scope"),
    sa.Index(
        "tag_definition_name", "project_id", "name_key", unique=True, info=serves("tags.FIND_BY_NAME", "tags.INSERT")
    ),
    sa.Index("tag_definition_by_age", "project_id", "created_at", "tag_id", info=serves("tags.LIST")),
)

tag_attachment = sa.Table(
    "tag_attachment",
    metadata,
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("attachment_id", pg.UUID, primary_key=True),
    sa.Column("project_id", KEY, nullable=False),
    sa.Column("tag_id", pg.UUID, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("namespace_id", pg.UUID),
    sa.Column("incarnation", pg.UUID, doc="of a tabular, or of a column's table"),
    sa.Column("field_id", sa.Integer),
    sa.Column("value", sa.Text),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME),
    sa.ForeignKeyConstraint(["project_id", "tag_id"], ["tag_definition.project_id", "tag_definition.tag_id"]),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "namespace_id"], ["namespace.warehouse_id", "namespace.namespace_id"], ondelete="CASCADE"
    ),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
    sa.CheckConstraint(
        "case scope"
        " when 'warehouse' then namespace_id is null and incarnation is null and field_id is null"
        " when 'namespace' then namespace_id is not null and incarnation is null and field_id is null"
        " when 'column' then namespace_id is null and incarnation is not null and field_id is not null"
        " else namespace_id is null and incarnation is not null and field_id is null end",
        name="one_place",
    ),
    sa.Index(
        "tag_attachment_place",
        "warehouse_id",
        "incarnation",
        "namespace_id",
        "field_id",
        "tag_id",
        unique=True,
        postgresql_nulls_not_distinct=True,
        info=serves("tags.ON", "tag_changes.PUT", "the foreign key to tabulars"),
    ),
    sa.Index(
        "tag_attachment_of_namespace",
        "warehouse_id",
        "namespace_id",
        info=serves("tags.EFFECTIVE", "the foreign key to namespaces"),
    ),
    sa.Index(
        "tag_attachment_of_tag",
        "project_id",
        "tag_id",
        "created_at",
        "attachment_id",
        info=serves("tags.ATTACHMENTS", "the foreign key to definitions"),
    ),
)
