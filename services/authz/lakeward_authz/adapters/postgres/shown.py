"""What shows to somebody by what it was given directly: sets, read as a whole.

Thousands may hold by one role what that was given, one by one, on ten thousand tables. So what such a role was given is read once
for all who ask at one moment, and each of them has it beside what else it holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from lakeward_authz.adapters.postgres.subjects import GIVEN, IN_NAMESPACE, MINE, SHOWS, SUBJECTS, for_several
from lakeward_authz.application.permissions import Shown
from lakeward_authz.domain.permissions.lakeward import MODEL, SIGHT
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.shared_reads import SharedReads

if TYPE_CHECKING:
    from asyncpg import Record

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
select distinct g.warehouse_id
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
      from {_SCOPE}, {IN_NAMESPACE.format("scope")}
     where $4::uuid is null or $4 = any(o.path))
select distinct child
  from ways, lateral (values (way[case when $4::uuid is null then 1 else array_position(way, $4) + 1 end])) as c(child)
 where child is not null
"""
# Whether something is in the scope is looked up for each, while they are few; else all that is in the scope is read once.
_FEW: Final = 250
# Of tabulars in a warehouse, or in one of its namespaces.
GIVEN_THERE: Final = f"""
{GIVEN} and g.project_id = $2 and g.warehouse_id = $3 and {SHOWS}
    and (g.kind = $5 or $4::uuid is null and g.kind = 'namespace')
"""
# Of subjects that were found before: one row, with arrays in place of a row for each of ten thousand.
TABULARS_OF: Final = f"""
given as materialized (
    select distinct g.kind, g.object_id
      from {MINE} (select kind, object_id from grants g where {GIVEN_THERE} offset 0) as g),
shown as materialized (
    select g.kind = 'namespace' as whole, g.object_id
      from given g
     where $4::uuid is null
        or case when (select count(*) from given) <= {_FEW}
                then $4 = (select parent_id from objects
                            where project_id = $2 and warehouse_id = $3 and kind = $5 and object_id = g.object_id)
                else g.object_id in (select object_id from objects where warehouse_id = $3 and parent_id = $4 and kind = $5)
           end)
select array(select object_id from shown where whole), array(select object_id from shown where not whole),
       (select sum(revision) from revisions)::bigint
"""
SHOWN_TABULARS: Final = f"""
with recursive {SUBJECTS}, {TABULARS_OF}
"""
# Of each of the caller's subjects how much it was given there, counted so far; those that were given nothing are left out.
HOLDERS: Final = f"""
with recursive {SUBJECTS}
select me.subject, count.given, (select sum(revision) from revisions)::bigint
  from {MINE} (select count(*) as given from (
           select from grants g where {GIVEN_THERE} limit $6::bigint + 1) as counted) as count
 where count.given > 0
"""
_OF_SOME: Final = f"""
with who(subjects) as materialized (select $1::text[]), {TABULARS_OF}
"""


class _Asked(NamedTuple):
    """What one subject was given of one type in a place; `namespace_id` None: in all of the warehouse."""

    subject: Subject
    project_id: str
    warehouse_id: UUID
    namespace_id: UUID | None
    type_name: str


class _Set(NamedTuple):
    """What shows, and the state of the grants that it is of."""

    shown: Shown
    revision: int


class PostgresShown:
    """Sets of what shows, on authz's rows.

    Args:
        pool: of authz's schema, on the primary.
        few: what a subject may have been given in a place to be read for each who asks, and not once for all.
    """

    def __init__(self, pool: Pool, *, few: int = _FEW) -> None:
        """Read through `pool`."""
        self._pool: Final = pool
        self._few: Final = few
        self._shared: Final = SharedReads[_Asked, _Set](self._alone)

    async def of(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader.shown`."""
        asked = [subject, *also] if also else subject
        written = for_several if also else str
        if type_name == "project":
            rows = await self._pool.fetch(written(SHOWN_PROJECTS), asked)
            return Shown(projects=frozenset(project_id for (project_id,) in rows))
        if type_name == "warehouse":
            rows = await self._pool.fetch(written(SHOWN_WAREHOUSES), asked, scope.project_id)
            return Shown(objects=frozenset(warehouse_id for (warehouse_id,) in rows))
        inside = (scope.project_id, scope.warehouse_id, None if scope.id == NIL else scope.id)
        if type_name == "namespace":
            rows = await self._pool.fetch(written(SHOWN_NAMESPACES), asked, *inside)
            return Shown(objects=frozenset(namespace_id for (namespace_id,) in rows))
        holders = await self._pool.fetch(written(HOLDERS), asked, *inside, type_name, self._few)
        few = [Subject(holder) for holder, given, _ in holders if given <= self._few]
        much = [_Asked(Subject(holder), *inside, type_name) for holder, given, _ in holders if given > self._few]
        if not holders:
            return Shown()
        if much:
            light = [self._some(few, *inside, type_name)] if few else []
            sets = await asyncio.gather(*map(self._shared, much), *light)
            if {each.revision for each in sets} == {holders[0][2]}:
                return _united([each.shown for each in sets])
            # rights were given or taken in between: what was read is of no one moment
        return _set(await self._pool.fetchrow(written(SHOWN_TABULARS), asked, *inside, type_name)).shown

    async def _alone(self, asked: _Asked) -> _Set:
        return await self._some([asked.subject], *asked[1:])

    async def _some(
        self,
        subjects: Sequence[Subject],
        project_id: str,
        warehouse_id: UUID,
        namespace_id: UUID | None,
        type_name: str,
    ) -> _Set:
        row = await self._pool.fetchrow(_OF_SOME, subjects, project_id, warehouse_id, namespace_id, type_name)
        return _set(row)


def _set(row: Record | None) -> _Set:
    assert row is not None, "it is one row, whatever was given"
    containers, objects, revision = row
    return _Set(Shown(containers=frozenset(containers), objects=frozenset(objects)), revision)


def _united(shown: Sequence[Shown]) -> Shown:
    """All of it; one that has everything by itself stays the set that it is, which many others have too."""
    if len(shown) == 1:
        return shown[0]
    return Shown(
        frozenset[UUID]().union(*(each.containers for each in shown)), _largest([each.objects for each in shown])
    )


def _largest(sets: Sequence[frozenset[UUID]]) -> frozenset[UUID]:
    largest = max(sets, key=len)
    return largest if all(each <= largest for each in sets) else largest.union(*sets)
