"""What many subjects were given on one object is looked up by the object.

A process of the release before finds what a subject was given without this index, by reading all grants, until it is replaced.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0008"
down_revision: Final = "0007"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    "drop index grants_of_subject",
    """
create index grants_of_subject on grants (subject, project_id, warehouse_id, kind, object_id, relation)
 where relation <> ''
""",
)


def upgrade() -> None:
    """Make the index anew, with a condition that questions about objects do not meet."""
    for statement in _STEPS:
        op.execute(statement)
