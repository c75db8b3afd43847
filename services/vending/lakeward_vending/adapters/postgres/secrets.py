"""Storage secrets in Postgres. Neither the secret nor its key ever travels there in the clear.

Where secrets are kept in a `Vault`, a row says whose a secret is and that it lies there; the secret itself is not in it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from lakeward_servicekit.audit.postgres import record
from lakeward_servicekit.audit.records import of_changes
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.outbox import tell
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.postgres.sealing import Sealed
from lakeward_vending.application.announcements import Announcer, CredentialChange, Known
from lakeward_vending.application.ports import Moved, StoredSecret
from lakeward_vending.application.refusals import SecretStoreUnavailable
from lakeward_vending.domain import credentials

if TYPE_CHECKING:
    import datetime as dt
    from uuid import UUID

    import asyncpg

    from lakeward_servicekit.postgres.pools import Connection, Pool
    from lakeward_vending.adapters.postgres.sealing import KeyRing
    from lakeward_vending.application.ports import Vault
    from lakeward_vending.domain.credentials import Credential

_LOG: Final = logging.getLogger(__name__)
Kept: TypeAlias = Literal["postgres", "kv2"]
# A secret that is being moved is looked for where it went, so often.
_LOOKS: Final = 3

_FIND: Final = """
select store, key_id, nonce, ciphertext, warehouse_id, project_id from secret where secret_id = $1 and forgotten_at is null
"""
# The share lock on the key's row makes a rotation wait for what is being encrypted, and this see that it was retired.
_STAGE: Final = """
insert into secret (secret_id, key_id, nonce, ciphertext, staged_by, staged_at, staged_for, project_id)
select $1, usable.key_id, $3, $4, $5, $6, $7, $8
  from (select key_id from encryption_key where key_id = $2 and retired_at is null for share) usable
returning secret_id
"""
_STAGE_ELSEWHERE: Final = """
insert into secret (secret_id, store, in_kv2, staged_by, staged_at, staged_for, project_id)
values ($1, 'kv2', true, $2, $3, $4, $5)
"""
_KNOW_KEY: Final = "insert into encryption_key (key_id) values ($1) on conflict (key_id) do nothing"
_RETIRED: Final = "select exists (select from encryption_key where key_id = $1 and retired_at is not null)"
_KEEP: Final = """
with held as (select kept_at as before from secret where secret_id = $1 for update)
update secret set warehouse_id = $2, kept_at = coalesce(kept_at, $3)
  from held
 where secret_id = $1 and (warehouse_id is null or warehouse_id = $2) and (staged_for is null or staged_for = $2)
   and forgotten_at is null
returning held.before is null as fresh, project_id, store, key_id
"""
_FORGET_HERE: Final = """
delete from secret where secret_id = $1 and not in_kv2 returning secret_id, warehouse_id, store, key_id, project_id
"""
_FORGET: Final = """
update secret set forgotten_at = now() where secret_id = $1 and forgotten_at is null
returning secret_id, warehouse_id, store, key_id, project_id
"""
_IS_FORGOTTEN: Final = "select secret_id from secret where secret_id = $1 and forgotten_at is not null"
_SWEEP: Final = """
delete from secret
 where secret_id in (
       select secret_id from secret
        where warehouse_id is null and staged_at < $1 and not in_kv2
        order by staged_at limit $2 for update skip locked)
returning secret_id, warehouse_id, store, key_id, project_id
"""
_SWEEP_ELSEWHERE: Final = """
update secret set forgotten_at = now()
 where secret_id in (
       select secret_id from secret
        where warehouse_id is null and staged_at < $1 and in_kv2 and forgotten_at is null
        order by staged_at limit $2 for update skip locked)
returning secret_id, warehouse_id, store, key_id, project_id
"""
_FORGOTTEN: Final = "select secret_id from secret where forgotten_at is not null order by forgotten_at limit $1"
_DELETE: Final = "delete from secret where secret_id = $1 and forgotten_at is not null"
_OLD: Final = """
select secret_id, key_id, nonce, ciphertext, warehouse_id, project_id
  from secret where key_id <> $1 order by secret_id limit $2 for update
"""
_RESEAL: Final = "update secret set key_id = $2, nonce = $3, ciphertext = $4 where secret_id = $1"
_USE_KEY: Final = """
insert into encryption_key (key_id) values ($1) on conflict (key_id) do update set retired_at = null
"""
_RETIRE: Final = """
insert into encryption_key (key_id, retired_at)
select key_id, now() from (select unnest($2::text[]) as key_id union select key_id from secret) k
 where key_id is not null and key_id <> $1
on conflict (key_id) do update set retired_at = coalesce(encryption_key.retired_at, excluded.retired_at)
"""
_ELSEWHERE: Final = """
select secret_id from secret
 where forgotten_at is null and (store <> $1 or ($1 = 'postgres' and in_kv2)) and ($2::uuid is null or secret_id > $2)
 order by secret_id limit $3
"""
_SAY_IN_KV2: Final = "update secret set in_kv2 = true where secret_id = $1 and forgotten_at is null returning secret_id"
_HOLD: Final = f"{_FIND.strip()} for update"
_NOW_IN_KV2: Final = """
update secret set store = 'kv2', in_kv2 = true, key_id = null, nonce = null, ciphertext = null where secret_id = $1
"""
_NOW_HERE: Final = """
update secret set store = 'postgres', key_id = $2, nonce = $3, ciphertext = $4 where secret_id = $1
"""
_NOT_IN_KV2: Final = "update secret set in_kv2 = false where secret_id = $1"


class PostgresSecrets:
    """A `SecretStore`. Reads go to the primary: a secret is used as soon as it was staged.

    Args:
        pool: of vending's schema.
        ring: seals and opens what is kept here; None where nothing is.
        vault: where secrets are kept beside here; None: nowhere.
        keeps: where new ones are kept; "kv2" is the vault.
        audits: each event is written down for the audit too.
    """

    def __init__(
        self,
        pool: Pool,
        ring: KeyRing | None,
        *,
        vault: Vault | None = None,
        keeps: Kept = "postgres",
        audits: bool = False,
    ) -> None:
        """Keep secrets as the class says."""
        if (keeps == "kv2" and vault is None) or (keeps == "postgres" and ring is None):
            raise ValueError(f"nothing to keep secrets with: {keeps}")
        self._pool = pool
        self._ring = ring
        self._vault = vault
        self._keeps: Final[Kept] = keeps
        self._audits: Final = audits
        self._announcer: Final = Announcer(SystemClock(), SystemIds())

    async def find(self, secret_id: UUID) -> StoredSecret | None:
        """See `Secrets`."""
        for _ in range(_LOOKS):
            row = await self._pool.fetchrow(_FIND, secret_id)
            if row is None:
                return None
            credential = await self._read(row, secret_id)
            if credential is not None:
                return StoredSecret(credential, row["warehouse_id"])
        return None

    async def stage(
        self,
        secret_id: UUID,
        credential: Credential,
        *,
        staged_by: str,
        warehouse_id: UUID | None,
        now: dt.datetime,
        project_id: str | None = None,
    ) -> None:
        """See `SecretStore`."""
        if self._keeps == "kv2":
            # The row first: what is in the vault and has none would never be swept.
            known = Known(secret_id, credential.kind.value, warehouse_id, "kv2", project_id=project_id)
            async with self._pool.transaction() as connection:
                await connection.execute(_STAGE_ELSEWHERE, secret_id, staged_by, now, warehouse_id, project_id)
                await self._tell(connection, CredentialChange.STORED, known)
            await self._outside().put(secret_id, credential)
            return
        ring = self._inside()
        sealed = ring.seal(credential.document(), secret_id=secret_id)
        row = (secret_id, sealed.key_id, sealed.nonce, sealed.ciphertext, staged_by, now, warehouse_id, project_id)
        known = Known(secret_id, credential.kind.value, warehouse_id, "postgres", sealed.key_id, project_id)
        for _ in range(2):
            async with self._pool.transaction() as connection:
                if await connection.fetchval(_STAGE, *row) is not None:
                    await self._tell(connection, CredentialChange.STORED, known)
                    return
            if await self.key_retired():
                break
        raise Refusal(
            Reason.REASON_SECRET_UNREADABLE,
            f"nothing is encrypted with the key {sealed.key_id!r} any more: a rotation has retired it; put the new key first in "
            "LAKEWARD__ENCRYPTION_KEYS",
            key_id=sealed.key_id,
        )

    async def key_retired(self) -> bool:
        """Whether the ring's first key was retired by a rotation; from now on it is known to be in use where it was not."""
        if self._keeps == "kv2":
            return False
        key_id = self._inside().sealing_key_id
        await self._pool.execute(_KNOW_KEY, key_id)
        return bool(await self._pool.fetchval(_RETIRED, key_id))

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> bool:
        """See `SecretStore`."""
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_KEEP, secret_id, warehouse_id, now)
            if row is not None and row["fresh"]:
                known = Known(secret_id, warehouse_id=warehouse_id, project_id=row["project_id"])
                await self._tell(connection, CredentialChange.KEPT, known)
        return row is not None

    async def forget(self, secret_id: UUID) -> None:
        """See `SecretStore`. What the vault does not delete now, a sweep deletes later."""
        async with self._pool.transaction() as connection:
            here = await connection.fetchrow(_FORGET_HERE, secret_id)
            row = here or await connection.fetchrow(_FORGET, secret_id)
            if row is not None:
                await self._tell(connection, CredentialChange.FORGOTTEN, _known(row), unused=False)
        if here is None and await self._pool.fetchval(_IS_FORGOTTEN, secret_id) is not None:
            try:
                await self._delete_outside(secret_id)
            except SecretStoreUnavailable as refused:
                _LOG.warning("a secret is forgotten, and will be deleted later", extra={"refusal": str(refused)})

    async def sweep(self, *, staged_before: dt.datetime, limit: int) -> int:
        """See `SecretStore`."""
        async with self._pool.transaction() as connection:
            gone = await connection.fetch(_SWEEP, staged_before, limit)
            swept = len(gone)
            gone += await connection.fetch(_SWEEP_ELSEWHERE, staged_before, limit - swept)
            for row in gone:
                await self._tell(connection, CredentialChange.FORGOTTEN, _known(row), unused=True)
        for row in await self._pool.fetch(_FORGOTTEN, limit - swept):
            await self._delete_outside(row["secret_id"])
            swept += 1
        return swept

    async def reencrypt(self, *, limit: int) -> int:
        """See `SecretStore`."""
        ring = self._inside()
        async with self._pool.transaction() as connection:
            rows = await connection.fetch(_OLD, ring.sealing_key_id, limit)
            for row in rows:
                secret_id = row["secret_id"]
                old = Sealed(row["key_id"], row["nonce"], row["ciphertext"])
                new = ring.seal(ring.open(old, secret_id=secret_id), secret_id=secret_id)
                await connection.execute(_RESEAL, secret_id, new.key_id, new.nonce, new.ciphertext)
                known = Known(
                    secret_id,
                    warehouse_id=row["warehouse_id"],
                    store="postgres",
                    key_id=new.key_id,
                    project_id=row["project_id"],
                )
                await self._tell(connection, CredentialChange.REENCRYPTED, known)
        return len(rows)

    async def retire(self) -> None:
        """See `SecretStore`."""
        ring = self._inside()
        async with self._pool.transaction() as connection:
            await connection.execute(_USE_KEY, ring.sealing_key_id)
            await connection.execute(_RETIRE, ring.sealing_key_id, list(ring.key_ids))

    async def move(self, *, after: UUID | None, limit: int) -> Moved:
        """See `SecretStore`."""
        rows = await self._pool.fetch(_ELSEWHERE, self._keeps, after, limit)
        ids: list[UUID] = [row["secret_id"] for row in rows]
        move = self._move_out if self._keeps == "kv2" else self._move_in
        lost = [secret_id for secret_id in ids if not await move(secret_id)]
        return Moved(ids[-1] if len(ids) == limit else None, len(ids) - len(lost), lost)

    async def _move_out(self, secret_id: UUID) -> bool:
        """False where it is not to be found. While a row is held, no other mover, keeper or forgetter touches it."""
        vault = self._outside()
        # Said before it is so, and by itself: what lies in the vault is then known to, whenever this ends.
        if await self._pool.fetchval(_SAY_IN_KV2, secret_id) is None:
            return True
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_HOLD, secret_id)
            if row is None or row["store"] == "kv2":
                return True
            credential = await self._read(row, secret_id)
            assert credential is not None, "it is in the row"
            await vault.put(secret_id, credential)
            await self._check(secret_id, credential, await vault.get(secret_id))
            await connection.execute(_NOW_IN_KV2, secret_id)
            known = Known(secret_id, credential.kind.value, row["warehouse_id"], "kv2", project_id=row["project_id"])
            await self._tell(connection, CredentialChange.MOVED, known)
        return True

    async def _move_in(self, secret_id: UUID) -> bool:
        """False where it is not to be found."""
        ring, vault = self._inside(), self._outside()
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_HOLD, secret_id)
            if row is None:
                return True
            if row["store"] == "kv2":
                credential = await self._read(row, secret_id)
                if credential is None:
                    return False
                key_id = await self._seal_in(connection, ring, secret_id, credential)
                known = Known(
                    secret_id, credential.kind.value, row["warehouse_id"], "postgres", key_id, row["project_id"]
                )
                await self._tell(connection, CredentialChange.MOVED, known)
        # It is here for good before it goes there; what is left by one that ends in between, the next one finds.
        async with self._pool.transaction() as connection:
            row = await connection.fetchrow(_HOLD, secret_id)
            if row is not None and row["store"] == "postgres":
                await vault.delete(secret_id)
                await connection.execute(_NOT_IN_KV2, secret_id)
        return True

    async def _seal_in(self, connection: Connection, ring: KeyRing, secret_id: UUID, credential: Credential) -> str:
        """The name of the key that it is encrypted with now."""
        new = ring.seal(credential.document(), secret_id=secret_id)
        await connection.execute(_NOW_HERE, secret_id, new.key_id, new.nonce, new.ciphertext)
        row = await connection.fetchrow(_FIND, secret_id)
        await self._check(secret_id, credential, None if row is None else await self._read(row, secret_id))
        return new.key_id

    async def _check(self, secret_id: UUID, put: Credential, got: Credential | None) -> None:
        if got != put:
            raise SecretStoreUnavailable(
                f"the secret {secret_id} is not read as it was written; it stays where it is", store=self._keeps
            )

    async def _read(self, row: asyncpg.Record, secret_id: UUID) -> Credential | None:
        """What a row has or says; None where the vault has nothing of it."""
        if row["store"] == "kv2":
            return await self._outside().get(secret_id)
        sealed = Sealed(row["key_id"], row["nonce"], row["ciphertext"])
        return credentials.parse(self._inside(sealed.key_id).open(sealed, secret_id=secret_id))

    async def _tell(
        self, connection: Connection, change: CredentialChange, known: Known, *, unused: bool | None = None
    ) -> None:
        event = self._announcer.credential(change, known, unused=unused)
        await tell(connection, event)
        if self._audits:
            await record(connection, of_changes([event]))

    async def _delete_outside(self, secret_id: UUID) -> None:
        await self._outside().delete(secret_id)
        await self._pool.execute(_DELETE, secret_id)

    def _inside(self, key_id: str = "") -> KeyRing:
        if self._ring is None:
            raise Refusal(
                Reason.REASON_SECRET_UNREADABLE,
                "secrets lie in Postgres, and no key is set; set LAKEWARD__ENCRYPTION_KEYS as it was",
                key_id=key_id,
            )
        return self._ring

    def _outside(self) -> Vault:
        if self._vault is None:
            raise SecretStoreUnavailable(
                "secrets lie in a KV v2 store, and none is set; set LAKEKEEPER__KV2__URL and its others as they were",
                store="kv2",
            )
        return self._vault


def _known(row: asyncpg.Record) -> Known:
    return Known(
        row["secret_id"],
        warehouse_id=row["warehouse_id"],
        store=row["store"],
        key_id=row["key_id"],
        project_id=row["project_id"],
    )
