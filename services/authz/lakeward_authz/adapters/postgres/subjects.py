"""Parts of statements: who asks, with all roles that it holds, and what it was given anywhere."""

from __future__ import annotations

from typing import Final

from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, OWNERSHIP, shows_above

# A condition of each row by itself, so that no plan can join with it.
SHOWS: Final = "({})".format(
    " or ".join(
        "g.kind = '{}' and g.relation in ({})".format(
            kind, ", ".join(f"'{each}'" for each in sorted(shows_above(kind)))
        )
        for kind in ("warehouse", "namespace", "table", "view", "generic_table")
    )
)
_ONE: Final = "select $1::text"
# By its guess of how many roles there are, or of what somebody was given, Postgres would read all grants to join them, or all
# objects; and a plan that is made once outlives the day on which a table was small. So what is looked up one by one says so:
# a subquery with an offset is run for each row that it depends on, and finds its own by an index.
# The caller and all roles that it holds: directly, through roles, or by owning them.
SUBJECTS: Final = f"""
subjects(subject) as (
    {_ONE}
    union
    select 'role:' || g.object_id
      from subjects s, lateral (
           select object_id from grants
            where subject = s.subject and kind = 'role' and relation in ('{ASSIGNEE}', '{OWNERSHIP}') offset 0) as g),
who(subjects) as materialized (select array_agg(subject) from subjects)
"""
# Those of whom it was read before.
KNOWN: Final = "who(subjects) as materialized (select $1::text[])"
# What somebody was given is looked up by `grants_of_subject`, which takes no question that does not say so.
GIVEN: Final = "g.subject = me.subject and g.relation <> ''"
WHO: Final = "(select subjects from who)::text[]"
MINE: Final = f"unnest({WHO}) as me(subject), lateral"
OBJECT: Final = """
select * from objects
 where project_id = {0}.project_id and warehouse_id = {0}.warehouse_id and kind = {0}.kind and object_id = {0}.object_id limit 1
"""
IN_NAMESPACE: Final = f"""
{MINE} (select * from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id = {{0}}.warehouse_id and g.kind <> 'warehouse' and {SHOWS} offset 0) as g,
     lateral ({OBJECT.format("g")}) as o
"""


def for_several(statement: str) -> str:
    """The same for a caller that has some roles for one question alone: its subject and theirs are $1, an array."""
    return statement.replace(_ONE, "select unnest($1::text[])")
