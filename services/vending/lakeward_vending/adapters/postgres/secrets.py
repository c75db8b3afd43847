"""Storage secrets in Postgres. Neither the secret nor its key ever travels there in the clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_vending.adapters.postgres.sealing import Sealed
from lakeward_vending.application.ports import StoredSecret
from lakeward_vending.domain import credentials

if TYPE_CHECKING:
    import datetime as dt
    from uuid import UUID

    from lakeward_servicekit.postgres.pools import Pool
    from lakeward_vending.adapters.postgres.sealing import KeyRing
    from lakeward_vending.domain.credentials import Credential

_FIND: Final = "select key_id, nonce, ciphertext, warehouse_id from secret where secret_id = $1"
_STAGE: Final = """
insert into secret (secret_id, key_id, nonce, ciphertext, staged_by, staged_at, staged_for)
values ($1, $2, $3, $4, $5, $6, $7)
"""
_KEEP: Final = """
update secret set warehouse_id = $2, kept_at = coalesce(kept_at, $3)
 where secret_id = $1 and (warehouse_id is null or warehouse_id = $2) and (staged_for is null or staged_for = $2)
returning secret_id
"""
_FORGET: Final = "delete from secret where secret_id = $1"
_SWEEP: Final = """
delete from secret
 where warehouse_id is null
   and secret_id in (
       select secret_id from secret
        where warehouse_id is null and staged_at < $1
        order by staged_at limit $2 for update skip locked)
"""
_OLD: Final = """
select secret_id, key_id, nonce, ciphertext from secret where key_id <> $1 order by secret_id limit $2 for update
"""
_RESEAL: Final = "update secret set key_id = $2, nonce = $3, ciphertext = $4 where secret_id = $1"


class PostgresSecrets:
    """A `SecretStore`. Reads go to the primary: a secret is used as soon as it was staged."""

    def __init__(self, pool: Pool, ring: KeyRing) -> None:
        """Keep secrets in `pool`'s schema, sealed by `ring`."""
        self._pool = pool
        self._ring = ring

    async def find(self, secret_id: UUID) -> StoredSecret | None:
        """See `Secrets`."""
        row = await self._pool.fetchrow(_FIND, secret_id)
        if row is None:
            return None
        sealed = Sealed(row["key_id"], row["nonce"], row["ciphertext"])
        return StoredSecret(credentials.parse(self._ring.open(sealed, secret_id=secret_id)), row["warehouse_id"])

    async def stage(
        self, secret_id: UUID, credential: Credential, *, staged_by: str, warehouse_id: UUID | None, now: dt.datetime
    ) -> None:
        """See `SecretStore`."""
        sealed = self._ring.seal(credential.document(), secret_id=secret_id)
        await self._pool.execute(
            _STAGE, secret_id, sealed.key_id, sealed.nonce, sealed.ciphertext, staged_by, now, warehouse_id
        )

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> bool:
        """See `SecretStore`."""
        async with self._pool.changing() as connection:
            kept = await connection.fetchval(_KEEP, secret_id, warehouse_id, now)
        return kept is not None

    async def forget(self, secret_id: UUID) -> None:
        """See `SecretStore`."""
        await self._pool.execute(_FORGET, secret_id)

    async def sweep(self, *, staged_before: dt.datetime, limit: int) -> int:
        """See `SecretStore`."""
        tag = await self._pool.execute(_SWEEP, staged_before, limit)
        return int(tag.rpartition(" ")[2])

    async def reencrypt(self, *, limit: int) -> int:
        """See `SecretStore`."""
        async with self._pool.transaction() as connection:
            rows = await connection.fetch(_OLD, self._ring.sealing_key_id, limit)
            for row in rows:
                secret_id = row["secret_id"]
                old = Sealed(row["key_id"], row["nonce"], row["ciphertext"])
                new = self._ring.seal(self._ring.open(old, secret_id=secret_id), secret_id=secret_id)
                await connection.execute(_RESEAL, secret_id, new.key_id, new.nonce, new.ciphertext)
        return len(rows)
