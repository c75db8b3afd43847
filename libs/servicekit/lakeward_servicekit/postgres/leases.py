"""Leases in Postgres: one row a name, in the service's own schema, timed by the server's clock.

The table is made by each service's migrations; `lease_table` defines it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_servicekit.leases import Lease

if TYPE_CHECKING:
    from datetime import timedelta

    from lakeward_servicekit.postgres.pools import Pool

# The row outlives its holders: it remembers the fence, which a delete would start again.
_ACQUIRE: Final = """
insert into lease as held (name, holder, fence, expires_at)
values ($1, $2, 1, clock_timestamp() + $3)
on conflict (name) do update
   set holder = excluded.holder,
       fence = case when held.holder = excluded.holder and held.expires_at > clock_timestamp()
                    then held.fence else held.fence + 1 end,
       expires_at = excluded.expires_at
 where held.holder = excluded.holder or held.expires_at <= clock_timestamp()
returning fence
"""
_RENEW: Final = """
update lease set expires_at = clock_timestamp() + $4
 where name = $1 and holder = $2 and fence = $3 and expires_at > clock_timestamp()
returning fence
"""
_RELEASE: Final = """
update lease set expires_at = clock_timestamp() where name = $1 and holder = $2 and fence = $3
"""


class PostgresLeases:
    """The leases of one service."""

    def __init__(self, pool: Pool) -> None:
        """Keep leases in the schema that `pool` works in."""
        self._pool: Final = pool

    async def acquire(self, name: str, *, holder: str, lifetime: timedelta) -> Lease | None:
        """See LeaseStore. A lost answer leaves a lease that runs out, or that the same holder gets again."""
        async with self._pool.reading() as connection:
            fence = await connection.fetchval(_ACQUIRE, name, holder, lifetime)
        return None if fence is None else Lease(name, holder, fence)

    async def renew(self, lease: Lease, *, lifetime: timedelta) -> bool:
        """See LeaseStore."""
        async with self._pool.reading() as connection:
            return await connection.fetchval(_RENEW, lease.name, lease.holder, lease.fence, lifetime) is not None

    async def release(self, lease: Lease) -> None:
        """See LeaseStore."""
        async with self._pool.reading() as connection:
            await connection.execute(_RELEASE, lease.name, lease.holder, lease.fence)
