"""Remembers clients of stores, and minted credentials for half of their life."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from lakeward_servicekit.keeping import Loaded
from lakeward_servicekit.telemetry.caches import told

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_servicekit.system import Clock
    from lakeward_vending.application.ports import Grant, ObjectStore, Storage
    from lakeward_vending.domain.access import Access

LONGEST: Final = dt.timedelta(hours=1)
_CLIENTS: Final = 256
# A client is made again now and then, so that its host is resolved and judged again.
_CLIENT_SECONDS: Final = 600.0
# Whoever wants credentials that last for longer is given new ones no more often than this.
_YOUNGEST: Final = dt.timedelta(minutes=1)


class Ending(Protocol):
    """What a kind mints."""

    @property
    def expires_at(self) -> dt.datetime:
        """When it ends."""
        ...


Minted = TypeVar("Minted", bound=Ending)
Minted_co = TypeVar("Minted_co", bound=Ending, covariant=True)


class Backend(Protocol[Minted_co]):
    """What of any storage kind is worth remembering."""

    async def open(self, storage: Storage) -> ObjectStore:
        """The bucket through the server's credential."""
        ...

    async def mint(self, grant: Grant) -> Minted_co:
        """A short-lived credential."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class _Dated(Generic[Minted]):
    credential: Minted
    minted_at: dt.datetime


class CachedBackend(Generic[Minted]):
    """A `Backend` that asks another one once.

    A credential is shared by calls for one location, level, principal, profile and secret. It is kept for half of the life
    that the store granted, at most an hour, so whoever gets it has at least half of it left. One that would not last as long as a
    grant wants is minted anew, if it is a minute old: the store grants no more than it grants, however much is wanted.

    Args:
        backend: asked on a miss.
        clock: tells how much of a credential's life is left.
        capacity: most credentials; 0 keeps none.
        longest: most time that one is kept.
    """

    def __init__(
        self, backend: Backend[Minted], *, clock: Clock, capacity: int, longest: dt.timedelta = LONGEST
    ) -> None:
        """Stand before `backend`; see the class."""
        self._backend = backend
        self._clock = clock
        self._keeps_credentials = capacity > 0
        self._longest = longest
        self._clients: Loaded[tuple[bytes, UUID | None], ObjectStore] = told("store_clients", Loaded(_CLIENTS))
        self._credentials: Loaded[tuple[str, Access, str, bytes, UUID | None], _Dated[Minted]] = told(
            "stc", Loaded(capacity)
        )

    async def open(self, storage: Storage) -> ObjectStore:
        """See `Backend`."""

        async def load() -> tuple[ObjectStore, float]:
            return await self._backend.open(storage), _CLIENT_SECONDS

        return await self._clients.get((storage.digest, storage.secret_id), load)

    async def mint(self, grant: Grant) -> Minted:
        """See `Backend`."""
        if not self._keeps_credentials:
            return await self._backend.mint(grant)

        async def load() -> tuple[_Dated[Minted], float]:
            credential = await self._backend.mint(grant)
            now = self._clock.now()
            return _Dated(credential, now), min((credential.expires_at - now) / 2, self._longest).total_seconds()

        storage = grant.storage
        key = (grant.location.key, grant.access, grant.principal, storage.digest, storage.secret_id)
        dated = await self._credentials.get(key, load)
        now = self._clock.now()
        if dated.credential.expires_at - now < grant.min_validity and now - dated.minted_at >= _YOUNGEST:
            # Nothing was awaited since it was read, so of several who find it too old one mints.
            self._credentials.discard(key)
            dated = await self._credentials.get(key, load)
        return dated.credential
