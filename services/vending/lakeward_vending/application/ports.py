"""The roles that vending's use cases need filled. One storage kind is one `StorageBackend`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.domain.access import Access
    from lakeward_vending.domain.addresses import Address
    from lakeward_vending.domain.client_properties import SessionCredential
    from lakeward_vending.domain.credentials import Credential
    from lakeward_vending.domain.profiles.profile import Profile
    from lakeward_vending.domain.secret import Secret


class Clock(Protocol):
    """The time."""

    def now(self) -> dt.datetime:
        """Now, in UTC."""
        ...


class Ids(Protocol):
    """New identifiers."""

    def uuid4(self) -> UUID:
        """One that nobody can guess."""
        ...


class ObjectStore(Protocol):
    """One bucket through one credential. Keys are literal, without a leading slash.

    Every method raises Refusal STORE_UNAVAILABLE when the store can't be reached or is failing, and STORE_DENIED when it
    refuses the credential. What the store said is in the log, not in the refusal.
    """

    async def read(self, key: str, *, limit: int) -> bytes:
        """The whole object. Raises FILE_NOT_FOUND, and FILE_UNREADABLE where it is larger than `limit` bytes."""
        ...

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        """Create an object. Raises FILE_EXISTS where another object is there; the same bytes again are no error.

        A store without conditional writes is looked at first; of two racing writers both may then win.
        """

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, 1 to 1000. One that is absent counts as deleted; when it raises, some may be deleted."""

    async def list_page(self, prefix: str, *, limit: int) -> Sequence[str]:
        """Up to `limit` keys that begin with `prefix`, from the first; 1 ≤ limit ≤ 1000. Empty exactly when none is left."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Storage:
    """A profile with the credential that goes with it.

    Attributes:
        digest: SHA-256 of the profile's text; with `secret_id` it names all that a client of the store depends on.
    """

    profile: Profile
    digest: bytes
    credential: Credential | None
    secret_id: UUID | None


@dataclasses.dataclass(frozen=True, slots=True)
class Grant:
    """A short-lived credential that is asked for.

    Attributes:
        location: what it opens, with everything below it and nothing else.
        principal: who caused it.
    """

    storage: Storage
    location: Location
    access: Access
    principal: str


@dataclasses.dataclass(frozen=True, slots=True)
class SigningKey:
    """An identity that signs requests.

    Attributes:
        session_token: of a short-lived identity; None for a long-lived one.
    """

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret | None

    @classmethod
    def of(cls, credential: SessionCredential) -> Self:
        """The identity of a credential that was minted."""
        return cls(credential.access_key_id, credential.secret_access_key, credential.session_token)


@dataclasses.dataclass(frozen=True, slots=True)
class SigningTerms:
    """On which terms the server's own identity signs for clients, as its store was seen to behave.

    Attributes:
        covers: headers that each signature covers as empty ones, so that nobody can add them.
        holds_bodies: whether the store holds a body against the hash that was signed. Where it does not, a signature for a list
            of deletes would be one for any list.
    """

    covers: Sequence[str]
    holds_bodies: bool


class Minter(Protocol):
    """Mints short-lived credentials."""

    async def mint(self, grant: Grant) -> SessionCredential:
        """A new credential, confined to the grant.

        Raises Refusal CREDENTIAL_NOT_ISSUED, STORE_UNAVAILABLE, STORAGE_MISCONFIGURED, CREDENTIAL_MISSING or
        STORAGE_KIND_UNSUPPORTED.
        """
        ...


class StorageBackend(Minter, Protocol):
    """One storage kind: what `adapters/<kind>/` provides.

    Every method raises Refusal ADDRESS_DENIED for an endpoint that the server does not call, and STORAGE_MISCONFIGURED or
    CREDENTIAL_MISSING for a credential that can't be used.
    """

    async def open(self, storage: Storage) -> ObjectStore:
        """The bucket through the server's credential, made once and shared."""
        ...

    async def open_vended(self, storage: Storage, credential: SessionCredential) -> ObjectStore:
        """The bucket through a credential that was minted, as a client would open it."""
        ...

    async def signing_key(self, storage: Storage) -> SigningKey:
        """The server's own identity, which signs for clients on the terms of `signing_terms`."""
        ...

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """On which terms the server's own identity signs for clients: tried at the store, without a trace.

        Raises Refusal SIGNING_DISABLED where there are none that confine a signature, and STORE_UNAVAILABLE.
        """
        ...

    async def read_as_forwarded(
        self, storage: Storage, credential: SessionCredential, key: str, *, inside: Location
    ) -> None:
        """Read an object by a signature for a place inside `inside`, in a request that says it was forwarded from there.

        Raises Refusal STORE_DENIED where the store goes by the path that it acts on.
        """


@dataclasses.dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret of the store.

    Attributes:
        warehouse_id: who refers to it; None while it is staged.
    """

    credential: Credential
    warehouse_id: UUID | None


class Secrets(Protocol):
    """Reads secrets."""

    async def find(self, secret_id: UUID) -> StoredSecret:
        """Raises Refusal NO_SUCH_SECRET, or SECRET_UNREADABLE where the key that encrypted it is not in the ring."""
        ...


class SecretStore(Secrets, Protocol):
    """Storage secrets, encrypted at rest. A secret never changes: a new one takes its place."""

    async def stage(
        self, secret_id: UUID, credential: Credential, *, staged_by: str, warehouse_id: UUID | None, now: dt.datetime
    ) -> None:
        """Take a secret in that nobody refers to yet.

        `warehouse_id` is the only one that may keep it; None leaves that to the first.
        """

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> None:
        """Bind a secret to the warehouse that refers to it; again for the same one changes nothing.

        Raises Refusal NO_SUCH_SECRET where it is absent or another warehouse's.
        """

    async def forget(self, secret_id: UUID) -> None:
        """Delete a secret; one that is absent counts as deleted."""

    async def sweep(self, *, staged_before: dt.datetime, limit: int) -> int:
        """Delete up to `limit` secrets that were staged before that moment and never kept; how many it were."""
        ...

    async def reencrypt(self, *, limit: int) -> int:
        """Encrypt up to `limit` secrets anew that another than the first key encrypted; how many it were.

        Raises Refusal SECRET_UNREADABLE where a key is not in the ring.
        """
        ...


class Resolver(Protocol):
    """Finds the addresses of hosts."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """At least one address. Raises Refusal STORE_UNAVAILABLE where there is none."""
        ...
