"""What sinks of events refused is kept."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0014"
down_revision: Final = "0013"
branch_labels: Final = None
depends_on: Final = None

# An older release sets nothing aside: its relay waits behind what a sink refuses.
_TABLE: Final = """
create table dead_letter (
    sink text collate "C" not null,
    stream text collate "C" not null,
    seq bigint not null,
    event_id uuid not null,
    kind text not null,
    verb text not null,
    body bytea not null,
    at timestamptz not null,
    reason text not null,
    attempts integer not null,
    refused_at timestamptz default clock_timestamp() not null,
    again boolean default false not null,
    constraint dead_letter_pkey primary key (sink, stream, seq)
)
"""


def upgrade() -> None:
    """Make their table."""
    op.execute(_TABLE)
