"""Changing namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.adapters.postgres.places import LOCK_EXCLUSIVE as LOCK_MOVES
from lakeward_catalog.adapters.postgres.places import moves_lock
from lakeward_catalog.adapters.postgres.rows import (
    NAMESPACE,
    TABULAR,
    encode_mapping,
    namespace_of,
    searchable,
    tabular_with_path,
)
from lakeward_catalog.application.changes import Contents
from lakeward_catalog.domain.model import Namespace, NamespaceId, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_catalog.domain.wording import namespace_exists, no_such_namespace
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection

# A key share holds the row against deletion alone, as a foreign key's own check does.
LOCK_SHARED: Final = f"select {NAMESPACE} from namespace n where n.warehouse_id = $1 and n.path_key = $2 for key share"
LOCK_EXCLUSIVE: Final = f"select {NAMESPACE} from namespace n where n.warehouse_id = $1 and n.path_key = $2 for update"
LOCK_ONE: Final = f"select {NAMESPACE} from namespace n where n.warehouse_id = $1 and n.namespace_id = $2 for update"
INSERT: Final = """
insert into namespace (warehouse_id, namespace_id, parent_id, path, path_key, properties, location, protected, row_version,
       created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
SET_PROPERTIES: Final = """
update namespace set properties = $3, row_version = row_version + 1 where warehouse_id = $1 and namespace_id = $2
"""
SET_PROTECTION: Final = """
update namespace set protected = $4, row_version = row_version + 1
 where warehouse_id = $1 and namespace_id = $2 and row_version = $3
returning namespace_id
"""
# 0x20 comes right behind 0x1F, the separator: the range is everything below the path.
LOCK_SUBTREE: Final = f"""
select {NAMESPACE} from namespace top join namespace n on n.warehouse_id = top.warehouse_id
       and n.path_key >= top.path_key || E'\\x1f' and n.path_key < top.path_key || E'\\x20'
 where top.warehouse_id = $1 and top.namespace_id = $2
 order by n.path_key for update of n
"""
# Paths and their keys begin otherwise from here on down. A key that others look for changes with the row's lock for an update, so
# that whoever holds a namespace by its path, to make something in it, waits, and then does not find it there.
MOVE: Final = """
update namespace n
   set path = $5::text[] || n.path[$3::integer + 1:],
       path_key = $6::text || substr(n.path_key, length($4::text) + 1),
       parent_id = case when n.namespace_id = $2 then $7::uuid else n.parent_id end, row_version = n.row_version + 1
 where n.warehouse_id = $1
   and (n.namespace_id = $2 or (n.path_key >= $4 || E'\\x1f' and n.path_key < $4 || E'\\x20'))
"""
LOCK_TABULARS: Final = f"""
select {TABULAR}, n.path
  from unnest($2::uuid[]) as inside(namespace_id)
  join tabular t on t.warehouse_id = $1 and t.namespace_id = inside.namespace_id
  join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 order by t.incarnation for update of t
"""
DELETE_TABULARS: Final = """
delete from tabular t using namespace top, namespace n
 where top.warehouse_id = $1 and top.namespace_id = $2 and n.warehouse_id = top.warehouse_id
   and (n.namespace_id = top.namespace_id
        or (n.path_key >= top.path_key || E'\\x1f' and n.path_key < top.path_key || E'\\x20'))
   and t.warehouse_id = n.warehouse_id and t.namespace_id = n.namespace_id
"""
# Foreign keys are checked at the statement's end, so parents and children may go in any order.
DELETE: Final = """
delete from namespace n using namespace top
 where top.warehouse_id = $1 and top.namespace_id = $2 and n.warehouse_id = top.warehouse_id
   and (n.namespace_id = top.namespace_id
        or (n.path_key >= top.path_key || E'\\x1f' and n.path_key < top.path_key || E'\\x20'))
"""


class PostgresNamespaceChanges:
    """`NamespaceChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, growth: Growth) -> None:
        """Change through `connection`, whose transaction someone else ends; `growth` takes what authz is told."""
        self._connection: Final = connection
        self._growth: Final = growth

    async def lock(self, warehouse_id: WarehouseId, ident: NamespaceIdent, *, exclusively: bool) -> Namespace | None:
        """See `NamespaceChanges`."""
        statement = LOCK_EXCLUSIVE if exclusively else LOCK_SHARED
        row = await self._connection.fetchrow(statement, warehouse_id, searchable(ident.key))
        return None if row is None else namespace_of(row)

    async def insert(self, namespace: Namespace, *, owner: Principal) -> None:
        """See `NamespaceChanges`."""
        shown = str(namespace.ident)
        try:
            await self._connection.execute(
                INSERT,
                namespace.warehouse_id,
                namespace.namespace_id,
                namespace.parent_id,
                namespace.ident.parts,
                namespace.ident.key,
                encode_mapping(namespace.properties),
                namespace.location,
                namespace.protected,
                namespace.row_version,
                namespace.created_at,
            )
        except asyncpg.UniqueViolationError as taken:
            if taken.constraint_name != "namespace_path":
                raise
            raise namespace_exists(shown) from None
        except asyncpg.ForeignKeyViolationError as gone:
            if gone.constraint_name == "namespace_namespace_fkey" and namespace.ident.parent is not None:
                raise no_such_namespace(namespace.ident.parent) from None
            shown = str(namespace.warehouse_id)
            raise Refusal(
                Reason.REASON_NO_SUCH_WAREHOUSE, f"there is no warehouse {shown!r}", warehouse=shown
            ) from None
        except asyncpg.ProgramLimitExceededError:
            raise _too_long(namespace.ident) from None
        self._growth.namespace_made(namespace, owner=owner)

    async def set_properties(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        """See `NamespaceChanges`."""
        await self._connection.execute(
            SET_PROPERTIES, namespace.warehouse_id, namespace.namespace_id, encode_mapping(properties)
        )

    async def set_protection(self, namespace: Namespace, *, protected: bool) -> None:
        """See `NamespaceChanges`."""
        key = (namespace.warehouse_id, namespace.namespace_id, namespace.row_version)
        if await self._connection.fetchval(SET_PROTECTION, *key, protected) is None:
            shown = str(namespace.ident)
            raise Refusal(
                Reason.REASON_CONCURRENT_CHANGE,
                f"namespace {shown!r} was changed meanwhile; read it again and retry",
                object=f"namespace {shown}",
            )

    async def contents(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Contents:
        """See `NamespaceChanges`."""
        namespaces = await self._inside(warehouse_id, namespace_id)
        inside = [namespace_id, *(namespace.namespace_id for namespace in namespaces)]
        rows = await self._connection.fetch(LOCK_TABULARS, warehouse_id, inside)
        return Contents(namespaces, tuple(tabular_with_path(row) for row in rows))

    async def _inside(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> tuple[Namespace, ...]:
        """Namespaces inside one that is locked, at any depth; locked, outermost first."""
        found = await self._connection.fetch(LOCK_SUBTREE, warehouse_id, namespace_id)
        while True:
            # One that was made inside before its parent was locked here shows in the next statement's snapshot, and none can
            # be made after. So two equal reads have locked everything.
            again = await self._connection.fetch(LOCK_SUBTREE, warehouse_id, namespace_id) if found else []
            if len(again) == len(found):
                break
            found = again
        return tuple(namespace_of(row) for row in again)

    async def begin_move(self, warehouse_id: WarehouseId) -> None:
        """See `NamespaceChanges`."""
        await self._connection.execute(LOCK_MOVES, moves_lock(warehouse_id))

    async def lock_tree(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Sequence[Namespace]:
        """See `NamespaceChanges`."""
        row = await self._connection.fetchrow(LOCK_ONE, warehouse_id, namespace_id)
        return () if row is None else (namespace_of(row), *await self._inside(warehouse_id, namespace_id))

    async def move(self, namespace: Namespace, *, parent_id: NamespaceId | None, ident: NamespaceIdent) -> None:
        """See `NamespaceChanges`."""
        was, key = namespace.ident, (namespace.warehouse_id, namespace.namespace_id)
        try:
            await self._connection.execute(MOVE, *key, len(was.parts), was.key, ident.parts, ident.key, parent_id)
        except asyncpg.UniqueViolationError as taken:
            if taken.constraint_name != "namespace_path":
                raise
            raise namespace_exists(ident) from None
        except asyncpg.ProgramLimitExceededError:
            raise _too_long(ident) from None
        if parent_id != namespace.parent_id:
            self._growth.namespace_moved(namespace, to=parent_id)

    async def delete(self, namespace: Namespace) -> None:
        """See `NamespaceChanges`."""
        await self._connection.execute(DELETE_TABULARS, namespace.warehouse_id, namespace.namespace_id)
        await self._connection.execute(DELETE, namespace.warehouse_id, namespace.namespace_id)
        self._growth.namespace_gone(namespace)


def _too_long(ident: NamespaceIdent) -> Refusal:
    """Folding can make a name three times as long, and an index holds 2704 bytes of the whole path."""
    return Refusal(
        Reason.REASON_INVALID_NAMESPACE,
        f"namespace {str(ident)[:300]!r} can't be used: the whole path is too long when its case is folded",
        part=ident.name[:300],
    )
