"""What idempotency keys did. A row that expired goes when others are written, so none stay for long where keys are used."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Record, Remembered
from lakeward_servicekit.postgres.pools import Connection, Pool

_FIND: Final = """
select fingerprint, outcome from idempotency
 where owner = $1 and principal = $2 and key = $3 and expires_at > $4
"""
_FORGET: Final = """
delete from idempotency where (owner, principal, key) in (
    select owner, principal, key from idempotency where expires_at <= now() order by expires_at limit 100
       for update skip locked)
"""
_KEEP: Final = """
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at) values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= now()
returning key
"""


class PostgresIdempotency:
    """The `IdempotencyStore` in Postgres.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Keep rows through `pool`."""
        self._pool = pool

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        """See `IdempotencyStore`."""
        row = await self._pool.fetchrow(_FIND, place.owner, place.principal, place.key, now)
        return None if row is None else Remembered(fingerprint=row[0], outcome=row[1])

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """See `IdempotencyStore`."""
        async with self._pool.transaction() as connection:
            await _keep(connection, Record(place, remembered, until))


async def keep(connection: Connection, record: Record | None) -> None:
    """Write what a change did under its key, in its transaction.

    Raises:
        Refusal: REQUEST_IN_PROGRESS, where another transaction kept the key first.
    """
    if record is not None and not await _keep(connection, record):
        shown = str(record.place.key)
        raise Refusal(
            Reason.REASON_REQUEST_IN_PROGRESS,
            f"another request with idempotency key {shown} came first; send this one again",
            key=shown,
        )


async def _keep(connection: Connection, record: Record) -> bool:
    await connection.execute(_FORGET)
    place, remembered = record.place, record.remembered
    where = (place.owner, place.principal, place.key)
    kept = await connection.fetchval(_KEEP, *where, remembered.fingerprint, remembered.outcome, record.until)
    return kept is not None
