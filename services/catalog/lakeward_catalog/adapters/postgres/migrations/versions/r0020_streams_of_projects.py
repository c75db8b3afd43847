"""Streams of projects are told from those of warehouses."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0020"
down_revision: Final = "0019"
branch_labels: Final = None
depends_on: Final = None

# A stream of a project goes under its new name with all that is in it, numbers included. One that a warehouse of the same id has
# written to keeps its name and its events; the project's new ones begin a stream. What an older release still writes does so
# under the old name, and the sequencer orders it there.
_RENAMED: Final = """
create temporary table renamed on commit drop as
select known.stream, 'project-' || known.stream as name
  from event_stream known
 where known.stream <> 'server'
   and not exists (select from warehouse w where w.warehouse_id::text = known.stream)
   and not exists (
       select from event_log e where e.stream = known.stream and e.kind not in ('project', 'tag-definition'))
   and (exists (select from project p where p.project_id = known.stream)
        or exists (select from event_log e where e.stream = known.stream))
   and not exists (select from event_stream taken where taken.stream = 'project-' || known.stream)
"""
_TABLES: Final = ("event_log", "event_stream", "sink_cursor", "dead_letter")
_WAITING: Final = """
update outbox set stream = 'project-' || stream where kind in ('project', 'tag-definition')
"""


def upgrade() -> None:
    """Rename them."""
    op.execute("lock table event_stream in share row exclusive mode")  # sequencers wait
    op.execute(_RENAMED)
    for table in _TABLES:
        op.execute(f"update {table} t set stream = renamed.name from renamed where t.stream = renamed.stream")
    op.execute(_WAITING)
