"""Remembers secrets that warehouses refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_servicekit.keeping import Loaded
from lakeward_servicekit.telemetry.caches import told

if TYPE_CHECKING:
    import datetime as dt
    from uuid import UUID

    from lakeward_vending.application.ports import Moved, SecretStore, StoredSecret
    from lakeward_vending.domain.credentials import Credential

CAPACITY: Final = 500
SECONDS: Final = 600.0


class CachedSecrets:
    """A `SecretStore` that reads a kept secret once in ten minutes. One that is staged is always read: it may be kept yet."""

    def __init__(self, secrets: SecretStore) -> None:
        """Stand before `secrets`."""
        self._secrets = secrets
        self._found: Loaded[UUID, StoredSecret | None] = told("secrets", Loaded(CAPACITY))

    async def find(self, secret_id: UUID) -> StoredSecret | None:
        """See `Secrets`."""

        async def load() -> tuple[StoredSecret | None, float]:
            found = await self._secrets.find(secret_id)
            return found, 0.0 if found is None or found.warehouse_id is None else SECONDS

        return await self._found.get(secret_id, load)

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
        await self._secrets.stage(
            secret_id, credential, staged_by=staged_by, warehouse_id=warehouse_id, now=now, project_id=project_id
        )

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> bool:
        """See `SecretStore`."""
        kept = await self._secrets.keep(secret_id, warehouse_id=warehouse_id, now=now)
        self._found.discard(secret_id)
        return kept

    async def forget(self, secret_id: UUID) -> None:
        """See `SecretStore`."""
        await self._secrets.forget(secret_id)
        self._found.discard(secret_id)

    async def sweep(self, *, staged_before: dt.datetime, limit: int) -> int:
        """See `SecretStore`."""
        return await self._secrets.sweep(staged_before=staged_before, limit=limit)

    async def reencrypt(self, *, limit: int) -> int:
        """See `SecretStore`."""
        return await self._secrets.reencrypt(limit=limit)

    async def retire(self) -> None:
        """See `SecretStore`."""
        await self._secrets.retire()

    async def move(self, *, after: UUID | None, limit: int) -> Moved:
        """See `SecretStore`."""
        return await self._secrets.move(after=after, limit=limit)
