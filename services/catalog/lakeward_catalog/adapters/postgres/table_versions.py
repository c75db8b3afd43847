"""Versions of generic tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from lakeward_catalog.adapters.postgres.rows import encode_mapping
from lakeward_catalog.domain.generic.versions import LAST, TableVersion
from lakeward_catalog.domain.model import Tabular
from lakeward_servicekit.postgres.pools import Connection, Pool

_COLUMNS: Final = "version, path, size, properties, claimed_at"
FIND: Final = f"""
select {_COLUMNS} from table_version where warehouse_id = $1 and incarnation = $2 and version = $3
"""
LATEST: Final = f"""
select {_COLUMNS} from table_version
 where warehouse_id = $1 and incarnation = $2 order by version desc limit 1
"""
LIST: Final = f"""
select {_COLUMNS} from table_version
 where warehouse_id = $1 and incarnation = $2 and version < $3 order by version desc limit $4
"""
INSERT: Final = f"""
insert into table_version (warehouse_id, incarnation, {_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict do nothing returning version
"""
FORGET: Final = """
delete from table_version v
 where v.warehouse_id = $1 and v.incarnation = $2 and v.version < $3
   and exists (select from table_version later
                where later.warehouse_id = $1 and later.incarnation = $2 and later.version > v.version)
"""
_decode_mapping: Final = msgspec.json.Decoder(dict[str, str]).decode


class PostgresVersions:
    """`VersionStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, which leads to the primary."""
        self._pool: Final = pool

    async def find(self, tabular: Tabular, version: int | None) -> TableVersion | None:
        """See `VersionStore`."""
        key = (tabular.warehouse_id, tabular.incarnation)
        if version is None:
            return _version(await self._pool.fetchrow(LATEST, *key))
        return None if version > LAST else _version(await self._pool.fetchrow(FIND, *key, version))

    async def list(self, tabular: Tabular, *, before: int | None, limit: int) -> Sequence[TableVersion]:
        """See `VersionStore`."""
        bound = LAST + 1 if before is None else min(before, LAST + 1)
        key = (tabular.warehouse_id, tabular.incarnation)
        return [_made(row) for row in await self._pool.fetch(LIST, *key, bound, limit)]


class PostgresVersionChanges:
    """`VersionChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection) -> None:
        """Change through `connection`, whose transaction someone else ends."""
        self._connection: Final = connection

    async def latest(self, tabular: Tabular) -> TableVersion | None:
        """See `VersionChanges`."""
        return _version(await self._connection.fetchrow(LATEST, tabular.warehouse_id, tabular.incarnation))

    async def find(self, tabular: Tabular, version: int) -> TableVersion | None:
        """See `VersionChanges`."""
        return _version(await self._connection.fetchrow(FIND, tabular.warehouse_id, tabular.incarnation, version))

    async def insert(self, tabular: Tabular, version: TableVersion) -> bool:
        """See `VersionChanges`."""
        made = await self._connection.fetchval(
            INSERT,
            tabular.warehouse_id,
            tabular.incarnation,
            version.version,
            version.path,
            version.size,
            encode_mapping(version.properties),
            version.claimed_at,
        )
        return made is not None

    async def forget(self, tabular: Tabular, *, before: int) -> int:
        """See `VersionChanges`."""
        status = await self._connection.execute(
            FORGET, tabular.warehouse_id, tabular.incarnation, min(before, LAST + 1)
        )
        return int(status.rpartition(" ")[2])


def _version(row: Iterable[Any] | None) -> TableVersion | None:
    return None if row is None else _made(row)


def _made(row: Iterable[Any]) -> TableVersion:
    version, path, size, properties, claimed_at = row
    return TableVersion(version, path, size, _decode_mapping(properties), claimed_at)
