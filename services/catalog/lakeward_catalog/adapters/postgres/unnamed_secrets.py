"""Secrets that no warehouse names any more; the statements that change warehouses write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_servicekit.postgres.pools import Pool

LIST: Final = "select secret_id from unnamed_secret where unnamed_at < $1 order by unnamed_at, secret_id limit $2"
FORGOTTEN: Final = "delete from unnamed_secret where secret_id = $1"


class PostgresUnnamedSecrets:
    """`UnnamedSecrets` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read and delete through `pool`."""
        self._pool: Final = pool

    async def list(self, *, before: datetime, limit: int) -> Sequence[UUID]:
        """See `UnnamedSecrets`."""
        return [row[0] for row in await self._pool.fetch(LIST, before, limit)]

    async def forgotten(self, secret_id: UUID) -> None:
        """See `UnnamedSecrets`."""
        await self._pool.execute(FORGOTTEN, secret_id)
