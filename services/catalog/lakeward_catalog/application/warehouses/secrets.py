"""Keeping a storage secret around the change that makes a warehouse refer to it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from lakeward_catalog.application.ports.storage import StorageJudge, UnnamedSecrets
from lakeward_catalog.application.ports.stores import WarehouseStore
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.errors import CommitStateUnknown, Refusal

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Secrets:
    """Has secrets kept and forgotten."""

    judge: StorageJudge
    warehouses: WarehouseStore
    unnamed: UnnamedSecrets

    @contextlib.asynccontextmanager
    async def kept_for(self, warehouse_id: WarehouseId, secret_id: UUID | None) -> AsyncIterator[None]:
        """Keep a secret for what the block does; where that is refused and no row refers to the secret, forget it again.

        The row is asked because a refusal alone tells nothing: the same request may have been sent twice, and the other one won.

        Raises:
            Refusal: NO_SUCH_SECRET.
        """
        if secret_id is None:
            yield
            return
        await self.judge.keep_secret(secret_id, warehouse_id)
        try:
            yield
        except CommitStateUnknown:
            raise  # a row may yet refer to it
        except Refusal:
            if not await self._refers(warehouse_id, secret_id):
                await self.forget(warehouse_id, secret_id)
            raise

    async def forget(self, warehouse_id: WarehouseId, secret_id: UUID) -> None:
        """Forget a secret that no row refers to; where that fails, `forget_left` does it: what was done is done."""
        try:
            await self._forget(secret_id)
        except Refusal as refusal:
            _log.warning(
                "a secret that no warehouse refers to could not be forgotten",
                extra={"secret_id": str(secret_id), "warehouse_id": str(warehouse_id), "reason": str(refusal)},
            )

    async def forget_left(self, *, before: datetime, limit: int) -> int:
        """Forget what a row named until then, and nobody came to forget; how many, at most `limit`.

        Raises:
            Refusal: SERVICE_UNAVAILABLE; those before it are forgotten.
        """
        left = await self.unnamed.list(before=before, limit=limit)
        for secret_id in left:
            await self._forget(secret_id)
        return len(left)

    async def _forget(self, secret_id: UUID) -> None:
        await self.judge.forget_secret(secret_id)
        await self.unnamed.forgotten(secret_id)

    async def _refers(self, warehouse_id: WarehouseId, secret_id: UUID) -> bool:
        """Whether a warehouse's row refers, or might refer, to a secret."""
        try:
            warehouse = await self.warehouses.find(warehouse_id)
        except Refusal:
            return True
        return warehouse is not None and warehouse.storage.secret_id == secret_id
