"""The server is called what its operator says, and has an id beside it that no other installation has."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import context, op

revision: Final = "0009"
down_revision: Final = "0007"
branch_labels: Final = None
depends_on: Final = None

_STATEMENTS: Final = (
    # An older release reads and marks places with server_id. Its marks stay those of this installation.
    "alter table server add column installation_id uuid not null default gen_random_uuid()",
    "update server set installation_id = server_id",
)
# The first migration made the id up. Nobody has seen it where nobody opened the server yet; everywhere else it stays.
_NAME: Final = """
update server set server_id = cast(:server_id as uuid) where not bootstrapped and not exists (select from project)
"""
_NIL: Final = "00000000-0000-0000-0000-000000000000"


def upgrade() -> None:
    """Keep the old id as the installation's, and call a server that is new what it is to be called."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute(sa.text(_NAME).bindparams(server_id=context.config.attributes.get("server_id") or _NIL))
