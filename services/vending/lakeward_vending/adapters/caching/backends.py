"""Remembers clients of stores, and minted credentials for half of their life."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.keeping import Loaded

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.application.ports import (
        Clock,
        Grant,
        ObjectStore,
        SigningKey,
        SigningTerms,
        Storage,
        StorageBackend,
    )
    from lakeward_vending.domain.access import Access
    from lakeward_vending.domain.client_properties import SessionCredential

LONGEST: Final = dt.timedelta(hours=1)
_CLIENTS: Final = 256
# A client is made again now and then, so that its host is resolved and judged again.
_CLIENT_SECONDS: Final = 600.0
_TERMS_SECONDS: Final = 3600.0


class CachedBackend:
    """A `StorageBackend` that asks another one once.

    A credential is shared by calls for one location, level, principal, profile and secret. It is kept for half of the life
    that the store granted, at most an hour, so whoever gets it has at least half of it left.

    Args:
        backend: asked on a miss.
        clock: tells how much of a credential's life is left.
        capacity: most credentials; 0 keeps none.
        longest: most time that one is kept.
    """

    def __init__(
        self, backend: StorageBackend, *, clock: Clock, capacity: int, longest: dt.timedelta = LONGEST
    ) -> None:
        """Stand before `backend`; see the class."""
        self._backend = backend
        self._clock = clock
        self._keeps_credentials = capacity > 0
        self._longest = longest
        self._clients: Loaded[tuple[bytes, UUID | None], ObjectStore] = Loaded(_CLIENTS)
        self._terms: Loaded[tuple[bytes, UUID | None], SigningTerms] = Loaded(_CLIENTS)
        self._credentials: Loaded[tuple[str, Access, str, bytes, UUID | None], SessionCredential] = Loaded(capacity)

    async def open(self, storage: Storage) -> ObjectStore:
        """See `StorageBackend`."""

        async def load() -> tuple[ObjectStore, float]:
            return await self._backend.open(storage), _CLIENT_SECONDS

        return await self._clients.get((storage.digest, storage.secret_id), load)

    async def open_vended(self, storage: Storage, credential: SessionCredential) -> ObjectStore:
        """See `StorageBackend`; made each time, for a validation."""
        return await self._backend.open_vended(storage, credential)

    async def signing_key(self, storage: Storage) -> SigningKey:
        """See `StorageBackend`."""
        return await self._backend.signing_key(storage)

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """See `StorageBackend`; tried again now and then, since a store's release changes too."""

        async def load() -> tuple[SigningTerms, float]:
            return await self._backend.signing_terms(storage), _TERMS_SECONDS

        return await self._terms.get((storage.digest, storage.secret_id), load)

    async def read_as_forwarded(
        self, storage: Storage, credential: SessionCredential, key: str, *, inside: Location
    ) -> None:
        """See `StorageBackend`; done each time, for a validation."""
        await self._backend.read_as_forwarded(storage, credential, key, inside=inside)

    async def mint(self, grant: Grant) -> SessionCredential:
        """See `Minter`."""
        if not self._keeps_credentials:
            return await self._backend.mint(grant)

        async def load() -> tuple[SessionCredential, float]:
            credential = await self._backend.mint(grant)
            half = (credential.expires_at - self._clock.now()) / 2
            return credential, min(half, self._longest).total_seconds()

        storage = grant.storage
        key = (grant.location.key, grant.access, grant.principal, storage.digest, storage.secret_id)
        return await self._credentials.get(key, load)
