"""The first schema."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

_EVENT_SLOTS: Final = 16

_TABLES: Final = (
    """
create table event_log (
    stream text collate "C" not null,
    seq bigint not null,
    slot smallint not null,
    event_id uuid not null,
    kind text not null,
    verb text not null,
    body bytea not null,
    at timestamptz not null,
    constraint event_log_pkey primary key (stream, seq, slot)
) partition by list (slot)
""",
    """
create table event_stream (
    stream text collate "C" not null,
    seq bigint not null,
    constraint event_stream_pkey primary key (stream)
) with (fillfactor = 50)
""",
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
    """
create table lease (
    name text not null,
    holder text not null,
    fence bigint not null,
    expires_at timestamptz not null,
    constraint lease_pkey primary key (name)
)
""",
    """
create table outbox (
    outbox_id bigint generated always as identity,
    event_id uuid not null,
    stream text collate "C" not null,
    kind text not null,
    verb text not null,
    body bytea not null,
    written_at timestamptz default clock_timestamp() not null,
    constraint outbox_pkey primary key (outbox_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)
""",
    """
create table project (
    project_id text collate "C" not null,
    name text not null,
    created_at timestamptz default now() not null,
    constraint project_pkey primary key (project_id)
)
""",
    """
create table server (
    only_row boolean default true not null,
    server_id uuid not null,
    bootstrapped boolean default false not null,
    constraint server_pkey primary key (only_row),
    constraint server_one_row_check check (only_row)
)
""",
    """
create table sink_cursor (
    sink text collate "C" not null,
    stream text collate "C" not null,
    seq bigint not null,
    constraint sink_cursor_pkey primary key (sink, stream)
) with (fillfactor = 50)
""",
    """
create table task_log (
    warehouse_id uuid not null,
    task_id uuid not null,
    attempt integer not null,
    queue text not null,
    incarnation uuid not null,
    name text not null,
    location text not null,
    outcome text not null,
    message text,
    progress bigint not null,
    started_at timestamptz,
    ended_at timestamptz not null,
    constraint task_log_pkey primary key (warehouse_id, task_id, attempt),
    constraint task_log_outcome_check check (outcome in ('success', 'failed', 'cancelled'))
)
""",
    "create index task_log_age on task_log (ended_at)",
    """
create table warehouse (
    warehouse_id uuid not null,
    project_id text collate "C" not null,
    name text not null,
    name_key text collate "C" not null,
    active boolean not null,
    storage_profile text not null,
    secret_id uuid,
    credential_kind text,
    base_location text not null,
    place text collate "C" not null,
    layout text not null,
    schemes text[] not null,
    client_defaults json not null,
    push_delete_disabled boolean not null,
    signs_remotely boolean not null,
    restorable_for interval,
    allowed_format_versions smallint[] not null,
    default_format_version smallint not null,
    protected boolean default false not null,
    row_version bigint default 1 not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    constraint warehouse_pkey primary key (warehouse_id),
    constraint warehouse_project_fkey foreign key (project_id) references project (project_id)
)
""",
    "create unique index warehouse_name on warehouse (project_id, name_key)",
    "create index warehouse_place on warehouse (place)",
    """
create table namespace (
    warehouse_id uuid not null,
    namespace_id uuid not null,
    parent_id uuid,
    path text[] not null,
    path_key text collate "C" not null,
    properties json not null,
    location text not null,
    protected boolean default false not null,
    row_version bigint default 1 not null,
    created_at timestamptz not null,
    constraint namespace_pkey primary key (warehouse_id, namespace_id),
    constraint namespace_warehouse_fkey foreign key (warehouse_id) references warehouse (warehouse_id),
    constraint namespace_namespace_fkey foreign key (warehouse_id, parent_id)
        references namespace (warehouse_id, namespace_id),
    constraint namespace_top_has_no_parent_check check ((parent_id is null) = (cardinality(path) = 1))
)
""",
    """create index namespace_children_by_age on namespace (warehouse_id, parent_id, created_at, namespace_id)
 where parent_id is not null""",
    "create unique index namespace_path on namespace (warehouse_id, path_key)",
    """create index namespace_top_by_age on namespace (warehouse_id, created_at, namespace_id)
 where parent_id is null""",
    """
create table task (
    warehouse_id uuid not null,
    task_id uuid not null,
    queue text not null,
    incarnation uuid not null,
    name text not null,
    location text not null,
    location_key text collate "C" not null,
    purge boolean not null,
    state text default 'waiting' not null,
    due_at timestamptz not null,
    attempt integer default 0 not null,
    fence bigint default 0 not null,
    progress bigint default 0 not null,
    message text,
    created_at timestamptz default now() not null,
    started_at timestamptz,
    constraint task_pkey primary key (warehouse_id, task_id),
    constraint task_state_check check (state in ('waiting', 'running', 'failed')),
    constraint task_warehouse_fkey foreign key (warehouse_id) references warehouse (warehouse_id)
)
""",
    """create index task_due on task (queue, due_at, task_id) where state in ('waiting', 'running')""",
    """create unique index task_one_active on task (warehouse_id, queue, incarnation)
 where state in ('waiting', 'running')""",
    """create index task_purged_location on task (warehouse_id, ("left"(location_key, 600)))
 where queue = 'tabular_purge' and state in ('waiting', 'running')""",
    """
create table tabular (
    warehouse_id uuid not null,
    incarnation uuid not null,
    tabular_id uuid not null,
    kind text not null,
    state text not null,
    namespace_id uuid not null,
    name text not null,
    name_key text collate "C" not null,
    location text not null,
    location_key text collate "C" not null,
    location_digest bytea not null,
    metadata_id uuid not null,
    metadata_location text,
    protected boolean default false not null,
    row_version bigint default 1 not null,
    created_at timestamptz not null,
    dropped_at timestamptz,
    expires_at timestamptz,
    constraint tabular_pkey primary key (warehouse_id, incarnation),
    constraint tabular_namespace_fkey foreign key (warehouse_id, namespace_id)
        references namespace (warehouse_id, namespace_id),
    constraint tabular_kind_check check (kind in ('table', 'view')),
    constraint tabular_state_check check (state in ('staged', 'live', 'dropped')),
    constraint tabular_live_never_expires_check check ((state = 'live') = (expires_at is null)),
    constraint tabular_has_metadata_check check (state = 'staged' or metadata_location is not null)
) with (fillfactor = 80)
""",
    "create index tabular_by_age on tabular (warehouse_id, namespace_id, kind, state, created_at, incarnation)",
    "create index tabular_expiry on tabular (expires_at) where expires_at is not null",
    """create unique index tabular_location on tabular (warehouse_id, ("left"(location_key, 600)), location_digest)""",
    """create unique index tabular_name on tabular (warehouse_id, namespace_id, name_key) where state in ('live', 'staged')""",
    "create unique index tabular_public_id on tabular (warehouse_id, tabular_id)",
    """
create table body_chunk (
    warehouse_id uuid not null,
    incarnation uuid not null,
    chunk_id uuid not null,
    raw bytea not null,
    constraint body_chunk_pkey primary key (warehouse_id, incarnation, chunk_id),
    constraint body_chunk_tabular_fkey foreign key (warehouse_id, incarnation) references tabular (warehouse_id, incarnation)
        on delete cascade
)
""",
    """
create table tabular_body (
    warehouse_id uuid not null,
    metadata_id uuid not null,
    incarnation uuid not null,
    everything_ids uuid[] not null,
    everything_crcs bigint[] not null,
    everything_sizes integer[] not null,
    everything_lengths integer[] not null,
    everything_own bytea not null,
    refs_ids uuid[],
    refs_crcs bigint[],
    refs_sizes integer[],
    refs_lengths integer[],
    refs_own bytea,
    constraint tabular_body_pkey primary key (warehouse_id, metadata_id),
    constraint tabular_body_tabular_fkey foreign key (warehouse_id, incarnation) references tabular (warehouse_id, incarnation)
        on delete cascade
)
""",
    "create unique index tabular_body_incarnation on tabular_body (warehouse_id, incarnation)",
)

_STORED_AS_IS: Final = (
    "alter table tabular_body alter column everything_own set storage external",
    "alter table tabular_body alter column refs_own set storage external",
    "alter table body_chunk alter column raw set storage external",
)


def upgrade() -> None:
    """Make every table, and the installation's own row."""
    for statement in (*_TABLES, *_STORED_AS_IS):
        op.execute(statement)
    for slot in range(_EVENT_SLOTS):
        op.execute(f"create table event_log_{slot:02d} partition of event_log for values in ({slot})")
    op.execute("insert into server (server_id) values (gen_random_uuid())")
