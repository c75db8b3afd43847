"""What idempotency keys did."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.postgres.pools import Pool

FIND: Final = """
select fingerprint, outcome from idempotency
 where owner = $1 and principal = $2 and key = $3 and expires_at > $4
"""
KEEP: Final = """
insert into idempotency (owner, principal, key, fingerprint, outcome, expires_at) values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do nothing
"""


class PostgresIdempotency:
    """`IdempotencyStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Use `pool`, which leads to the primary."""
        self._pool = pool

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        """See `IdempotencyStore`."""
        row = await self._pool.fetchrow(FIND, place.owner, place.principal, place.key, now)
        return None if row is None else Remembered(fingerprint=row[0], outcome=row[1])

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """See `IdempotencyStore`."""
        where = (place.owner, place.principal, place.key)
        await self._pool.execute(KEEP, *where, remembered.fingerprint, remembered.outcome, until)
