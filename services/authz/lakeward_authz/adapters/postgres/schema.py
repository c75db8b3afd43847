"""The tables of authz, for Alembic to compare with and for people to read."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_servicekit.audit.tables import define_audit
from lakeward_servicekit.events.tables import define_events, define_snapshots
from lakeward_servicekit.postgres.lease_table import define_leases

metadata: Final = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(referred_table_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

_KEY = sa.Text(collation="C")
_TIME = pg.TIMESTAMP(timezone=True)

users: Final = sa.Table(
    "users",
    metadata,
    sa.Column("user_id", _KEY, primary_key=True),
    sa.Column("name", sa.Text, comment="null while nobody knew one"),
    sa.Column("email", sa.Text),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("updated_with", sa.Text, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.Column("deleted_at", _TIME),
    sa.Column(
        "search",
        pg.ARRAY(sa.Text),
        nullable=False,
        server_default="{}",
        comment="trigrams of name and address; none of one that has no name or was deleted",
    ),
    sa.CheckConstraint("kind in ('human', 'application')", name="kind"),
    sa.Index("users_search", "search", postgresql_using="gin"),
)

first_administrator: Final = sa.Table(
    "first_administrator",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("user_id", _KEY, comment="null for the anonymous caller"),
    sa.Column("is_operator", sa.Boolean, nullable=False),
    sa.Column("appointed_at", _TIME, nullable=False),
    sa.CheckConstraint("only_row", name="one_row"),
)

objects: Final = sa.Table(
    "objects",
    metadata,
    sa.Column("project_id", _KEY, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, primary_key=True, comment="all zeros for what is in none"),
    sa.Column("kind", _KEY, primary_key=True),
    sa.Column(
        "object_id",
        pg.UUID,
        primary_key=True,
        comment="of a tabular its incarnation; all zeros for warehouses and what is above",
    ),
    sa.Column("parent_id", pg.UUID, comment="the namespace that holds it; null at the top level and above"),
    sa.Column("path", pg.ARRAY(pg.UUID), nullable=False, comment="namespaces above it, outermost first"),
    sa.Column("managed_access", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("public_id", pg.UUID, comment="what people call it by, where that is not object_id"),
    sa.Column(
        "inactive",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="a warehouse in which nothing is there",
    ),
    sa.Index("objects_inactive", "warehouse_id", unique=True, postgresql_where=sa.text("inactive")),
    sa.Index("objects_roles", "object_id", unique=True, postgresql_where=sa.text("kind = 'role'")),
    sa.Index(
        "objects_public",
        "warehouse_id",
        "kind",
        "public_id",
        unique=True,
        postgresql_where=sa.text("public_id is not null"),
    ),
    sa.Index("objects_warehouses", "warehouse_id", unique=True, postgresql_where=sa.text("kind = 'warehouse'")),
    sa.Index(
        "objects_ids",
        "object_id",
        postgresql_where=sa.text("public_id is null and object_id <> '00000000-0000-0000-0000-000000000000'"),
    ),
    sa.Index("objects_children", "warehouse_id", "parent_id", postgresql_where=sa.text("parent_id is not null")),
)

roles: Final = sa.Table(
    "roles",
    metadata,
    sa.Column("role_id", pg.UUID, primary_key=True),
    sa.Column("project_id", _KEY, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", _KEY, nullable=False, comment="the name, normalised and case folded"),
    sa.Column("description", sa.Text),
    sa.Column("provider_id", _KEY, nullable=False),
    sa.Column("source_id", _KEY, nullable=False),
    sa.Column("search", pg.ARRAY(sa.Text), nullable=False, comment="trigrams of the name"),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.UniqueConstraint("project_id", "name_key", name="roles_name"),
    sa.UniqueConstraint("project_id", "provider_id", "source_id", name="roles_ident"),
    sa.Index("roles_search", "search", postgresql_using="gin"),
    sa.Index("roles_of_provider", "project_id", "provider_id", "role_id"),
)

provisioned_users: Final = sa.Table(
    "provisioned_users",
    metadata,
    sa.Column("id", pg.UUID, primary_key=True),
    sa.Column("user_id", _KEY, nullable=False),
    sa.Column("user_name", sa.Text, nullable=False),
    sa.Column("user_name_key", _KEY, nullable=False),
    sa.Column("external_id", _KEY),
    sa.Column("display_name", sa.Text),
    sa.Column("email", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("document", sa.LargeBinary, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME, nullable=False),
    sa.UniqueConstraint("user_id", name="provisioned_users_user"),
    sa.UniqueConstraint("user_name_key", name="provisioned_users_name"),
    sa.Index("provisioned_users_external", "external_id"),
)

idempotency: Final = sa.Table(
    "idempotency",
    metadata,
    sa.Column("owner", _KEY, primary_key=True),
    sa.Column("principal", _KEY, primary_key=True),
    sa.Column("key", pg.UUID, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("outcome", sa.LargeBinary, nullable=False),
    sa.Column("expires_at", _TIME, nullable=False),
    sa.Index("idempotency_expiry", "expires_at"),
)

grants: Final = sa.Table(
    "grants",
    metadata,
    sa.Column("project_id", _KEY, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("kind", _KEY, primary_key=True),
    sa.Column("object_id", pg.UUID, primary_key=True),
    sa.Column("subject", _KEY, primary_key=True, comment='"user:<id>", or "role:<id>" for who holds the role'),
    sa.Column("relation", _KEY, primary_key=True),
    sa.Column("granted_at", _TIME, nullable=False, server_default=sa.func.now()),
    sa.ForeignKeyConstraint(
        ["project_id", "warehouse_id", "kind", "object_id"],
        ["objects.project_id", "objects.warehouse_id", "objects.kind", "objects.object_id"],
    ),
    # Of what somebody was given, wherever. The condition holds for every row, and keeps Postgres from looking here for what many
    # subjects were given on one object: that is a search for each of them, and by the primary key one for all. So whoever asks
    # by subject says it, or names relations.
    sa.Index(
        "grants_of_subject",
        "subject",
        "project_id",
        "warehouse_id",
        "kind",
        "object_id",
        "relation",
        postgresql_where=sa.text("relation <> ''"),
    ),
    # How much somebody owns in a warehouse is counted for each page of a listing; what else it was given is passed by.
    sa.Index(
        "grants_owned", "subject", "project_id", "warehouse_id", postgresql_where=sa.text("relation = 'ownership'")
    ),
)

suspended_grants: Final = sa.Table(
    "suspended_grants",
    metadata,
    sa.Column("project_id", _KEY, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("kind", _KEY, primary_key=True),
    sa.Column("object_id", pg.UUID, primary_key=True),
    sa.Column("subject", _KEY, primary_key=True),
    sa.Column("relation", _KEY, primary_key=True),
    sa.Column("granted_at", _TIME, nullable=False, server_default=sa.func.now()),
    sa.ForeignKeyConstraint(
        ["project_id", "warehouse_id", "kind", "object_id"],
        ["objects.project_id", "objects.warehouse_id", "objects.kind", "objects.object_id"],
        ondelete="cascade",
    ),
    sa.Index("suspended_grants_of_subject", "subject"),
    comment="what is given to users whose identity provider says that they are not active; counts again when they are",
)

tree_streams: Final = sa.Table(
    "tree_streams",
    metadata,
    sa.Column("stream", _KEY, primary_key=True),
    sa.Column("applied", sa.BigInteger, nullable=False, comment="sequence of the last change that counts here"),
)

revisions: Final = sa.Table(
    "revisions",
    metadata,
    sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False, server_default="0"),
    comment="their sum is the state of the grants; a project bumps one row, so that few wait for another",
)

openfga_outbox: Final = sa.Table(
    "openfga_outbox",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("tuple_user", _KEY, nullable=False),
    sa.Column("relation", _KEY, nullable=False),
    sa.Column("object", _KEY, nullable=False),
    sa.Column("wanted", sa.Boolean, nullable=False),
)

openfga_feeds: Final = sa.Table(
    "openfga_feeds",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("store_id", _KEY, nullable=False),
    sa.Column("wanted_at", _TIME, nullable=False, comment="when a process said last that it asks that store"),
    sa.Column("complete", sa.Boolean, nullable=False, comment="whether it was given everything once"),
    sa.CheckConstraint("only_row", name="one_row"),
    comment="the store that the outbox is for",
)

lease: Final = define_leases(metadata)
define_events(metadata)
define_snapshots(metadata)
define_audit(metadata)
