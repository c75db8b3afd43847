"""Names and paths are found by their trigrams, each within its warehouse."""

from __future__ import annotations

from typing import Final

from alembic import op

from lakeward_servicekit.postgres.extensions import require_extension

revision: Final = "0011"
down_revision: Final = "0009"
branch_labels: Final = None
depends_on: Final = None

# Operators have no schema of their own in a statement that can be prepared anywhere, so functions that Postgres inlines name it.
# An older release goes on to compare every name of a warehouse.
_LIKENESS: Final = """
do $$
declare home text;
begin
    select quote_ident(n.nspname) into home
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
    execute format(
        'create function name_is_like(sought text, name text) returns boolean language sql stable parallel safe as %L',
        format('select name operator(%s.%%>) sought', home));
    execute format(
        'create function name_likeness(sought text, name text) returns real language sql immutable parallel safe as %L',
        format('select %s.similarity(sought, name)', home));
    -- The warehouse stands in these as text and as bytes, as in no other index, so that none is taken for another one, whatever
    -- is known of how many rows a warehouse has. The first finds names by their beginning, however many begin alike. New entries
    -- of the others wait in a short list, which a create works off now and then.
    create index tabular_beginning on tabular (((warehouse_id::text) collate "C"), name_key) where state = 'live';
    execute format(
        'create index tabular_search on tabular using gin (uuid_send(warehouse_id), name_key %s.gin_trgm_ops)
           with (gin_pending_list_limit = 512) where state = ''live''', home);
    execute format(
        'create index namespace_search on namespace using gin (uuid_send(warehouse_id), path_key %s.gin_trgm_ops)
           with (gin_pending_list_limit = 512)', home);
end $$
"""


def upgrade() -> None:
    """Make the extensions, functions and indexes of searches."""
    bind = op.get_bind()
    for extension in ("pg_trgm", "btree_gin"):
        require_extension(bind, extension, use="with which tables and views are searched by name")
    op.execute(_LIKENESS)
