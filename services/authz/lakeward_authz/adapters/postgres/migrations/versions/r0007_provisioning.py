"""People that identity providers send, and what is kept of the rights of those who may not use them."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0007"
down_revision: Final = "0006"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    """
create table provisioned_users (
    id uuid not null,
    user_id text collate "C" not null,
    user_name text not null,
    user_name_key text collate "C" not null,
    external_id text collate "C",
    display_name text,
    email text,
    active boolean not null,
    document bytea not null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint provisioned_users_pkey primary key (id),
    constraint provisioned_users_user unique (user_id),
    constraint provisioned_users_name unique (user_name_key)
)
""",
    "create index provisioned_users_external on provisioned_users (external_id)",
    """
create table suspended_grants (
    project_id text collate "C" not null,
    warehouse_id uuid not null,
    kind text collate "C" not null,
    object_id uuid not null,
    subject text collate "C" not null,
    relation text collate "C" not null,
    granted_at timestamptz not null default now(),
    constraint suspended_grants_pkey primary key (project_id, warehouse_id, kind, object_id, subject, relation),
    constraint suspended_grants_objects_fkey foreign key (project_id, warehouse_id, kind, object_id)
        references objects (project_id, warehouse_id, kind, object_id) on delete cascade
)
""",
    "create index suspended_grants_of_subject on suspended_grants (subject)",
    """
comment on table suspended_grants
     is 'what is given to users whose identity provider says that they are not active; counts again when they are'
""",
    """
create table lease (
    name text not null,
    holder text not null,
    fence bigint not null,
    expires_at timestamptz not null,
    constraint lease_pkey primary key (name)
)
""",
    "create index roles_of_provider on roles (project_id, provider_id, role_id)",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in _STEPS:
        op.execute(statement)
