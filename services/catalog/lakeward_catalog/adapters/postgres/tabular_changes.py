"""Changing tabulars and their bodies.

Rows are locked in the order of incarnations, so that no two transactions wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import asyncpg

from lakeward_catalog.adapters.postgres.bodies import BodyRow
from lakeward_catalog.adapters.postgres.growth import STAGED_GONE
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.adapters.postgres.places import digest_of, folded_of, locations_lock, making_lock
from lakeward_catalog.adapters.postgres.rows import TABULAR, searchable, tabular_with_path
from lakeward_catalog.application.changes import Committed, Stood, TabularCommit, TabularInsert
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.model import Incarnation, Kind, MetadataId, Namespace, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, name_key
from lakeward_catalog.domain.wording import (
    name_taken_meanwhile,
    name_taken_since,
    no_such_namespace,
    uuid_taken,
)
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection

# The locks come first, in one order with everybody else's: the namespace against deletion, the warehouse's places shared, and
# what tells who looks later that this transaction has ended. What lies around the place is for a later statement to see, since
# this one sees nothing that was committed while it waited. A staged row makes way in the statement that takes its name; had it
# become live meanwhile it stays, and the name is taken.
_LOCKED: Final = """
held as materialized (
    select from namespace n where n.warehouse_id = $1 and n.namespace_id = $6 and n.path_key = $30 for key share),
locked as materialized (
    select pg_advisory_xact_lock_shared($31), pg_advisory_xact_lock($28) from (select count(*) from held) h)
"""
_ROW: Final = """
           (warehouse_id, incarnation, tabular_id, kind, state, namespace_id, name, name_key, location,
           location_key, location_digest, metadata_id, metadata_location, protected, row_version, created_at, expires_at,
           location_folded, format)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $29, $32
"""
_BODY: Final = """
body as (
    insert into tabular_body (warehouse_id, metadata_id, incarnation,
           everything_ids, everything_crcs, everything_sizes, everything_lengths, everything_own,
           refs_ids, refs_crcs, refs_sizes, refs_lengths, refs_own)
    select warehouse_id, metadata_id, incarnation, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27 from made)
"""
# Most are the only ones that want their name, and have no shared parts: this one opens half as many tables and indexes. Where
# anything has the name it writes nothing, and the next one is for that.
INSERT_ALONE: Final = f"""
with {_LOCKED},
made as (
    insert into tabular {_ROW}
      from (select count(*) from locked) l
     where exists (select from held)
        on conflict (warehouse_id, namespace_id, name_key) where state in ('live', 'staged') and name_key is not null do nothing
    returning warehouse_id, incarnation, metadata_id),
{_BODY}
select incarnation from made
"""
INSERT: Final = f"""
with {_LOCKED},
gone as (
    delete from tabular using (select count(*) from locked) l
     where warehouse_id = $1 and namespace_id = $6 and name_key = $8 and state = 'staged'
    returning incarnation, kind),
told as ({STAGED_GONE}),
made as (
    insert into tabular {_ROW}
      from (select count(*) from gone) g cross join (select count(*) from locked) l
     where exists (select from held)
    returning warehouse_id, incarnation, metadata_id),
{_BODY},
added as (
    insert into body_chunk (warehouse_id, incarnation, chunk_id, raw)
    select made.warehouse_id, made.incarnation, part.chunk_id, part.raw
      from made cross join unnest($33::uuid[], $34::bytea[]) as part(chunk_id, raw))
select incarnation from made
"""
LOCK: Final = f"""
select {TABULAR}, n.path
  from namespace n join tabular t on t.warehouse_id = n.warehouse_id and t.namespace_id = n.namespace_id
 where n.warehouse_id = $1 and n.path_key = $2 and t.name_key = $3 and t.state in ('live', 'staged')
   and t.kind = any($4::text[]) and t.state = any($5::text[])
   for update of t
"""
LOCK_DROPPED: Final = f"""
select {TABULAR}, n.path
  from namespace n join tabular t on t.warehouse_id = n.warehouse_id and t.namespace_id = n.namespace_id
 where n.warehouse_id = $1 and n.path_key = $2 and t.name_key = $3
   and t.kind = any($4::text[]) and t.state = any($5::text[])
 order by t.dropped_at desc nulls first limit 1
   for update of t
"""
LOCK_INCARNATION: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.incarnation = $2
   for update of t
"""
# Two statements: a row that was waited for may hang from another namespace by then, and the second one sees which.
LOCK_ROWS: Final = """
select t.incarnation from tabular t
 where t.warehouse_id = $1 and t.incarnation = any($2::uuid[]) order by t.incarnation for update
"""
LOCKED_ROWS: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.incarnation = any($2::uuid[]) order by t.incarnation
"""
# Between its id and its id, in order: of the keys only the primary one is in that order. While there are few namespaces, that of
# paths looks as good to an equality, and a plan that took it would read all namespaces of the warehouse when there are many.
_PATH_OF: Final = """
select n.path from namespace n
 where n.warehouse_id = {0}.warehouse_id and n.namespace_id between {0}.namespace_id and {0}.namespace_id
 order by n.namespace_id limit 1"""
# The body moves with the row, and so do the shared parts: afterwards there are those of the new body and no others.
COMMIT: Final = f"""
with moved as (
    update tabular
       set metadata_id = $4, metadata_location = $5, state = 'live', expires_at = null,
           location = coalesce($6, location), location_key = coalesce($7, location_key),
           location_digest = coalesce($8, location_digest),
           location_folded = case when $7::text is null then location_folded else $22 end
     where warehouse_id = $1 and incarnation = $2 and metadata_id = $3 and state in ('live', 'staged')
    returning warehouse_id, incarnation, metadata_id, namespace_id, name, protected),
body as (
    update tabular_body b
       set metadata_id = $4,
           everything_ids = $9, everything_crcs = $10, everything_sizes = $11, everything_lengths = $12,
           everything_own = $13,
           refs_ids = $14, refs_crcs = $15, refs_sizes = $16, refs_lengths = $17, refs_own = $18
     where b.warehouse_id = $1 and b.metadata_id = $3 and exists (select from moved)),
gone as (
    delete from body_chunk c
     where c.warehouse_id = $1 and c.incarnation = $2 and c.chunk_id <> all($19::uuid[]) and exists (select from moved)),
added as (
    insert into body_chunk (warehouse_id, incarnation, chunk_id, raw)
    select moved.warehouse_id, moved.incarnation, part.chunk_id, part.raw
      from moved cross join unnest($20::uuid[], $21::bytea[]) as part(chunk_id, raw)
        on conflict (warehouse_id, incarnation, chunk_id) do nothing)
select metadata_id, namespace_id, name, protected,
       ({_PATH_OF.format("moved")})
  from moved
"""
# The namespace that a rename moved it to while this waited may be younger than the statement, which then does not see it.
PATH: Final = "select path from namespace where warehouse_id = $1 and namespace_id = $2"
LOCK_FOR_COMMIT: Final = f"""
select t.incarnation, t.metadata_id, t.state, t.namespace_id, t.name, t.protected,
       ({_PATH_OF.format("t")})
  from (select * from unnest($1::uuid[], $2::uuid[]) as k(warehouse_id, incarnation) order by incarnation) as k
 cross join lateral (
       select * from tabular t where t.warehouse_id = k.warehouse_id and t.incarnation = k.incarnation for no key update) t
"""
RENAME: Final = f"""
with gone as (
    delete from tabular
     where warehouse_id = $1 and namespace_id = $4 and name_key = $6 and state = 'staged' and incarnation <> $2
    returning incarnation, kind),
told as ({STAGED_GONE})
update tabular set namespace_id = $4, name = $5, name_key = $6, row_version = row_version + 1
  from (select count(*) from gone) g
 where warehouse_id = $1 and incarnation = $2 and row_version = $3
returning incarnation
"""
DROP: Final = """
update tabular set state = 'dropped', dropped_at = $4, expires_at = $5, row_version = row_version + 1
 where warehouse_id = $1 and incarnation = $2 and row_version = $3
returning incarnation
"""
UNDROP: Final = f"""
with gone as (
    delete from tabular
     where warehouse_id = $1 and namespace_id = $4 and name_key = $5 and state = 'staged' and incarnation <> $2
    returning incarnation, kind),
told as ({STAGED_GONE})
update tabular set state = 'live', dropped_at = null, expires_at = null, row_version = row_version + 1
  from (select count(*) from gone) g
 where warehouse_id = $1 and incarnation = $2 and row_version = $3
returning incarnation
"""
SET_PROTECTION: Final = """
update tabular set protected = $4, row_version = row_version + 1
 where warehouse_id = $1 and incarnation = $2 and row_version = $3
returning incarnation
"""
DELETE: Final = "delete from tabular where warehouse_id = $1 and incarnation = $2"
# Both wait for a transaction that is ending on another connection, whose answer may be the one that was lost: that of a commit
# holds the row, that of a create the lock of what it makes, since nobody else can see its row.
MADE: Final = "select pg_advisory_xact_lock_shared($1)"
CURRENT: Final = "select metadata_id from tabular where warehouse_id = $1 and incarnation = $2 for share"


class PostgresTabularChanges:
    """`TabularChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, ledger: PostgresLedger) -> None:
        """Change through `connection`, whose transaction someone else ends, and with it the ledger."""
        self._connection: Final = connection
        self._ledger: Final = ledger
        self._growth: Final = ledger.growth

    async def insert(
        self, tabular: Tabular, body: Body, *, owner: Principal, looks: bool = False, listed_as: str | None = None
    ) -> None:
        """See `TabularChanges`."""
        row = BodyRow.of(body)
        columns, chunks = _insert_columns(tabular, row, listed_as), row.chunks
        try:
            made = None if chunks else await self._connection.fetchval(INSERT_ALONE, *columns)
            if made is None:
                made = await self._connection.fetchval(INSERT, *columns, list(chunks), list(chunks.values()))
        except (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError) as violation:
            raise _told(violation, tabular.ident, tabular.location) from None
        if made is None:
            raise no_such_namespace(tabular.ident.namespace)  # what was decided on is gone, or has moved
        self._inserted(tabular, owner=owner, looks=looks)

    async def insert_each(self, inserts: Sequence[TabularInsert]) -> Collection[Incarnation]:
        """Insert those whose names nothing has and whose bodies have no shared parts, as `insert` that looks, each for itself.

        Names are taken in their order, so that no two transactions wait for each other in a circle.

        Args:
            inserts: into one namespace.

        Returns:
            Those that were inserted.
        """
        ordered = sorted(inserts, key=lambda each: each.tabular.ident.name_key)
        rows = [(each, BodyRow.of(each.body)) for each in ordered]
        columns = [_insert_columns(each.tabular, row, each.listed_as) for each, row in rows if not row.chunks]
        made = {row[0] for row in await self._connection.fetchmany(INSERT_ALONE, columns)}
        for each in ordered:
            if each.tabular.incarnation in made:
                self._inserted(each.tabular, owner=each.owner, looks=True)
        return made

    def _inserted(self, tabular: Tabular, *, owner: Principal, looks: bool) -> None:
        if looks:
            self._ledger.look_around(tabular.warehouse_id, tabular.incarnation, Location.parse(tabular.location))
        self._growth.tabular_made(tabular, owner=owner)

    async def lock(
        self,
        warehouse_id: WarehouseId,
        ident: TabularIdent,
        kinds: Collection[Kind],
        *,
        states: Collection[State],
    ) -> Tabular | None:
        """See `TabularChanges`."""
        path_key, key = ident.key
        row = await self._connection.fetchrow(
            LOCK_DROPPED if State.DROPPED in states else LOCK,
            warehouse_id,
            searchable(path_key),
            searchable(key),
            [kind.value for kind in kinds],
            [state.value for state in states],
        )
        return None if row is None else tabular_with_path(row)

    async def lock_incarnation(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> Tabular | None:
        """See `TabularChanges`."""
        row = await self._connection.fetchrow(LOCK_INCARNATION, warehouse_id, incarnation)
        return None if row is None else tabular_with_path(row)

    async def lock_incarnations(
        self, warehouse_id: WarehouseId, incarnations: Collection[Incarnation]
    ) -> Sequence[Tabular]:
        """See `TabularChanges`."""
        if not incarnations:
            return ()
        rows = await self._connection.fetch(LOCK_ROWS, warehouse_id, list(incarnations))
        locked = await self._connection.fetch(LOCKED_ROWS, warehouse_id, [row[0] for row in rows])
        return [tabular_with_path(row) for row in locked]

    async def commit(self, commits: Sequence[TabularCommit]) -> Committed:
        """See `TabularChanges`."""
        if len(commits) == 1:
            (only,) = commits
            row = await _commit_one(self._connection, only)
            if row is None:
                return Committed((only.incarnation,), {})
            return Committed((), {only.incarnation: await self._stood(only.warehouse_id, row[1:])})
        rows = await self._connection.fetch(
            LOCK_FOR_COMMIT, [each.warehouse_id for each in commits], [each.incarnation for each in commits]
        )
        current = {row[0]: row[1] for row in rows if row[2] != State.DROPPED.value}
        lost = [each.incarnation for each in commits if current.get(each.incarnation) != each.expected]
        stood: dict[Incarnation, Stood] = {}
        if not lost:
            ordered = sorted(commits, key=lambda each: each.incarnation)
            try:
                await self._connection.executemany(COMMIT, [_commit_columns(each) for each in ordered])
            except asyncpg.UniqueViolationError as violation:
                raise _taken(violation, [str(each.location) for each in ordered if each.location is not None]) from None
            warehouses = {each.incarnation: each.warehouse_id for each in commits}
            stood = {row[0]: await self._stood(warehouses[row[0]], row[3:]) for row in rows}
        return Committed(lost, stood)

    async def commit_each(self, commits: Sequence[TabularCommit]) -> Mapping[MetadataId, Stood]:
        """Commit those whose expected metadata is current, each for itself.

        Args:
            commits: that leave their tabulars where they are.

        Returns:
            Of those that were committed, by what they moved to: where their tabulars stand.
        """
        ordered = sorted(commits, key=lambda each: each.incarnation)
        rows = await self._connection.fetchmany(COMMIT, [_commit_columns(each) for each in ordered])
        warehouses = {each.metadata_id: each.warehouse_id for each in ordered}
        return {row[0]: await self._stood(warehouses[row[0]], row[1:]) for row in rows}

    async def _stood(self, warehouse_id: WarehouseId, row: Iterable[Any]) -> Stood:
        """From a namespace's id, a name, whether it is protected, and the namespace's path, where that was seen."""
        namespace_id, name, protected, path = row
        if path is None:
            path = await self._connection.fetchval(PATH, warehouse_id, namespace_id)
        return Stood(namespace_id, TabularIdent(NamespaceIdent(tuple(path)), name), protected)

    async def rename(self, tabular: Tabular, *, namespace: Namespace, name: str) -> None:
        """See `TabularChanges`."""
        ident = TabularIdent(namespace.ident, name)
        key = (tabular.warehouse_id, tabular.incarnation, tabular.row_version)
        try:
            moved = await self._connection.fetchval(RENAME, *key, namespace.namespace_id, name, name_key(name))
        except (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError) as violation:
            raise _told(violation, ident, tabular.location) from None
        if moved is None:
            raise _changed(tabular)
        if tabular.namespace_id != namespace.namespace_id:
            self._growth.tabular_moved(tabular, to=namespace.namespace_id)

    async def drop(self, tabular: Tabular, *, at: datetime, expires_at: datetime) -> None:
        """See `TabularChanges`."""
        key = (tabular.warehouse_id, tabular.incarnation, tabular.row_version)
        if await self._connection.fetchval(DROP, *key, at, expires_at) is None:
            raise _changed(tabular)

    async def undrop(self, tabular: Tabular) -> None:
        """See `TabularChanges`."""
        key = (tabular.warehouse_id, tabular.incarnation, tabular.row_version)
        try:
            moved = await self._connection.fetchval(UNDROP, *key, tabular.namespace_id, tabular.ident.name_key)
        except asyncpg.UniqueViolationError as violation:
            if violation.constraint_name != "tabular_name":
                raise
            raise name_taken_since(tabular.ident) from None
        if moved is None:
            raise _changed(tabular)

    async def set_protection(self, tabular: Tabular, *, protected: bool) -> None:
        """See `TabularChanges`."""
        key = (tabular.warehouse_id, tabular.incarnation, tabular.row_version)
        if await self._connection.fetchval(SET_PROTECTION, *key, protected) is None:
            raise _changed(tabular)

    async def delete(self, tabular: Tabular) -> None:
        """See `TabularChanges`."""
        await self._connection.execute(DELETE, tabular.warehouse_id, tabular.incarnation)
        self._growth.tabular_gone(tabular)


async def current_metadata(
    connection: Connection, warehouse_id: WarehouseId, incarnation: Incarnation
) -> MetadataId | None:
    """See `Changes.current_metadata`."""
    await connection.fetchval(MADE, making_lock(incarnation))
    found = await connection.fetchval(CURRENT, warehouse_id, incarnation)
    return None if found is None else MetadataId(found)


def _insert_columns(tabular: Tabular, body: BodyRow, listed_as: str | None) -> tuple[object, ...]:
    location = Location.parse(tabular.location)
    return (
        tabular.warehouse_id,
        tabular.incarnation,
        tabular.tabular_id,
        tabular.kind.value,
        tabular.state.value,
        tabular.namespace_id,
        tabular.ident.name,
        tabular.ident.name_key,
        *_place(tabular.location, location),
        tabular.metadata_id,
        tabular.metadata_location,
        tabular.protected,
        tabular.row_version,
        tabular.created_at,
        tabular.expires_at,
        *body.forms,
        making_lock(tabular.incarnation),
        folded_of(location),
        searchable(tabular.ident.namespace.key),
        locations_lock(tabular.warehouse_id),
        listed_as,
    )


async def _commit_one(connection: Connection, commit: TabularCommit) -> asyncpg.Record | None:
    try:
        return await connection.fetchrow(COMMIT, *_commit_columns(commit))
    except asyncpg.UniqueViolationError as violation:
        raise _taken(violation, [str(commit.location)]) from None


def _commit_columns(commit: TabularCommit) -> tuple[object, ...]:
    row = BodyRow.of(commit.body)
    place = (None, None, None) if commit.location is None else _place(str(commit.location), commit.location)
    chunks = row.chunks
    new = [chunk_id for chunk_id in chunks if chunk_id not in commit.kept_chunks] if chunks else []
    return (
        commit.warehouse_id,
        commit.incarnation,
        commit.expected,
        commit.metadata_id,
        commit.metadata_location,
        *place,
        *row.forms,
        list(chunks),
        new,
        [chunks[chunk_id] for chunk_id in new] if new else new,
        None if commit.location is None else folded_of(commit.location),
    )


def _place(text: str, location: Location) -> tuple[str, str, bytes]:
    return text, location.key, digest_of(location.key)


def _told(violation: asyncpg.IntegrityConstraintViolationError, ident: TabularIdent, location: str) -> Exception:
    if violation.constraint_name == "tabular_name":
        return name_taken_meanwhile(ident)
    if violation.constraint_name == "tabular_public_id":
        return uuid_taken(ident)
    if violation.constraint_name == "tabular_namespace_fkey":
        return no_such_namespace(ident.namespace)
    return _taken(violation, [location])


def _taken(violation: asyncpg.IntegrityConstraintViolationError, locations: Sequence[str]) -> Exception:
    if violation.constraint_name != "tabular_location":
        return violation
    shown = ", ".join(locations)[:1000]
    return Refusal(
        Reason.REASON_LOCATION_TAKEN, f"another table or view lies at {shown}; choose another location", location=shown
    )


def _changed(tabular: Tabular) -> Refusal:
    shown = str(tabular.ident)
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE, f"{shown!r} was changed meanwhile; read it again and retry", object=shown
    )
