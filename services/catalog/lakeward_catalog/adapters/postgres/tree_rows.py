"""The catalog's rows as authz is to know them, read in order and held one by one."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth, grow, switch_verb
from lakeward_catalog.application.refs import OBJECT_KINDS
from lakeward_catalog.application.verifying import NIL, Difference, Held, Key, Place, Standing, Verdict
from lakeward_catalog.domain.model import Kind, ProjectId
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.postgres.pools import Connection, Pool

PLACES: Final = """
select project_id, null::uuid from project union all select project_id, warehouse_id from warehouse
"""
WAREHOUSE: Final = "select not active from warehouse where warehouse_id = $1"
PROJECT: Final = "select false from project where project_id = $1"
NAMESPACES: Final = """
select namespace_id, parent_id, cardinality(path) from namespace
 where warehouse_id = $1 and namespace_id > $2 order by namespace_id limit $3
"""
TABULARS: Final = """
select incarnation, namespace_id, 0 from tabular
 where warehouse_id = $1 and incarnation > $2 and kind = $4 order by incarnation limit $3
"""
TAGS: Final = """
select tag_id, null::uuid, 0 from tag_definition where project_id = $1 and tag_id > $2 order by tag_id limit $3
"""
# Nobody waits for what a comparison holds, and it waits for nobody: what is locked is asked about again.
HOLD_PROJECTS: Final = "lock table project in share mode nowait"
HOLD_TAGS: Final = """
select tag_id, name from tag_definition
 where project_id = $1 and tag_id = any($2::uuid[]) order by tag_id for share nowait
"""
HOLD_WAREHOUSE: Final = "select name, not active from warehouse where warehouse_id = $1 for share nowait"
HOLD_NAMESPACES: Final = """
select namespace_id, parent_id, cardinality(path), path from namespace
 where warehouse_id = $1 and namespace_id = any($2::uuid[]) order by namespace_id for share nowait
"""
HOLD_TABULARS: Final = """
select t.kind, t.incarnation, t.namespace_id, t.tabular_id, n.path, t.name
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.incarnation = any($2::uuid[]) order by t.incarnation for share of t nowait
"""
# A statement of its own, so that it sees what was committed before the rows were held.
ON_THEIR_WAY: Final = """
select kind, coalesce(object_id, $2) from tree_change
 where warehouse_id = $1 and (project_id is null or project_id = $4)
   and (coalesce(object_id, $2) = any($3::uuid[]) or (verb <> 'made' and kind in ('project', 'warehouse', 'namespace')))
"""
_TELL: Final = grow(*(f"${number}" for number in range(1, 9)))
_KINDS: Final = {OBJECT_KINDS[kind].word: kind for kind in Kind}
_VERBS: Final = {Verdict.MISSING: "made", Verdict.ELSEWHERE: "moved", Verdict.EXTRA: "gone"}
_CONTAINERS: Final = frozenset({ObjectKind.PROJECT.word, ObjectKind.WAREHOUSE.word, ObjectKind.NAMESPACE.word})


class PostgresTreeRows:
    """`CatalogTree` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read and hold through `pool`, which leads to the primary."""
        self._pool: Final = pool

    async def places(self) -> Sequence[Place]:
        """See `CatalogTree`."""
        return [Place(ProjectId(row[0]), row[1]) for row in await self._pool.fetch(PLACES)]

    async def objects(self, place: Place, *, after: Key | None, limit: int) -> Sequence[Standing]:
        """See `CatalogTree`."""
        warehouse_id, found = place.warehouse_id, list[Standing]()
        kinds = sorted([ObjectKind.NAMESPACE.word, *_KINDS, ObjectKind.WAREHOUSE.word])
        for kind in [ObjectKind.PROJECT.word, ObjectKind.TAG.word] if warehouse_id is None else kinds:
            if after is not None and kind < after.kind:
                continue
            if kind == place.root.kind:
                if after is None or after.kind < kind:
                    found += await self._root(place)
                continue
            last = after.id if after is not None and after.kind == kind else NIL
            rows = await self._inside(place, kind, last, limit - len(found))
            found += [Standing(Key(kind, each), parent_id, depth) for each, parent_id, depth in rows]
            if len(found) >= limit:
                break
        return found[:limit]

    async def _root(self, place: Place) -> Sequence[Standing]:
        statement = PROJECT if place.warehouse_id is None else WAREHOUSE
        inactive: bool | None = await self._pool.fetchval(statement, place.warehouse_id or place.project_id)
        return [] if inactive is None else [Standing(place.root, None, inactive=inactive)]

    async def _inside(self, place: Place, kind: str, last: UUID, limit: int) -> Sequence[asyncpg.Record]:
        warehouse_id = place.warehouse_id
        if warehouse_id is None:
            return await self._pool.fetch(TAGS, place.project_id, last, limit)
        if kind == ObjectKind.NAMESPACE.word:
            return await self._pool.fetch(NAMESPACES, warehouse_id, last, limit)
        return await self._pool.fetch(TABULARS, warehouse_id, last, limit, _KINDS[kind].value)

    @contextlib.asynccontextmanager
    async def hold(self, place: Place, suspects: Sequence[Key]) -> AsyncIterator[PostgresHolding]:
        """See `CatalogTree`."""
        async with self._pool.transaction() as connection:
            try:
                there = await _held(connection, place, suspects)
            except asyncpg.LockNotAvailableError:
                yield PostgresHolding(connection, place, {}, frozenset(suspects))
                return
            ids = [key.id for key in suspects]
            moving = await connection.fetch(ON_THEIR_WAY, place.stream, NIL, ids, place.project_id)
            keys = {Key(kind, object_id) for kind, object_id in moving}
            # Where a container goes or moves, so may whatever is in it.
            everything = any(key.kind in _CONTAINERS for key in keys)
            yield PostgresHolding(connection, place, there, frozenset(suspects) if everything else keys)


@dataclasses.dataclass(frozen=True)
class PostgresHolding:
    """`Holding` on a connection in a transaction."""

    connection: Connection
    place: Place
    there: Mapping[Key, Held]
    unsettled: Collection[Key]

    async def tell(self, differences: Sequence[Difference]) -> None:
        """See `Holding`."""
        growth = Growth()
        for difference in differences:
            _tell(growth, self.place, difference)
        await self.connection.execute(_TELL, *growth.columns())


def _tell(growth: Growth, place: Place, difference: Difference) -> None:
    key, held = difference.key, difference.held
    kind, itself = ObjectKind[key.kind.upper()], key == place.root
    inactive = held is not None and held.standing.inactive
    switch = switch_verb(active=not inactive)
    verbs = [_VERBS.get(difference.verdict, switch)]
    if difference.verdict is Verdict.MISSING and inactive:
        verbs.append(switch)  # what is made anew is active
    for verb in verbs:
        growth.add(
            place.stream,
            verb,
            kind,
            None if itself else key.id,
            project_id=place.project_id if itself or kind is ObjectKind.TAG else None,
            parent_id=None if held is None else held.standing.parent_id,
            public_id=None if held is None else held.public_id,
        )


async def _held(connection: Connection, place: Place, suspects: Sequence[Key]) -> Mapping[Key, Held]:
    """What there is of these.

    Raises:
        LockNotAvailableError: another holds one of them.
    """
    found: dict[Key, Held] = {}
    warehouse_id = place.warehouse_id
    if warehouse_id is None:
        await connection.execute(HOLD_PROJECTS)
        if await connection.fetchval(PROJECT, place.project_id) is not None:
            found[place.root] = Held(Standing(place.root, None), None, place.project_id)
        for tag_id, name in await connection.fetch(HOLD_TAGS, place.project_id, [key.id for key in suspects]):
            key = Key(ObjectKind.TAG.word, tag_id)
            found[key] = Held(Standing(key, None), None, name)
        return found
    if place.root in suspects:
        for name, inactive in await connection.fetch(HOLD_WAREHOUSE, warehouse_id):
            found[place.root] = Held(Standing(place.root, None, inactive=inactive), None, name)
    ids = [key.id for key in suspects]
    for namespace_id, parent_id, depth, path in await connection.fetch(HOLD_NAMESPACES, warehouse_id, ids):
        key = Key(ObjectKind.NAMESPACE.word, namespace_id)
        found[key] = Held(Standing(key, parent_id, depth), None, ".".join(path))
    for kind, incarnation, namespace_id, tabular_id, path, name in await connection.fetch(
        HOLD_TABULARS, warehouse_id, ids
    ):
        key = Key(OBJECT_KINDS[Kind(kind)].word, incarnation)
        found[key] = Held(Standing(key, namespace_id), tabular_id, ".".join([*path, name]))
    return found
