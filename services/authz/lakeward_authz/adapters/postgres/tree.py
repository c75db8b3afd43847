"""The tree of objects: made, moved and gone by the catalog's word, in its order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.adapters.postgres.suspending import hold_users, hold_users_of, set_aside
from lakeward_authz.application.announcements import Given
from lakeward_authz.application.permissions import Gone, Grant, Made, Moved, Switched, TreeChange
from lakeward_authz.domain.permissions.lakeward import OWNERSHIP
from lakeward_authz.domain.permissions.objects import NIL, SERVER, ObjectKey, role_subject
from lakeward_authz.domain.permissions.tuples import FgaTuple, grant_tuple, link_tuple, managed_tuples
from lakeward_servicekit.errors import Refusal, invalid_field
from lakeward_servicekit.postgres.pools import Connection, Pool

if TYPE_CHECKING:
    from uuid import UUID

# The row is there and locked behind this, so changes of one stream are applied one after another.
_LOCK_STREAM: Final = """
insert into tree_streams (stream, applied) values ($1, 0)
on conflict (stream) do update set applied = tree_streams.applied returning applied
"""
_ADVANCE: Final = "update tree_streams set applied = $2 where stream = $1"
_FIND: Final = """
select path, parent_id from objects
 where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4 for key share
"""
_INSERT: Final = """
insert into objects (project_id, warehouse_id, kind, object_id, parent_id, path, public_id)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict do nothing returning true
"""
_OWN: Final = """
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation) values ($1, $2, $3, $4, $5, $6)
"""
# Tabulars, of which nothing hangs that could be made behind them. The rows answered say of each whether its namespace is there,
# whether it is new, and whether somebody owns it: who was suspended since it was made does not yet.
_MAKE_TABULARS: Final = f"""
with made as (
    select * from unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[])
      with ordinality as m(project_id, warehouse_id, kind, object_id, parent_id, public_id, owner, n)),
above as materialized (
    select o.project_id, o.warehouse_id, o.object_id, o.path
      from (select distinct project_id, warehouse_id, parent_id from made) m
      join objects o on o.project_id = m.project_id and o.warehouse_id = m.warehouse_id and o.kind = 'namespace'
           and o.object_id = m.parent_id
       for key share of o),
held as materialized (
    {hold_users_of("select distinct substr(owner, 6) from made where owner like 'user:%'")}),
suspended as materialized (
    select 'user:' || user_id as owner from held where not active),
inserted as (
    insert into objects (project_id, warehouse_id, kind, object_id, parent_id, path, public_id)
    select m.project_id, m.warehouse_id, m.kind, m.object_id, m.parent_id, a.path || a.object_id, m.public_id
      from made m join above a on a.project_id = m.project_id and a.warehouse_id = m.warehouse_id
           and a.object_id = m.parent_id
     order by m.n
        on conflict do nothing returning project_id, warehouse_id, kind, object_id),
owned as (
    insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select m.project_id, m.warehouse_id, m.kind, m.object_id, m.owner, $8
      from made m join inserted i using (project_id, warehouse_id, kind, object_id)
     where m.owner is not null and m.owner not in (select owner from suspended)),
aside as (
    insert into suspended_grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select m.project_id, m.warehouse_id, m.kind, m.object_id, m.owner, $8
      from made m join inserted i using (project_id, warehouse_id, kind, object_id) join suspended using (owner))
select a.object_id is not null, i.object_id is not null,
       m.owner is not null and m.owner not in (select owner from suspended)
  from made m
  left join inserted i using (project_id, warehouse_id, kind, object_id)
  left join above a on a.project_id = m.project_id and a.warehouse_id = m.warehouse_id and a.object_id = m.parent_id
 order by m.n
"""
# What hangs from a namespace is followed down, so that a move costs what it moves.
_MOVE: Final = """
with recursive inside(kind, object_id, path) as (
    select $3::text collate "C", $4::uuid, $6::uuid[]
    union all
    select o.kind, o.object_id, i.path || i.object_id
      from inside i join objects o on i.kind = 'namespace' and o.warehouse_id = $2 and o.parent_id = i.object_id)
update objects o set path = i.path, parent_id = case when i.object_id = $4 and i.kind = $3 then $5 else o.parent_id end
  from inside i
 where o.project_id = $1 and o.warehouse_id = $2 and o.kind = i.kind and o.object_id = i.object_id
"""
_BELOW_NAMESPACE: Final = """
with recursive inside(kind, object_id) as (
    select $3::text collate "C", $4::uuid
    union all
    select o.kind, o.object_id
      from inside i join objects o on i.kind = 'namespace' and o.warehouse_id = $2 and o.parent_id = i.object_id)
select o.* from inside i
  join objects o on o.project_id = $1 and o.warehouse_id = $2 and o.kind = i.kind and o.object_id = i.object_id
"""
_COLUMNS: Final = "project_id, warehouse_id, kind, object_id, parent_id, managed_access"
_GONE: Final = f"""
select {_COLUMNS} from ({_BELOW_NAMESPACE}) o
"""
_GONE_WAREHOUSE: Final = f"select {_COLUMNS} from objects where project_id = $1 and warehouse_id = $2"
_GONE_PROJECT: Final = f"select {_COLUMNS} from objects where project_id = $1"
_KEYS: Final = "unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[]) as k(project_id, warehouse_id, kind, object_id)"
# Whoever gives something on one of them meanwhile waits, and then finds it gone.
_LOCK: Final = f"""
select from objects where (project_id, warehouse_id, kind, object_id) in (select * from {_KEYS})
 order by project_id, warehouse_id, kind, object_id for update
"""
_REVOKE: Final = f"""
delete from grants g
 where (project_id, warehouse_id, kind, object_id) in (select * from {_KEYS})
    or subject = any($5::text[]) and relation <> ''
returning project_id, warehouse_id, kind, object_id, subject, relation
"""
_FORGET_ROLES: Final = "delete from roles where role_id = any($1::uuid[])"
_DELETE: Final = f"delete from objects where (project_id, warehouse_id, kind, object_id) in (select * from {_KEYS})"
_MANAGE: Final = """
update objects set managed_access = $5
 where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4 returning managed_access
"""

_SWITCH: Final = """
update objects set inactive = $5
 where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4 returning true
"""

_TABULARS: Final = frozenset({"table", "view", "generic_table"})


class PostgresTree:
    """The `TreeStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
        outbox: told of what OpenFGA has to know.
    """

    def __init__(self, pool: Pool, outbox: Outbox) -> None:
        """Keep rows through `pool`."""
        self._pool = pool
        self.outbox: Final = outbox

    async def apply(self, stream: str, changes: Sequence[tuple[int, TreeChange]]) -> int:
        """See `TreeStore`."""
        async with self._pool.transaction() as connection:
            before: int = await connection.fetchval(_LOCK_STREAM, stream)
            due = _due(changes, before)
            for tabulars, run in itertools.groupby(due, _makes_tabular):
                if tabulars:
                    await self._make_tabulars(connection, [change for change in run if isinstance(change, Made)])
                else:
                    for change in run:
                        await self._apply(connection, change)
            applied = before + len(due)
            if due:
                await connection.execute(_ADVANCE, stream, applied)
        return applied

    async def manage(self, key: ObjectKey, *, managed: bool) -> bool:
        """See `TreeStore`."""
        async with self._pool.transaction() as connection:
            if await connection.fetchval(_MANAGE, *_columns(key), managed) is None:
                return False
            await self.outbox.put(connection, [(each, managed) for each in managed_tuples(key)])
            await self.outbox.tell(connection, self.outbox.announcer.managed_access(key, managed=managed))
            await bump(connection, key.project_id)
        return True

    async def _apply(self, connection: Connection, change: TreeChange) -> None:
        match change:
            case Made():
                await self.make(connection, change)
            case Moved():
                await self._move(connection, change)
            case Switched():
                if await connection.fetchval(_SWITCH, *_columns(change.object), not change.active) is None:
                    raise _not_there("object.warehouse_id", change.object)
                await bump(connection, change.object.project_id)
            case Gone():
                await self.remove(connection, change.object)
            case _:
                assert_never(change)

    async def make(self, connection: Connection, made: Made) -> None:
        """Add an object in a transaction.

        Raises:
            Refusal: INVALID_FIELD, where it is there already, or what holds it is not.
        """
        key = made.object
        path = await _path(connection, key, made.parent_id)
        if await connection.fetchval(_INSERT, *_columns(key), made.parent_id, path, made.public_id) is None:
            raise _made_before(key)
        told = [(each, True) for each in [link_tuple(key, made.parent_id)] if each is not None]
        if made.owner is not None:
            relation = "project_admin" if key.type == "project" else OWNERSHIP
            owned = Grant(made.owner, relation)
            if made.owner in await hold_users(connection, [owned]):
                await set_aside(connection, key, [owned])
            else:
                await connection.execute(_OWN, *_columns(key), made.owner, relation)
                told.append((grant_tuple(key, made.owner, relation), True))
        await self.outbox.put(connection, told)

    async def _make_tabulars(self, connection: Connection, made: Sequence[Made]) -> None:
        """As `_make`, for any number of tabulars at once."""
        keys = [each.object for each in made]
        rows = await connection.fetch(
            _MAKE_TABULARS,
            [key.project_id for key in keys],
            [key.warehouse_id for key in keys],
            [key.type for key in keys],
            [key.id for key in keys],
            [each.parent_id for each in made],
            [each.public_id for each in made],
            [each.owner for each in made],
            OWNERSHIP,
        )
        told: list[tuple[FgaTuple, bool]] = []
        known: set[ObjectKey] = set()
        for each, key, (inside, new, owned) in zip(made, keys, rows, strict=True):
            if not inside:
                raise _not_there("object.parent_id", _above(key, each.parent_id))
            if not new or key in known:
                raise _made_before(key)
            known.add(key)
            told += [(link, True) for link in [link_tuple(key, each.parent_id)] if link is not None]
            if each.owner is not None and owned:
                told.append((grant_tuple(key, each.owner, OWNERSHIP), True))
        await self.outbox.put(connection, told)

    async def _move(self, connection: Connection, moved: Moved) -> None:
        key = moved.object
        row = await connection.fetchrow(_FIND, *_columns(key))
        if row is None:
            raise _not_there("object.id", key)
        path = await _path(connection, key, moved.parent_id)
        if key.id in path:
            raise invalid_field("object.parent_id", str(moved.parent_id), f"outside of the {key.type} that is moved")
        await connection.execute(_MOVE, *_columns(key), moved.parent_id, path)
        before, after = link_tuple(key, row["parent_id"]), link_tuple(key, moved.parent_id)
        assert before is not None
        assert after is not None
        if before != after:
            await self.outbox.put(connection, [(before, False), (after, True)])
        await bump(connection, key.project_id)

    async def remove(self, connection: Connection, key: ObjectKey) -> None:
        """Remove an object in a transaction, with all that is in it, and what was granted on that and to it."""
        match key.type:
            case "project":
                rows = await connection.fetch(_GONE_PROJECT, key.project_id)
            case "warehouse":
                rows = await connection.fetch(_GONE_WAREHOUSE, key.project_id, key.warehouse_id)
            case _:
                rows = await connection.fetch(_GONE, *_columns(key))
        gone = {ObjectKey(row["kind"], row["project_id"], row["warehouse_id"], row["object_id"]): row for row in rows}
        keys = [
            [each.project_id for each in gone],
            [each.warehouse_id for each in gone],
            [each.type for each in gone],
            [each.id for each in gone],
        ]
        await connection.execute(_LOCK, *keys)
        role_ids = [each.id for each in gone if each.type == "role"]
        roles = [role_subject(role_id) for role_id in role_ids]
        revoked = [
            (ObjectKey(kind, project_id, warehouse_id, object_id), Given(subject, relation))
            for project_id, warehouse_id, kind, object_id, subject, relation in await connection.fetch(
                _REVOKE, *keys, roles
            )
        ]
        # what goes with a project's objects is told with them, in the project's stream; the server has one of its own
        from_server = [given for object_, given in revoked if object_ == SERVER]
        await self.outbox.tell(connection, *self.outbox.announcer.grants(SERVER, given=(), taken=from_server))
        told = [(grant_tuple(object_, given.subject, given.relation), False) for object_, given in revoked]
        for each, row in gone.items():
            told += [(link, False) for link in [link_tuple(each, row["parent_id"])] if link is not None]
            told += [(managed, False) for managed in (managed_tuples(each) if row["managed_access"] else [])]
        await connection.execute(_FORGET_ROLES, role_ids)
        await connection.execute(_DELETE, *keys)
        await self.outbox.put(connection, told)
        if gone:
            await bump(connection, key.project_id)


def _due(changes: Sequence[tuple[int, TreeChange]], applied: int) -> Sequence[TreeChange]:
    """Those that follow on what was applied, without a gap."""
    due: list[TreeChange] = []
    for sequence, change in changes:
        if sequence > applied + len(due) + 1:
            break
        if sequence == applied + len(due) + 1:
            due.append(change)
    return due


def _makes_tabular(change: TreeChange) -> bool:
    return isinstance(change, Made) and change.parent_id is not None and change.object.type in _TABULARS


async def _path(connection: Connection, key: ObjectKey, parent_id: UUID | None) -> list[UUID]:
    """Namespaces above an object that hangs from `parent_id`; what holds it is there, and stays till the transaction ends.

    Raises:
        Refusal: INVALID_FIELD, where it is not.
    """
    above = _above(key, parent_id)
    row = await connection.fetchrow(_FIND, *_columns(above))
    if row is None:
        raise _not_there("object.parent_id", above)
    return row["path"] if parent_id is None else [*row["path"], parent_id]


def _above(key: ObjectKey, parent_id: UUID | None) -> ObjectKey:
    """What holds an object that hangs from `parent_id`."""
    if parent_id is not None:
        return ObjectKey("namespace", key.project_id, key.warehouse_id, parent_id)
    if key.type == "project":
        return ObjectKey("server")
    if key.type == "warehouse" or key.warehouse_id == NIL:
        return ObjectKey("project", key.project_id)
    return ObjectKey("warehouse", key.project_id, key.warehouse_id)


def _made_before(key: ObjectKey) -> Refusal:
    return invalid_field("object.id", str(key.id), f"a {key.type} that was not made before")


def _columns(key: ObjectKey) -> tuple[object, ...]:
    return key.project_id, key.warehouse_id, key.type, key.id


def _not_there(field: str, key: ObjectKey) -> Refusal:
    shown = key.project_id if key.type == "project" else str(key.warehouse_id if key.type == "warehouse" else key.id)
    return invalid_field(field, shown, f"a {key.type} that was made before and is not gone")
