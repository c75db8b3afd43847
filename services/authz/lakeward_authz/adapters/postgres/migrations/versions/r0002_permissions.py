"""Objects, what was granted on them, and what OpenFGA is still to be told."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    """
create table objects (
    project_id text collate "C" not null,
    warehouse_id uuid not null,
    kind text collate "C" not null,
    object_id uuid not null,
    parent_id uuid,
    path uuid[] not null,
    managed_access boolean default false not null,
    constraint objects_pkey primary key (project_id, warehouse_id, kind, object_id)
)
""",
    "comment on column objects.warehouse_id is 'all zeros for what is in none'",
    "comment on column objects.object_id is 'of a tabular its incarnation; all zeros for warehouses and what is above'",
    "comment on column objects.parent_id is 'the namespace that holds it; null at the top level and above'",
    "comment on column objects.path is 'namespaces above it, outermost first'",
    "create index objects_children on objects (warehouse_id, parent_id) where parent_id is not null",
    "create unique index objects_roles on objects (object_id) where kind = 'role'",
    """
create table grants (
    project_id text collate "C" not null,
    warehouse_id uuid not null,
    kind text collate "C" not null,
    object_id uuid not null,
    subject text collate "C" not null,
    relation text collate "C" not null,
    granted_at timestamptz default now() not null,
    constraint grants_pkey primary key (project_id, warehouse_id, kind, object_id, subject, relation),
    constraint grants_objects_fkey foreign key (project_id, warehouse_id, kind, object_id)
        references objects (project_id, warehouse_id, kind, object_id)
)
""",
    'comment on column grants.subject is \'"user:<id>", or "role:<id>" for who holds the role\'',
    "create index grants_of_subject on grants (subject, project_id, warehouse_id, kind, object_id, relation)",
    """
create table tree_streams (
    stream text collate "C" not null,
    applied bigint not null,
    constraint tree_streams_pkey primary key (stream)
)
""",
    "comment on column tree_streams.applied is 'sequence of the last change that counts here'",
    """
create table revisions (
    shard smallint not null,
    revision bigint default 0 not null,
    constraint revisions_pkey primary key (shard)
)
""",
    "comment on table revisions is 'their sum is the state of the grants; a project bumps one row, so that few wait for another'",
    "insert into revisions (shard) select generate_series(0, 15)",
    """
create table openfga_outbox (
    position bigint generated always as identity not null,
    tuple_user text collate "C" not null,
    relation text collate "C" not null,
    object text collate "C" not null,
    wanted boolean not null,
    constraint openfga_outbox_pkey primary key (position)
)
""",
    """
insert into objects (project_id, warehouse_id, kind, object_id, path)
values ('', '00000000-0000-0000-0000-000000000000', 'server', '00000000-0000-0000-0000-000000000000', '{}')
""",
)


def upgrade() -> None:
    """Make the tables, and the one server."""
    for statement in _STEPS:
        op.execute(statement)
