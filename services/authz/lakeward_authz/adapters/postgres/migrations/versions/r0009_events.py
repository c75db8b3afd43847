"""Events of authz's changes: what changes write, and the log that sinks read."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0009"
down_revision: Final = "0008"
branch_labels: Final = None
depends_on: Final = None

_SLOTS: Final = 16
_STEPS: Final = (
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
    *(f"create table event_log_{slot:02d} partition of event_log for values in ({slot})" for slot in range(_SLOTS)),
    """
create table event_stream (
    stream text collate "C" not null,
    seq bigint not null,
    constraint event_stream_pkey primary key (stream)
) with (fillfactor = 50)
""",
    """
create table sink_cursor (
    sink text collate "C" not null,
    stream text collate "C" not null,
    seq bigint not null,
    constraint sink_cursor_pkey primary key (sink, stream)
) with (fillfactor = 50)
""",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in _STEPS:
        op.execute(statement)
