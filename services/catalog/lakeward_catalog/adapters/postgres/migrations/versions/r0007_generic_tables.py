"""Generic tables: a third kind of tabular, whose metadata is in no file, listed with its format; and their versions."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0007"
down_revision: Final = "0006"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on meanwhile: it makes and reads tables and views, of which nothing changes. A name that a generic table
# has it answers with a fault, until it is replaced.
_STATEMENTS: Final = (
    """alter table tabular
           add column format text,
           drop constraint tabular_kind_check,
           drop constraint tabular_has_metadata_check,
           add constraint tabular_kind_check check (kind in ('table', 'view', 'generic_table')),
           add constraint tabular_has_metadata_check
               check (state = 'staged' or kind = 'generic_table' or metadata_location is not null),
           add constraint tabular_has_format_check check ((kind = 'generic_table') = (format is not null))""",
    """
create table table_version (
    warehouse_id uuid not null,
    incarnation uuid not null,
    version bigint not null,
    path text not null,
    size bigint,
    properties json not null,
    claimed_at timestamptz not null,
    constraint table_version_pkey primary key (warehouse_id, incarnation, version),
    constraint table_version_tabular_fkey foreign key (warehouse_id, incarnation)
        references tabular (warehouse_id, incarnation) on delete cascade
)
""",
)


def upgrade() -> None:
    """Let rows be of the new kind, and keep versions."""
    for statement in _STATEMENTS:
        op.execute(statement)
