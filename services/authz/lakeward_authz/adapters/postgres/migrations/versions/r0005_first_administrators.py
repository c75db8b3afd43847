"""What the first administrator may do as a grant, and which OpenFGA store the outbox is for."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"
branch_labels: Final = None
depends_on: Final = None

_STEPS: Final = (
    """
create table openfga_feeds (
    only_row boolean default true not null,
    store_id text collate "C" not null,
    wanted_at timestamptz not null,
    complete boolean not null,
    constraint openfga_feeds_pkey primary key (only_row),
    constraint openfga_feeds_one_row_check check (only_row)
)
""",
    "comment on table openfga_feeds is 'the store that the outbox is for'",
    "comment on column openfga_feeds.wanted_at is 'when a process said last that it asks that store'",
    "comment on column openfga_feeds.complete is 'whether it was given everything once'",
    # Whoever opened the server for use, before that was a grant. The anonymous caller is given nothing.
    """
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation, granted_at)
select '', '00000000-0000-0000-0000-000000000000', 'server', '00000000-0000-0000-0000-000000000000',
       'user:' || user_id, case when is_operator then 'operator' else 'admin' end, appointed_at
  from first_administrator where user_id is not null
on conflict do nothing
""",
)


def upgrade() -> None:
    """Give first administrators their right, and make the table."""
    for statement in _STEPS:
        op.execute(statement)
