"""The role that judges storage and keeps its secrets: vending, seen from the catalog."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from lakeward_catalog.domain.model import Storage, WarehouseId
from lakeward_servicekit.errors import Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceMark:
    """What a store says of a place that is taken.

    Attributes:
        location: of the mark itself.
        installation: whose warehouse it is; None, as the others, for an object that is no mark of ours.
    """

    location: str
    installation: UUID | None = None
    warehouse_id: WarehouseId | None = None
    claimed_at: datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Claimed:
    """What came of a claim.

    Attributes:
        other: whose the place is already; None: it is the claimant's.
        fresh: whether the mark was made now; it was there before otherwise.
    """

    other: PlaceMark | None
    fresh: bool


class CheckStatus(enum.StrEnum):
    """What came of a check; the words are the public API's."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """One check of a warehouse that is, or may come to be.

    Attributes:
        name: the public API's word for it.
        duration: None where it was skipped.
        refusal: why it failed.
        reason: why it was skipped.
    """

    name: str
    status: CheckStatus
    duration: timedelta | None = None
    refusal: Refusal | None = None
    reason: str = ""


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

    async def examine(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Sequence[Checked]:
        """As `validate`, but every check is answered with what came of it."""
        ...

    async def claim_place(
        self,
        warehouse_id: WarehouseId,
        storage: Storage,
        *,
        installation: UUID,
        at: datetime,
        takes_over: Sequence[UUID],
    ) -> Claimed:
        """Mark the storage's place, in its store, as the warehouse's; may be repeated.

        Args:
            warehouse_id: whose place it is.
            storage: the place.
            installation: ours.
            at: now.
            takes_over: warehouses of ours that are no more, whose marks are replaced.

        Raises:
            Refusal: STORE_UNAVAILABLE, STORE_DENIED.
        """
        ...

    async def release_place(
        self, warehouse_id: WarehouseId, storage: Storage, *, claimed_before: datetime | None
    ) -> None:
        """Take the warehouse's marks away that were made before that, or all of them; another's stay. May be repeated.

        Raises:
            Refusal: STORE_UNAVAILABLE, STORE_DENIED.
        """

    async def keep_secret(self, secret_id: UUID, warehouse_id: WarehouseId) -> None:
        """Bind a staged secret to its warehouse, so that it is not swept. May be repeated.

        Raises:
            Refusal: NO_SUCH_SECRET, also for one that is kept for another warehouse.
        """

    async def forget_secret(self, secret_id: UUID) -> None:
        """Forget a secret that no warehouse refers to; one that is absent counts as forgotten. May be repeated."""


class UnnamedSecrets(Protocol):
    """Secrets that no warehouse names any more, from the transaction on that made it so until they are forgotten."""

    async def list(self, *, before: datetime, limit: int) -> Sequence[UUID]:
        """Those that none names since before that, the oldest first; at most `limit`."""
        ...

    async def forgotten(self, secret_id: UUID) -> None:
        """Vending has forgotten it. May be repeated."""
