"""Tags: what a project calls things, and what is called so."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on meanwhile: what it deletes takes its tags along, and it deletes no project that has tags without them.
_STATEMENTS: Final = (
    """
create table tag_definition (
    project_id text collate "C" not null,
    tag_id uuid not null,
    name text not null,
    name_key text collate "C" not null,
    description text,
    scopes text[] not null,
    value_kind text not null,
    allowed_values text[] not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    constraint tag_definition_pkey primary key (project_id, tag_id),
    constraint tag_definition_project_fkey foreign key (project_id) references project (project_id) on delete cascade,
    constraint tag_definition_value_kind_check check (value_kind in ('marker', 'free-text', 'enumerated')),
    constraint tag_definition_some_scope_check check (cardinality(scopes) > 0)
)
""",
    "create unique index tag_definition_name on tag_definition (project_id, name_key)",
    "create index tag_definition_by_age on tag_definition (project_id, created_at, tag_id)",
    """
create table tag_attachment (
    warehouse_id uuid not null,
    attachment_id uuid not null,
    project_id text collate "C" not null,
    tag_id uuid not null,
    scope text not null,
    namespace_id uuid,
    incarnation uuid,
    field_id integer,
    value text,
    created_at timestamptz not null,
    updated_at timestamptz,
    constraint tag_attachment_pkey primary key (warehouse_id, attachment_id),
    constraint tag_attachment_tag_definition_fkey
        foreign key (project_id, tag_id) references tag_definition (project_id, tag_id),
    constraint tag_attachment_warehouse_fkey
        foreign key (warehouse_id) references warehouse (warehouse_id) on delete cascade,
    constraint tag_attachment_namespace_fkey
        foreign key (warehouse_id, namespace_id) references namespace (warehouse_id, namespace_id) on delete cascade,
    constraint tag_attachment_tabular_fkey
        foreign key (warehouse_id, incarnation) references tabular (warehouse_id, incarnation) on delete cascade,
    constraint tag_attachment_one_place_check check (case scope
        when 'warehouse' then namespace_id is null and incarnation is null and field_id is null
        when 'namespace' then namespace_id is not null and incarnation is null and field_id is null
        when 'column' then namespace_id is null and incarnation is not null and field_id is not null
        else namespace_id is null and incarnation is not null and field_id is null end)
)
""",
    """create unique index tag_attachment_place
           on tag_attachment (warehouse_id, incarnation, namespace_id, field_id, tag_id) nulls not distinct""",
    """create index tag_attachment_of_namespace on tag_attachment (warehouse_id, namespace_id)
           where namespace_id is not null""",
    "create index tag_attachment_of_tag on tag_attachment (project_id, tag_id, created_at, attachment_id)",
)


def upgrade() -> None:
    """Add them."""
    for statement in _STATEMENTS:
        op.execute(statement)
