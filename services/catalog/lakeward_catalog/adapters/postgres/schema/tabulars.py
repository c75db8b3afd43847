"""Tables, views and generic tables.

A tabular is spread over tables by how its parts are used: `tabular` is narrow and read by every request, `tabular_body` and
`body_chunk` hold the metadata documents, which a cache in front of them mostly answers.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import (
    KEY,
    LOCATION_PREFIX,
    TIME,
    WAREHOUSE_BYTES,
    metadata,
    serves,
)
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED

_NAMED: Final = "state in ('live', 'staged')"
# By code points, which Postgres does not call the expression's.
_WAREHOUSE_TEXT: Final = sa.text("((warehouse_id)::text)")

tabular = sa.Table(
    "tabular",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("tabular_id", pg.UUID, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("namespace_id", pg.UUID, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", KEY, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("location_key", KEY, nullable=False),
    sa.Column(
        "location_folded", KEY, doc="its key without regard to case, where that is not `lower` of it; see FOLDED"
    ),
    sa.Column("location_digest", sa.LargeBinary, nullable=False, doc="the first half of its key's SHA-256"),
    sa.Column("metadata_id", pg.UUID, nullable=False),
    sa.Column("metadata_location", sa.Text),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("dropped_at", TIME),
    sa.Column("expires_at", TIME),
    sa.Column("format", sa.Text, doc="of a generic table, for listings"),
    sa.ForeignKeyConstraint(["warehouse_id", "namespace_id"], ["namespace.warehouse_id", "namespace.namespace_id"]),
    sa.CheckConstraint("kind in ('table', 'view', 'generic_table')", name="kind"),
    sa.CheckConstraint("state in ('staged', 'live', 'dropped')", name="state"),
    sa.CheckConstraint("(state = 'live') = (expires_at is null)", name="live_never_expires"),
    sa.CheckConstraint(
        "state = 'staged' or kind = 'generic_table' or metadata_location is not null", name="has_metadata"
    ),
    sa.CheckConstraint("(kind = 'generic_table') = (format is not null)", name="has_format"),
    # Some say `is not null` of a column that is never null: a statement that compares that column proves it, and one that does
    # not can't take the index, whatever is known of how many rows there are.
    sa.Index(
        "tabular_name",
        "warehouse_id",
        "namespace_id",
        "name_key",
        unique=True,
        postgresql_where=sa.text(f"{_NAMED} and name_key is not null"),
        info=serves("tabulars.LOCATE", "tables.LOCK", "tables.INSERT"),
    ),
    sa.Index(
        "tabular_public_id",
        "warehouse_id",
        "tabular_id",
        unique=True,
        postgresql_where=sa.text("tabular_id is not null"),
        info=serves("tabulars.BY_ID", "tables.INSERT"),
    ),
    # Unique by the digest, ordered by the folded key's beginning: ranges of keys and two racing creates at one place.
    sa.Index(
        "tabular_location",
        "warehouse_id",
        LOCATION_PREFIX,
        "location_digest",
        unique=True,
        postgresql_where=sa.text(f'"left"({FOLDED}, {LOCATION_KEY_INDEXED}) is not null'),
        info=serves("tabulars.BY_LOCATION", "tables.OVERLAPPING", "tables.INSERT"),
    ),
    sa.Index(
        "tabular_by_age",
        "warehouse_id",
        "namespace_id",
        "kind",
        "state",
        "created_at",
        "incarnation",
        info=serves("tabulars.PAGE", "tabulars.VISIBLE_PAGE", "the foreign key to namespaces"),
    ),
    sa.Index(
        "tabular_expiry",
        "expires_at",
        postgresql_where=sa.text("expires_at is not null"),
        info=serves("sweeps.EXPIRED_STAGED"),
    ),
    sa.Index(
        "tabular_dropped",
        "warehouse_id",
        "dropped_at",
        "incarnation",
        postgresql_where=sa.text("state = 'dropped'"),
        info=serves("tabulars.DELETED"),
    ),
    sa.Index(
        "tabular_generic",
        "warehouse_id",
        "incarnation",
        postgresql_where=sa.text("kind = 'generic_table' and state = 'live'"),
        info=serves("tabulars.OF_FORMATS"),
    ),
    sa.Index(
        "tabular_beginning",
        _WAREHOUSE_TEXT,
        "name_key",
        postgresql_where=sa.text("state = 'live' and name_key is not null"),
        info=serves("tabulars.SEARCH"),
    ),
    sa.Index(
        "tabular_search",
        WAREHOUSE_BYTES,
        "name_key",
        postgresql_using="gin",
        postgresql_ops={"name_key": "gin_trgm_ops"},
        postgresql_with={"gin_pending_list_limit": 512},
        postgresql_where=sa.text("state = 'live'"),
        info=serves("tabulars.SEARCH"),
    ),
    # A commit changes no indexed column, so with room on its page its row moves within it.
    postgresql_with={"fillfactor": 80},
)


def _form(name: str, *, nullable: bool) -> tuple[sa.Column[object], ...]:
    return (
        sa.Column(f"{name}_ids", pg.ARRAY(pg.UUID), nullable=nullable, doc="null for a part of this body's own"),
        sa.Column(f"{name}_crcs", pg.ARRAY(sa.BigInteger), nullable=nullable),
        sa.Column(f"{name}_sizes", pg.ARRAY(sa.Integer), nullable=nullable, doc="inflated"),
        sa.Column(f"{name}_lengths", pg.ARRAY(sa.Integer), nullable=nullable, doc="of own parts, deflated; else 0"),
        sa.Column(f"{name}_own", sa.LargeBinary, nullable=nullable, doc="own parts, one behind another"),
    )


tabular_body = sa.Table(
    "tabular_body",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("metadata_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, nullable=False),
    *_form("everything", nullable=False),
    *_form("refs", nullable=True),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
    sa.Index(
        "tabular_body_incarnation",
        "warehouse_id",
        "incarnation",
        unique=True,
        postgresql_where=sa.text("incarnation is not null"),
        info=serves("the foreign key to tabulars", "one body for each incarnation"),
    ),
)

body_chunk = sa.Table(
    "body_chunk",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("chunk_id", pg.UUID, primary_key=True),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
)

table_version = sa.Table(
    "table_version",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True),
    sa.Column("path", sa.Text, nullable=False, doc="of its file, below the table's location"),
    sa.Column("size", sa.BigInteger),
    sa.Column("properties", sa.JSON, nullable=False),
    sa.Column("claimed_at", TIME, nullable=False),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
)
