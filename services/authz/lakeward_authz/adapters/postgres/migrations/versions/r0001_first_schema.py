"""The first schema."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

_TABLES: Final = (
    """
create table users (
    user_id text collate "C" not null,
    name text,
    email text,
    kind text not null,
    updated_with text not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    deleted_at timestamptz,
    constraint users_pkey primary key (user_id),
    constraint users_kind_check check (kind in ('human', 'application'))
)
""",
    "comment on column users.name is 'null while nobody knew one'",
    """
create table first_administrator (
    only_row boolean default true not null,
    user_id text collate "C",
    is_operator boolean not null,
    appointed_at timestamptz not null,
    constraint first_administrator_pkey primary key (only_row),
    constraint first_administrator_one_row_check check (only_row)
)
""",
    "comment on column first_administrator.user_id is 'null for the anonymous caller'",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in _TABLES:
        op.execute(statement)
