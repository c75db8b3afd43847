"""Remembers what was asked of S3's stores."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.keeping import Loaded
from lakeward_vending.adapters.caching.backends import LONGEST, CachedBackend
from lakeward_vending.domain.s3.keys import Session

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.s3.kind import S3Stores
    from lakeward_vending.application.ports import ObjectStore, Storage
    from lakeward_vending.domain.s3.keys import SigningKey, SigningTerms

_TERMS: Final = 256
_TERMS_SECONDS: Final = 3600.0


class CachedS3(CachedBackend[Session]):
    """An `S3Stores` that asks another one once for what every kind remembers, and for the terms on which the own key signs."""

    def __init__(self, stores: S3Stores, *, clock: Clock, capacity: int, longest: dt.timedelta = LONGEST) -> None:
        """Stand before `stores`; see `CachedBackend`."""
        super().__init__(stores, clock=clock, capacity=capacity, longest=longest)
        self._stores = stores
        self._terms: Loaded[tuple[bytes, UUID | None], SigningTerms] = Loaded(_TERMS)

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """See `S3Stores`; tried again now and then, since a store's release changes too."""

        async def load() -> tuple[SigningTerms, float]:
            return await self._stores.signing_terms(storage), _TERMS_SECONDS

        return await self._terms.get((storage.digest, storage.secret_id), load)

    async def signing_key(self, storage: Storage) -> SigningKey:
        """See `S3Stores`."""
        return await self._stores.signing_key(storage)

    async def open_as(self, storage: Storage, key: SigningKey) -> ObjectStore:
        """See `S3Stores`; made each time, for a validation."""
        return await self._stores.open_as(storage, key)

    async def read_as_forwarded(self, storage: Storage, key: SigningKey, name: str, *, inside: Location) -> None:
        """See `S3Stores`; done each time, for a validation."""
        await self._stores.read_as_forwarded(storage, key, name, inside=inside)
