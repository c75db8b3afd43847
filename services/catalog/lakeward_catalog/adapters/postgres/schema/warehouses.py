"""The server, its projects and their warehouses."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, TIME, metadata, serves

server = sa.Table(
    "server",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("server_id", pg.UUID, nullable=False),
    sa.Column("bootstrapped", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("installation_id", pg.UUID, nullable=False, server_default=sa.text("gen_random_uuid()")),
    sa.CheckConstraint("only_row", name="one_row"),
)

project = sa.Table(
    "project",
    metadata,
    sa.Column("project_id", KEY, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", TIME, nullable=False, server_default=sa.func.now()),
)

warehouse = sa.Table(
    "warehouse",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("project_id", KEY, sa.ForeignKey("project.project_id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", KEY, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("storage_profile", sa.Text, nullable=False),
    sa.Column("secret_id", pg.UUID),
    sa.Column("credential_kind", sa.Text),
    sa.Column("base_location", sa.Text, nullable=False),
    sa.Column("place", KEY, nullable=False),
    sa.Column("layout", sa.Text, nullable=False),
    sa.Column("schemes", pg.ARRAY(sa.Text), nullable=False),
    sa.Column("client_defaults", pg.JSON, nullable=False),
    sa.Column("push_delete_disabled", sa.Boolean, nullable=False),
    sa.Column("signs_remotely", sa.Boolean, nullable=False),
    sa.Column(
        "tells_case", sa.Boolean, doc="its store tells places apart that differ by case alone; null: nobody tried"
    ),
    sa.Column("restorable_for", pg.INTERVAL),
    sa.Column("allowed_format_versions", pg.ARRAY(sa.SmallInteger), nullable=False),
    sa.Column("default_format_version", sa.SmallInteger, nullable=False),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("managed_by", sa.Text, nullable=False, server_default="self-managed"),
    sa.Column("contracts", sa.Text, doc="JSON, a list; null: none"),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME),
    sa.CheckConstraint("managed_by in ('self-managed', 'instance-admin')", name="managed_by"),
    sa.Index(
        "warehouse_name",
        "project_id",
        "name_key",
        unique=True,
        info=serves("warehouses.FIND_BY_NAME", "warehouses.LIST", "warehouses.INSERT"),
    ),
    sa.Index("warehouse_place", "place", info=serves("warehouses.AT_PLACE")),
)

unnamed_secret = sa.Table(
    "unnamed_secret",
    metadata,
    sa.Column("secret_id", pg.UUID, primary_key=True, doc="vending's; a warehouse named it, and none does"),
    sa.Column("unnamed_at", TIME, nullable=False),
)
