"""The rows that an explanation follows from: the way to an object, and what was given on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_authz.adapters.postgres.grants import named
from lakeward_authz.adapters.postgres.subjects import SHOWS
from lakeward_authz.application.explaining import Trail
from lakeward_authz.application.permissions import Given, Grant
from lakeward_authz.domain.permissions.explaining import Link, Right, Way
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MODEL, OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL, SERVER, ObjectKey, Subject, role_subject
from lakeward_servicekit.postgres.pools import Connection, Pool

_MOST: Final = 5000
_INSIDE_SHOWN: Final = 5
_PATH: Final = """
select path from objects where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4
"""
_LINKS: Final = """
select k.n, o.public_id, o.managed_access
  from unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[]) with ordinality
       as k(project_id, warehouse_id, kind, object_id, n)
  join objects o using (project_id, warehouse_id, kind, object_id) order by k.n
"""
_ROLES: Final = f"""
with recursive subjects(subject, via) as (
    select $1::text, null::text
    union
    select unnest($2::text[]), $1::text
    union
    select 'role:' || g.object_id, s.subject from subjects s
      join grants g on g.subject = s.subject and g.kind = 'role' and g.relation in ('{ASSIGNEE}', '{OWNERSHIP}'))
select subject, min(via) from subjects where via is not null group by subject
"""
_GRANTS: Final = """
select k.n, g.subject, g.relation
  from unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[]) with ordinality
       as k(project_id, warehouse_id, kind, object_id, n)
  join grants g using (project_id, warehouse_id, kind, object_id)
 order by g.subject = any($5::text[]) desc, k.n, g.subject, g.relation limit $6
"""
INSIDE: Final = f"""
select g.subject, g.relation, g.granted_at, g.project_id, g.warehouse_id, g.kind, g.object_id, o.public_id
  from grants g join objects o using (project_id, warehouse_id, kind, object_id)
 where g.subject = any($1::text[]) and g.relation <> '' and g.project_id = $2 and g.warehouse_id <> '{NIL}' and {SHOWS}
   and ($3::uuid = '{NIL}' or (g.warehouse_id = $3 and g.kind <> 'warehouse'))
   and ($4::uuid = '{NIL}' or $4 = any(o.path))
 order by g.warehouse_id, g.kind, g.object_id, g.relation limit {_INSIDE_SHOWN}
"""


class PostgresTrails:
    """The `Trails` on authz's rows.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def of(self, key: ObjectKey, subject: Subject, *, also: Sequence[Subject] = ()) -> Trail | None:
        """See `Trails`."""
        async with self._pool.transaction() as connection:
            path = await connection.fetchval(_PATH, key.project_id, key.warehouse_id, key.type, key.id)
            if path is None:
                return None
            keys = _way_to(key, path)
            links = await connection.fetch(_LINKS, *_columns(keys))
            if len(links) != len(keys):
                return None  # it went between the two
            roles = {Subject(role): Subject(via) for role, via in await connection.fetch(_ROLES, subject, also)}
            subjects = [subject, *roles]
            rows = await connection.fetch(_GRANTS, *_columns(keys), subjects, _MOST)
            others = [Right(number - 1, Subject(who), relation) for number, who, relation in rows]
            inside = {
                place: await _inside(connection, each, subjects) for place, each in enumerate(keys) if _shows(each)
            }
        shown = [place for place, found in inside.items() if found]
        return Trail(
            way=Way(
                [Link(each, managed=managed) for each, (_, _, managed) in zip(keys, links, strict=True)],
                shown=shown,
                assumed=key.type == "role" and subject == role_subject(key.id),
            ),
            named=[named(each, public_id) for each, (_, public_id, _) in zip(keys, links, strict=True)],
            rights=sorted(right for right in others if right.subject in subjects),
            roles=roles,
            inside=inside.get(len(keys) - 1, []),
            others=others,
        )


def _shows(key: ObjectKey) -> bool:
    return GLIMPSE in MODEL.types[key.type].bits


async def _inside(connection: Connection, key: ObjectKey, subjects: Sequence[Subject]) -> list[Given]:
    rows = await connection.fetch(INSIDE, subjects, key.project_id, key.warehouse_id, key.id)
    return [
        Given(
            Grant(Subject(who), relation),
            named(ObjectKey(kind, project_id, warehouse_id, own), public_id),
            at,
            (),
        )
        for who, relation, at, project_id, warehouse_id, kind, own, public_id in rows
    ]


def _way_to(key: ObjectKey, path: Sequence[UUID]) -> list[ObjectKey]:
    if key.type == "server":
        return [SERVER]
    way = [SERVER, ObjectKey("project", key.project_id)]
    if key.warehouse_id != NIL:
        way.append(ObjectKey("warehouse", key.project_id, key.warehouse_id))
    way += [ObjectKey("namespace", key.project_id, key.warehouse_id, each) for each in path]
    return way if key == way[-1] else [*way, key]


def _columns(keys: Sequence[ObjectKey]) -> tuple[list[str], list[UUID], list[str], list[UUID]]:
    return (
        [each.project_id for each in keys],
        [each.warehouse_id for each in keys],
        [each.type for each in keys],
        [each.id for each in keys],
    )
