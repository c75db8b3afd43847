"""Who did or tried what, of credentials, and whose project they are of."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"
branch_labels: Final = None
depends_on: Final = None

# Rows are read by their ids, which begin with their time, and forgotten by them.
_STEPS: Final = (
    """
create table audit_record (
    audit_id uuid not null,
    at timestamptz not null,
    outcome text not null,
    action text not null,
    kind text not null,
    object_id text not null,
    object text not null,
    project_id text collate "C" not null,
    warehouse_id uuid,
    principal text not null,
    role text not null,
    reason text not null,
    request_id text not null,
    client text not null,
    user_agent text not null,
    constraint audit_record_pkey primary key (audit_id)
)
""",
    "create index audit_record_project on audit_record (project_id, audit_id)",
    # unknown of what an older release stages
    'alter table secret add column project_id text collate "C"',
)


def upgrade() -> None:
    """Make their table, and the column."""
    for step in _STEPS:
        op.execute(step)
