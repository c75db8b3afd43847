"""Roles as people know them, what users and roles are searched by, and what idempotency keys did."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from lakeward_authz.domain.search import trigrams

revision: Final = "0004"
down_revision: Final = "0003"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    """
create table roles (
    role_id uuid not null,
    project_id text collate "C" not null,
    name text not null,
    name_key text collate "C" not null,
    description text,
    provider_id text collate "C" not null,
    source_id text collate "C" not null,
    search text[] not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    constraint roles_pkey primary key (role_id),
    constraint roles_name unique (project_id, name_key),
    constraint roles_ident unique (project_id, provider_id, source_id)
)
""",
    "comment on column roles.name_key is 'the name, normalised and case folded'",
    "comment on column roles.search is 'trigrams of the name'",
    "create index roles_search on roles using gin (search)",
    """
create table idempotency (
    owner text collate "C" not null,
    principal text collate "C" not null,
    key uuid not null,
    fingerprint bytea not null,
    outcome bytea not null,
    expires_at timestamptz not null,
    constraint idempotency_pkey primary key (owner, principal, key)
)
""",
    "create index idempotency_expiry on idempotency (expires_at)",
    "alter table users add column search text[] default '{}' not null",
    "comment on column users.search is 'trigrams of name and address; none of one that has no name or was deleted'",
    "create index users_search on users using gin (search)",
)
_USERS: Final = sa.text("select user_id, name, email from users where name is not null and deleted_at is null")
_FOUND_BY: Final = sa.text("update users set search = :search where user_id = :user_id")


def upgrade() -> None:
    """Make the tables, and let the users that are there be found."""
    for statement in _STEPS:
        op.execute(statement)
    connection = op.get_bind()
    found = [
        {"user_id": user_id, "search": trigrams(name, email)} for user_id, name, email in connection.execute(_USERS)
    ]
    if found:
        connection.execute(_FOUND_BY, found)
