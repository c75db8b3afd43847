"""Snapshots of streams are kept, for who reads their events from the beginning."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0013"
down_revision: Final = "0012"
branch_labels: Final = None
depends_on: Final = None

# Not logged: they are made again of what is there, and who was reading one that a crash took begins again.
_STEPS: Final = (
    """
create unlogged table event_snapshot (
    stream text collate "C" not null,
    snapshot_id uuid not null,
    seq bigint not null,
    entries bigint not null,
    made_at timestamptz not null,
    constraint event_snapshot_pkey primary key (snapshot_id)
)
""",
    "create index event_snapshot_newest on event_snapshot (stream, made_at)",
    """
create unlogged table event_snapshot_entry (
    snapshot_id uuid not null,
    entry bigint not null,
    kind text not null,
    verb text not null,
    body bytea not null,
    constraint event_snapshot_entry_pkey primary key (snapshot_id, entry)
)
""",
)


def upgrade() -> None:
    """Make their tables."""
    for step in _STEPS:
        op.execute(step)
