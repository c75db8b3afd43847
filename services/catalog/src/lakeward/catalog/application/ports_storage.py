"""The role that judges storage and keeps its secrets: vending, seen from the catalog."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from lakeward.catalog.domain.model import Storage, WarehouseId


class StorageJudge(Protocol):
    """What a storage profile amounts to, whether it works, and what happens to its secret.

    The catalog knows a secret by its id alone. Every method raises Refusal SERVICE_UNAVAILABLE where there is no answer.
    """

    async def normalise(self, profile: bytes, *, secret_id: UUID | None, replaces: bytes | None) -> Storage:
        """The storage in its normal form, checked against the profile that it replaces, if any. Touches no object store.

        Args:
            profile: JSON of the public API's storage profile.
            secret_id: a secret that was staged or is kept; None: none.
            replaces: the stored profile of the warehouse that is changed.

        Raises:
            Refusal: INVALID_STORAGE_PROFILE, STORAGE_PROFILE_IMMUTABLE, CREDENTIAL_MISSING, CREDENTIAL_MISMATCH,
                STORAGE_MISCONFIGURED, ADDRESS_DENIED, STORAGE_KIND_UNSUPPORTED, NO_SUCH_SECRET.
        """
        ...

    async def validate(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Storage:
        """Prove the storage by real writes, reads, lists and deletes, with what would be vended too.

        The storage comes back with what was learnt of it: whether it tells case.

        Raises:
            Refusal: STORAGE_VALIDATION_FAILED with the first check that failed.
        """
        ...

    async def keep_secret(self, secret_id: UUID, warehouse_id: WarehouseId) -> None:
        """Bind a staged secret to its warehouse, so that it is not swept. May be repeated.

        Raises:
            Refusal: NO_SUCH_SECRET, also for one that is kept for another warehouse.
        """

    async def forget_secret(self, secret_id: UUID) -> None:
        """Forget a secret that no warehouse refers to; one that is absent counts as forgotten. May be repeated."""
