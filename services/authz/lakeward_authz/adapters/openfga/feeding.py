"""Brings into OpenFGA what authz's rows say.

A feeder holds a lock while it writes, so of several replicas one feeds at a time, and each tuple's changes arrive in their order.
A row leaves the outbox in the transaction that saw it written: after a crash between the two it is written again, which changes
nothing.
"""

from __future__ import annotations

from typing import Final

from lakeward_authz.adapters.openfga.connection import OpenFga
from lakeward_authz.domain.permissions.lakeward import MANAGED_ACCESS, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_authz.domain.permissions.tuples import MARK, FgaTuple, grant_tuple, link_tuple, managed_tuples
from lakeward_servicekit.postgres.pools import Connection, Pool

_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended('lakeward: feeding OpenFGA', 0))"
_WAITING: Final = "select exists (select from openfga_outbox)"
_NEXT: Final = """
select position, tuple_user, relation, object, wanted from openfga_outbox order by position limit 1000
"""
_DONE: Final = "delete from openfga_outbox where position = any($1::bigint[])"
_OBJECTS: Final = "select kind, project_id, warehouse_id, object_id, parent_id, managed_access from objects"
_GRANTS: Final = "select kind, project_id, warehouse_id, object_id, subject, relation from grants"


class Feeder:
    """Feeds one store.

    Args:
        pool: of authz's schema, on the primary.
        openfga: the store.
    """

    def __init__(self, pool: Pool, openfga: OpenFga) -> None:
        """Bring the rows of `pool` into `openfga`."""
        self._pool = pool
        self._openfga = openfga

    async def catch_up(self) -> None:
        """Return when OpenFGA knows of every change that was committed before this was called.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE; what was not written waits.
        """
        while await self._pool.fetchval(_WAITING):
            async with self._pool.transaction() as connection:
                await connection.execute(_LOCK)
                await self._drain(connection)

    async def repair(self) -> int:
        """Write what OpenFGA lacks, take away what it has too much, and answer how many tuples that were.

        Only tuples on our objects, and of the relations that we write, are looked at: others in a shared store stay.
        Both sides are held in memory.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE.
        """
        async with self._pool.transaction() as connection:
            await connection.execute(_LOCK)
            await self._drain(connection)
            wanted = await _wanted(connection)
            there = {each async for each in self._openfga.tuples() if _is_ours(each)}
            changes = [(each, True) for each in sorted(wanted - there)]
            changes += [(each, False) for each in sorted(there - wanted)]
            await self._openfga.write(changes)
        # what was changed meanwhile waits in the outbox, behind what was written here
        return len(changes)

    async def _drain(self, connection: Connection) -> None:
        while rows := await connection.fetch(_NEXT):
            latest = {FgaTuple(user, relation, name): wanted for _, user, relation, name, wanted in rows}
            await self._openfga.write([*latest.items()])
            await connection.execute(_DONE, [row["position"] for row in rows])


async def _wanted(connection: Connection) -> set[FgaTuple]:
    """Every tuple that the rows stand for."""
    wanted = set[FgaTuple]()
    for kind, project_id, warehouse_id, object_id, parent_id, managed in await connection.fetch(_OBJECTS):
        key = ObjectKey(kind, project_id, warehouse_id, object_id)
        if (link := link_tuple(key, parent_id)) is not None:
            wanted.add(link)
        if managed:
            wanted.update(managed_tuples(key))
    for kind, project_id, warehouse_id, object_id, subject, relation in await connection.fetch(_GRANTS):
        wanted.add(grant_tuple(ObjectKey(kind, project_id, warehouse_id, object_id), Subject(subject), relation))
    return wanted


def _is_ours(each: FgaTuple) -> bool:
    type_name, _, name = each.object.partition(":")
    found = MODEL.types.get(type_name)
    return found is not None and name.startswith(MARK) and each.relation in {*found.given, found.link, MANAGED_ACCESS}
