"""Authz is told which warehouses are inactive, and once of all that are."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0018"
down_revision: Final = "0017"
branch_labels: Final = None
depends_on: Final = None

# An older release that goes on meanwhile tells of no switch and passes over one that it finds; `lakeward authz verify` sees both.
_STEPS: Final = (
    """
alter table tree_change drop constraint tree_change_verb_check,
  add constraint tree_change_verb_check check (verb in ('made', 'moved', 'opened', 'closed', 'gone', 'nothing'))
""",
    """
insert into tree_change (warehouse_id, verb, kind, project_id)
select warehouse_id, 'closed', 'warehouse', project_id from warehouse where not active order by created_at, warehouse_id
""",
)


def upgrade() -> None:
    """Allow the two verbs, and tell of those that are inactive now."""
    for statement in _STEPS:
        op.execute(statement)
