"""The tables of authz, for Alembic to compare with and for people to read."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

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
    sa.CheckConstraint("kind in ('human', 'application')", name="kind"),
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
