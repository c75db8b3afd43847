"""What callers were given on objects and on all above them: one statement, however many objects are asked about."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from lakeward_authz.adapters.postgres.facts import Facts, rights_of
from lakeward_authz.adapters.postgres.holders import Held, Holders
from lakeward_authz.adapters.postgres.shown import PostgresShown
from lakeward_authz.adapters.postgres.subjects import (
    GIVEN,
    IN_NAMESPACE,
    KNOWN,
    MINE,
    OBJECT,
    SHOWS,
    SUBJECTS,
    WHO,
    for_several,
)
from lakeward_authz.adapters.postgres.within_seen import Likely, below_seen, seen_before, within_seen
from lakeward_authz.application.permissions import Asked, Rights, Shown
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_servicekit.postgres.pools import Pool

# What the caller was given below a project, or below a warehouse.
_IN_PROJECT: Final = f"""
{MINE} (select from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id > '{NIL}' and {SHOWS} limit 1) as g
"""
_IN_WAREHOUSE: Final = f"""
{MINE} (select from grants g where {GIVEN} and g.project_id = {{0}}.project_id
            and g.warehouse_id = {{0}}.warehouse_id and g.kind <> 'warehouse' and {SHOWS} limit 1) as g
"""
# What is told of a place `p`; who asks stands in it as WHO.
_ANSWER: Final = f"""p.n, p.project_id, uuid_send(p.warehouse_id), p.kind, uuid_send(p.object_id), uuid_send(p.parent_id),
       p.managed_access,
       array(select g.relation from grants g
              where g.project_id = p.project_id and g.warehouse_id = p.warehouse_id and g.kind = p.kind
                and g.object_id = p.object_id and g.subject = any({WHO})),
       case p.kind
         when 'role' then ('role:' || p.object_id) = any({WHO})
         when 'project' then exists (select from {_IN_PROJECT.format("p")})
         when 'warehouse' then p.n is not null and exists (select from {_IN_WAREHOUSE.format("p")})
         when 'namespace' then p.n is not null and exists (
             select from {IN_NAMESPACE.format("p")} where p.object_id = any(o.path))
         else false
       end,
       (select sum(revision) from revisions)::bigint
  """
# Rows with `n` answer the objects asked about, the others are what is above them, once each. What shows because of something
# below is looked for where it is asked: of the objects themselves, and of projects, which roles and tags look up to.
RIGHTS: Final = f"""
with recursive {SUBJECTS},
asked as materialized (
    select a.n, o.project_id, o.warehouse_id, o.kind, o.object_id, o.parent_id, o.path, o.managed_access
      from unnest($2::text[], $3::uuid[], $4::text[], $5::uuid[]) with ordinality
           as a(project_id, warehouse_id, kind, object_id, n),
           lateral ({OBJECT.format("a")}) as o),
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
      from above a, lateral ({OBJECT.format("a")}) as o)
select {_ANSWER}from places p
"""
REVISION: Final = "select sum(revision)::bigint from revisions"
_COLUMNS: Final = 10
_ATTEMPTS: Final = 3
_RIGHTS_OF_SEVERAL: Final = for_several(RIGHTS)
# For several callers of whom it is known which roles they hold, each with objects of its own; rows begin with whose they are.
RIGHTS_OF_MANY: Final = f"""
with callers as materialized (
    select c, array_agg(subject) as subjects from unnest($1::int[], $2::text[]) as s(c, subject) group by c),
asked as materialized (
    select a.c, a.n, o.project_id, o.warehouse_id, o.kind, o.object_id, o.parent_id, o.path, o.managed_access
      from unnest($3::int[], $4::int[], $5::text[], $6::uuid[], $7::text[], $8::uuid[])
           as a(c, n, project_id, warehouse_id, kind, object_id),
           lateral ({OBJECT.format("a")}) as o),
above(c, project_id, warehouse_id, kind, object_id) as (
    select distinct c, project_id, warehouse_id, 'namespace', unnest(path) from asked
    union
    select c, project_id, warehouse_id, 'warehouse', '{NIL}'::uuid from asked where warehouse_id <> '{NIL}'
    union
    select c, project_id, '{NIL}'::uuid, 'project', '{NIL}'::uuid from asked where project_id <> ''
    union
    select c, '', '{NIL}'::uuid, 'server', '{NIL}'::uuid from callers),
places as (
    select c, n, project_id, warehouse_id, kind, object_id, parent_id, managed_access from asked
    union all
    select a.c, null, o.project_id, o.warehouse_id, o.kind, o.object_id, o.parent_id, o.managed_access
      from above a, lateral ({OBJECT.format("a")}) as o)
select p.c, {_ANSWER.replace(WHO, "w.subjects")}
  from places p join callers w on w.c = p.c
"""
RIGHTS_OF_KNOWN: Final = RIGHTS.replace(f"with recursive {SUBJECTS}", f"with {KNOWN}")


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
        shown: sets of what shows; None: those of the same rows.
        holders: remember which roles callers hold; None: for each statement they are followed anew.
    """

    def __init__(self, pool: Pool, *, shown: PostgresShown | None = None, holders: Holders | None = None) -> None:
        """Read through `pool`."""
        self._pool = pool
        self._shown = shown or PostgresShown(pool)
        self._holders = holders

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """See `RightsReader`."""
        if self._holders is not None:
            held = await self._holders.of(subject, also)
            rights = rights_of(
                await self._pool.fetch(RIGHTS_OF_KNOWN, held.subjects, *_places_of(objects)), len(objects)
            )
            if rights.revision == held.revision:
                return rights
            await self._holders.of(subject, also, fresh=True)  # for the next question; this one follows them itself
        statement = _RIGHTS_OF_SEVERAL if also else RIGHTS
        return rights_of(await self._pool.fetch(statement, *_arguments(subject, objects, also)), len(objects))

    async def revision(self) -> int:
        """See `RightsTogether`."""
        found: int = await self._pool.fetchval(REVISION)
        return found

    def glimpsed(
        self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()
    ) -> Rights | None:
        """See `RightsTogether`."""
        held = None if self._holders is None else self._holders.known(subject, also)
        return None if held is None else seen_before(objects, held)

    async def of_apart(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`.

        What is asked about tabulars in warehouses that are known to show is answered by the tabulars' own rows and by what is
        remembered of the places above them, if all of them show. Else all that an answer follows from is read, as if nothing
        were remembered: so a refusal does not tell what is hidden from what is absent.
        """
        if self._holders is None:
            return await self.of_each(asked)
        known = [self._holders.known(subject, also) for subject, _, also in asked]
        likely = {
            number: Likely(held, each[1])
            for number, (each, held) in enumerate(zip(asked, known, strict=True))
            if held is not None and below_seen(each[1], held)
        }
        found = await within_seen(self._pool, likely) if likely else {}
        rest = [number for number in range(len(asked)) if number not in found]
        if rest:
            found |= zip(rest, await self.of_each([asked[number] for number in rest]), strict=True)
        return [found[number] for number in range(len(asked))]

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`."""
        if self._holders is not None and (found := await self._of_many(asked, self._holders)) is not None:
            return found
        arguments = [argument for each in asked for argument in _arguments(*each)]
        rows = await self._pool.fetch(rights_of_each(tuple(bool(also) for _, _, also in asked)), *arguments)
        apart: list[list[Sequence[Any]]] = [[] for _ in asked]
        for number, *row in rows:
            apart[number].append(row)
        return [rights_of(own, len(objects)) for own, (_, objects, _) in zip(apart, asked, strict=True)]

    async def _of_many(self, asked: Sequence[Asked], holders: Holders) -> Sequence[Rights] | None:
        """By which roles they are known to hold; None where that changes faster than it is read."""
        places = [
            (number, place, key.project_id, key.warehouse_id, key.type, key.id)
            for number, (_, objects, _) in enumerate(asked)
            for place, key in enumerate(objects, 1)
        ]
        for attempt in range(_ATTEMPTS):
            held = await self._held(asked, holders, fresh=attempt > 0)
            callers = [(number, subject) for number, each in enumerate(held) for subject in each.subjects]
            arguments = [*_columns(callers, 2), *_columns(places, 6)]
            apart: list[list[Sequence[Any]]] = [[] for _ in asked]
            for number, *row in await self._pool.fetch(RIGHTS_OF_MANY, *arguments):
                apart[number].append(row)
            facts = [Facts(own, len(objects)) for own, (_, objects, _) in zip(apart, asked, strict=True)]
            rights = [each.rights() for each in facts]
            if all(each.revision == its.revision for each, its in zip(held, rights, strict=True)):
                for each, its in zip(held, facts, strict=True):
                    holders.keep(each, its.seen())
                return rights
        return None

    async def _held(self, asked: Sequence[Asked], holders: Holders, *, fresh: bool) -> Sequence[Held]:
        known = [None if fresh else holders.known(subject, also) for subject, _, also in asked]
        if None not in known:
            return [each for each in known if each is not None]
        return await asyncio.gather(*(holders.of(subject, also, fresh=fresh) for subject, _, also in asked))

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader`."""
        return await self._shown.of(subject, scope, type_name, also=also)

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
    return [subject, *also] if also else subject, *_places_of(objects)


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> Sequence[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(count)]


def _places_of(objects: Sequence[ObjectKey]) -> tuple[object, ...]:
    return (
        [key.project_id for key in objects],
        [key.warehouse_id for key in objects],
        [key.type for key in objects],
        [key.id for key in objects],
    )
