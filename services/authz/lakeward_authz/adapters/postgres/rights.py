"""What callers were given on objects and on all above them: one statement, however many objects are asked about."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from typing import Any, Final, TypeAlias

from lakeward_authz.application.permissions import Asked, Rights, Shown
from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import (
    ASSIGNEE,
    GLIMPSE,
    MANAGED_ACCESS,
    MODEL,
    OWNERSHIP,
    SIGHT,
    shows_above,
)
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_servicekit.postgres.pools import Pool

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
_OBJECT: Final = """
select * from objects
 where project_id = {0}.project_id and warehouse_id = {0}.warehouse_id and kind = {0}.kind and object_id = {0}.object_id limit 1
"""
# What somebody was given is looked up by `grants_of_subject`, which takes no question that does not say so.
GIVEN: Final = "g.subject = me.subject and g.relation <> ''"
MINE: Final = "unnest((select subjects from who)::text[]) as me(subject), lateral"
# What the caller was given below a project, or below a warehouse.
_IN_PROJECT: Final = f"""
{MINE} (select from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id > '{NIL}' and {SHOWS} limit 1) as g
"""
_IN_WAREHOUSE: Final = f"""
{MINE} (select from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id = {{0}}.warehouse_id and g.kind <> 'warehouse' and {SHOWS} limit 1) as g
"""
_IN_NAMESPACE: Final = f"""
{MINE} (select * from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id = {{0}}.warehouse_id and g.kind <> 'warehouse' and {SHOWS} offset 0) as g,
     lateral ({_OBJECT.format("g")}) as o
"""
# Rows with `n` answer the objects asked about, the others are what is above them, once each. What shows because of something
# below is looked for where it is asked: of the objects themselves, and of projects, which roles and tags look up to.
RIGHTS: Final = f"""
with recursive {SUBJECTS},
asked as materialized (
    select a.n, o.project_id, o.warehouse_id, o.kind, o.object_id, o.parent_id, o.path, o.managed_access
      from unnest($2::text[], $3::uuid[], $4::text[], $5::uuid[]) with ordinality
           as a(project_id, warehouse_id, kind, object_id, n),
           lateral ({_OBJECT.format("a")}) as o),
above(project_id, warehouse_id, kind, object_id) as (
    select distinct project_id, warehouse_id, 'namespace', unnest(path) from asked
    union
    select project_id, warehouse_id, 'warehouse', '{NIL}'::uuid from asked where warehouse_id <> '{NIL}'
    union
    select project_id, '{NIL}'::uuid, 'project', '{NIL}'::uuid from asked where project_id <> ''
    union
    select '', '{NIL}'::uuid, 'server', '{NIL}'::uuid),
places as (
    select n, project_id, warehouse_id, kind, object_id, parent_id, managed_access from asked
    union all
    select null, o.project_id, o.warehouse_id, o.kind, o.object_id, o.parent_id, o.managed_access
      from above a, lateral ({_OBJECT.format("a")}) as o)
select p.n, p.project_id, uuid_send(p.warehouse_id), p.kind, uuid_send(p.object_id), uuid_send(p.parent_id),
       p.managed_access,
       array(select g.relation from grants g
              where g.project_id = p.project_id and g.warehouse_id = p.warehouse_id and g.kind = p.kind
                and g.object_id = p.object_id and g.subject = any((select subjects from who)::text[])),
       case p.kind
         when 'role' then ('role:' || p.object_id) = any((select subjects from who)::text[])
         when 'project' then exists (select from {_IN_PROJECT.format("p")})
         when 'warehouse' then p.n is not null and exists (select from {_IN_WAREHOUSE.format("p")})
         when 'namespace' then p.n is not null and exists (
             select from {_IN_NAMESPACE.format("p")} where p.object_id = any(o.path))
         else false
       end,
       (select sum(revision) from revisions)::bigint
  from places p
"""

# A project shows by what was granted on itself, or on anything in one of its warehouses.
_PROJECT_SHOWS: Final = ", ".join(f"'{relation}'" for relation in sorted(MODEL.alone("project", SIGHT)))
SHOWN_PROJECTS: Final = f"""
with recursive {SUBJECTS}
select distinct g.project_id
  from {MINE} (
       select project_id from grants g
        where {GIVEN}
          and (g.kind = 'project' and g.relation in ({_PROJECT_SHOWS}) or g.warehouse_id <> '{NIL}' and {SHOWS}) offset 0) as g
"""
SHOWN_WAREHOUSES: Final = f"""
with recursive {SUBJECTS}
select distinct false, g.warehouse_id
  from {MINE} (
       select warehouse_id from grants g
        where {GIVEN} and g.project_id = $2 and g.warehouse_id > '{NIL}' and {SHOWS} offset 0) as g
"""
_SCOPE: Final = "(select $2::text as project_id, $3::uuid as warehouse_id offset 0) as scope"
# The child of the scope on the way to whatever was granted.
SHOWN_NAMESPACES: Final = f"""
with recursive {SUBJECTS},
ways(way) as (
    select case o.kind when 'namespace' then o.path || o.object_id else o.path end
      from {_SCOPE}, {_IN_NAMESPACE.format("scope")}
     where $4::uuid is null or $4 = any(o.path))
select distinct false, child
  from ways, lateral (values (way[case when $4::uuid is null then 1 else array_position(way, $4) + 1 end])) as c(child)
 where child is not null
"""
# Whether something is in the scope is looked up for each, while they are few; else all that is in the scope is read once.
_FEW: Final = 250
SHOWN_TABULARS: Final = f"""
with recursive {SUBJECTS},
given as materialized (
    select distinct g.kind, g.object_id
      from {MINE} (
           select kind, object_id from grants g
            where {GIVEN} and g.project_id = $2 and g.warehouse_id = $3 and {SHOWS}
              and (g.kind = $5 or $4::uuid is null and g.kind = 'namespace') offset 0) as g)
select g.kind = 'namespace', g.object_id
  from given g
 where $4::uuid is null
    or case when (select count(*) from given) <= {_FEW}
            then $4 = (select parent_id from objects
                        where project_id = $2 and warehouse_id = $3 and kind = $5 and object_id = g.object_id)
            else g.object_id in (select object_id from objects where warehouse_id = $3 and parent_id = $4 and kind = $5)
       end
"""

_COLUMNS: Final = 10


def for_several(statement: str) -> str:
    """The same for a caller that has some roles for one question alone: its subject and theirs are $1, an array."""
    return statement.replace(_ONE, "select unnest($1::text[])")


_RIGHTS_OF_SEVERAL: Final = for_several(RIGHTS)
_Place: TypeAlias = tuple[str, str, bytes, bytes]
_NIL: Final = NIL.bytes
_SERVER: Final[_Place] = ("server", "", _NIL, _NIL)
_BITS: Final = {name: found.bits for name, found in MODEL.types.items()}


# Looked up by the index of idents, one by one.
BOUND: Final = """
select 'role:' || r.role_id
  from unnest($1::text[], $2::text[]) as t(provider_id, source_id)
  join roles r on r.project_id = any($3::text[]) and r.provider_id = t.provider_id and r.source_id = t.source_id
"""
# Reads all roles; who lists projects is the only one who asks for it.
BOUND_ANYWHERE: Final = """
select 'role:' || r.role_id
  from unnest($1::text[], $2::text[]) as t(provider_id, source_id)
  join roles r on r.provider_id = t.provider_id and r.source_id = t.source_id
"""


class PostgresRights:
    """The `RightsReader` on authz's rows.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """See `RightsReader`."""
        statement = _RIGHTS_OF_SEVERAL if also else RIGHTS
        return _rights(await self._pool.fetch(statement, *_arguments(subject, objects, also)), len(objects))

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`."""
        arguments = [argument for each in asked for argument in _arguments(*each)]
        rows = await self._pool.fetch(rights_of_each(tuple(bool(also) for _, _, also in asked)), *arguments)
        apart: list[list[Sequence[Any]]] = [[] for _ in asked]
        for number, *row in rows:
            apart[number].append(row)
        return [_rights(own, len(objects)) for own, (_, objects, _) in zip(apart, asked, strict=True)]

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader`."""
        asked = [subject, *also] if also else subject
        written = for_several if also else str
        if type_name == "project":
            rows = await self._pool.fetch(written(SHOWN_PROJECTS), asked)
            return Shown(projects=frozenset(project_id for (project_id,) in rows))
        if type_name == "warehouse":
            rows = await self._pool.fetch(written(SHOWN_WAREHOUSES), asked, scope.project_id)
        else:
            inside = (scope.project_id, scope.warehouse_id, None if scope.id == NIL else scope.id)
            rows = await (
                self._pool.fetch(written(SHOWN_NAMESPACES), asked, *inside)
                if type_name == "namespace"
                else self._pool.fetch(written(SHOWN_TABULARS), asked, *inside, type_name)
            )
        containers = frozenset([found for is_container, found in rows if is_container])
        objects = (
            [found for is_container, found in rows if not is_container] if containers else [row[1] for row in rows]
        )
        return Shown(containers=containers, objects=frozenset(objects))

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        """See `RightsReader`."""
        idents = [ident.partition("~") for ident in token_roles]
        providers, sources = [provider for provider, _, _ in idents], [source for _, _, source in idents]
        rows = await (
            self._pool.fetch(BOUND_ANYWHERE, providers, sources)
            if project_ids is None
            else self._pool.fetch(BOUND, providers, sources, [*project_ids])
        )
        return [Subject(subject) for (subject,) in rows]


@functools.lru_cache(maxsize=64)
def rights_of_each(with_roles: tuple[bool, ...]) -> str:
    """`RIGHTS` for some callers, each with five parameters of its own; rows begin with whose they are, from 0.

    Args:
        with_roles: of each, whether it has roles for this question alone.
    """
    columns = ", ".join(f"c{number}" for number in range(_COLUMNS))
    return " union all ".join(
        f"select {number}, own.* from ({_shifted(_RIGHTS_OF_SEVERAL if several else RIGHTS, 5 * number)}) as own({columns})"
        for number, several in enumerate(with_roles)
    )


def _shifted(statement: str, by: int) -> str:
    return re.sub(r"\$(\d+)", lambda parameter: f"${int(parameter[1]) + by}", statement)


def _arguments(subject: Subject, objects: Sequence[ObjectKey], also: Sequence[Subject]) -> tuple[object, ...]:
    """The parameters of `RIGHTS`, or of that for several."""
    return (
        [subject, *also] if also else subject,
        [key.project_id for key in objects],
        [key.warehouse_id for key in objects],
        [key.type for key in objects],
        [key.id for key in objects],
    )


def _rights(rows: Sequence[Any], count: int) -> Rights:
    """What the rows of `RIGHTS` say of so many objects."""
    facts: dict[_Place, tuple[int, _Place | None]] = {}
    asked: list[_Place | None] = [None] * count
    glimpsed = [False] * count
    for n, project_id, warehouse_id, kind, object_id, parent_id, managed, given, extra, _ in rows:
        bits = _BITS[kind]
        own = 0
        for relation in given:
            # a relation of a later release's model gives nothing here
            own |= bits.get(relation, 0)
        if managed:
            own |= bits[MANAGED_ACCESS]
        if extra:
            own |= bits[ASSIGNEE if kind == "role" else GLIMPSE]
        place = (kind, project_id, warehouse_id, object_id)
        if n is not None:
            asked[n - 1] = place
            glimpsed[n - 1] = bool(extra) and kind != "role"
        if n is not None or place not in facts:
            facts[place] = (own, _above(place, parent_id))
    known: dict[_Place, int] = {}
    held = [None if place is None else _held(place, facts, known) for place in asked]
    return Rights(held, glimpsed, rows[0][-1])


def _above(place: _Place, parent_id: bytes | None) -> _Place | None:
    kind, project_id, warehouse_id, _ = place
    if parent_id is not None:
        return ("namespace", project_id, warehouse_id, parent_id)
    if kind == "server":
        return None
    if kind == "project":
        return _SERVER
    if kind == "warehouse" or warehouse_id == _NIL:
        return ("project", project_id, _NIL, _NIL)
    return ("warehouse", project_id, warehouse_id, _NIL)


def _held(place: _Place, facts: dict[_Place, tuple[int, _Place | None]], known: dict[_Place, int]) -> int:
    """What follows along the chain from the server down; a link that is missing gives nothing, and so does what is above it."""
    chain: list[_Place] = []
    link: _Place | None = place
    while link is not None and link not in known:
        chain.append(link)
        link = facts[link][1] if link in facts else None
    above = NOTHING if link is None else MODEL.types[link[0]].index
    held = 0 if link is None else known[link]
    for one in reversed(chain):
        index = MODEL.types[one[0]].index
        held = MODEL.held(index, facts[one][0] if one in facts else 0, above, held)
        above = index
        known[one] = held
    return held
