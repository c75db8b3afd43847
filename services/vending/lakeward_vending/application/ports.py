"""The roles that vending's use cases need filled. One storage kind is one `StorageKind`."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.domain.access import Access
    from lakeward_vending.domain.addresses import Address
    from lakeward_vending.domain.credentials import Credential, CredentialKind
    from lakeward_vending.domain.delegation import Offer, Vended
    from lakeward_vending.domain.permit import Permit
    from lakeward_vending.domain.profiles.profile import Profile
    from lakeward_vending.domain.signing import SignedRequest, SigningRequest


@dataclasses.dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing has it; `size` in bytes."""

    key: str
    size: int


class ObjectStore(Protocol):
    """One bucket through one credential. Keys are literal, without a leading slash.

    Every method raises StoreUnavailable when the store can't be reached or is failing, and StoreDenied when it refuses the
    credential; what the store said is in the log, not in the refusal. A bucket that is not there is Refusal FILE_NOT_FOUND.
    """

    async def read(self, key: str, *, limit: int) -> bytes | None:
        """The whole object; None where there is none. Raises FileTooLarge where it is larger than `limit` bytes."""
        ...

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        """Create an object. Raises FileExists where another object is there; the same bytes again are no error.

        A store without conditional writes is looked at first; of two racing writers both may then win.
        """

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, 1 to 1000. One that is absent counts as deleted; when it raises, some may be deleted."""

    async def list_page(self, prefix: str, *, limit: int) -> Sequence[str]:
        """Up to `limit` keys that begin with `prefix`, from the first; 1 ≤ limit ≤ 1000. Empty exactly when none is left."""
        ...

    async def list_objects(self, prefix: str, *, after: str, limit: int) -> Sequence[ListedObject]:
        """As `list_page`, with sizes, in the order of the keys' UTF-8; only keys behind `after`, where that is not empty.

        Shorter than `limit` only when nothing is left.
        """
        ...

    async def read_part(self, key: str, *, offset: int, length: int) -> bytes | None:
        """`length` bytes from `offset`, fewer where the object ends; None where there is no object."""
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

    @property
    def credential_kind(self) -> CredentialKind | None:
        """None where there is no credential."""
        return None if self.credential is None else self.credential.kind


@dataclasses.dataclass(frozen=True, slots=True)
class Grant:
    """What a client is to have of a storage.

    Attributes:
        location: what is opened, with everything below it and nothing else.
        principal: who caused it.
        min_validity: how long what is minted should last at least, as far as the store grants that.
    """

    storage: Storage
    location: Location
    access: Access
    principal: str
    min_validity: timedelta = timedelta(0)

    @classmethod
    def of(cls, permit: Permit, storage: Storage, *, min_validity: timedelta = timedelta(0)) -> Grant:
        """All that the permit opens."""
        return cls(storage, permit.location, permit.access, permit.principal, min_validity)


@dataclasses.dataclass(frozen=True, slots=True)
class ClientFacts:
    """What clients of a warehouse are told before they ask for a table.

    Attributes:
        defaults: for `defaults` of their configuration.
        push_delete_disabled: whether they are asked not to delete files where the warehouse soft-deletes.
    """

    defaults: Mapping[str, str]
    push_delete_disabled: bool


class StorageKind(Protocol):
    """One storage kind, and all that is known of it: what `adapters/<kind>/` provides for the profile types that it serves.

    What takes a profile or a credential's kind alone touches nothing outside. Every other method raises StoreUnavailable, and
    Refusal ADDRESS_DENIED for an endpoint that the server does not call, and STORAGE_MISCONFIGURED or CREDENTIAL_MISSING for a
    credential that can't be used. `tests/contract/vending/test_storage_kind.py` says the rest.
    """

    def check_credential(self, profile: Profile, credential: Credential | None) -> None:
        """Refuse a credential that stands for the server's own identity where the operator does not allow that.

        Raises Refusal STORAGE_MISCONFIGURED with the setting that would allow it.
        """

    def offer(self, profile: Profile, credential: CredentialKind | None) -> Offer:
        """What clients can get. Nothing where there is no credential."""
        ...

    def client_facts(self, profile: Profile) -> ClientFacts:
        """What clients are told of the warehouse."""
        ...

    def client_config(self, profile: Profile, *, sign: bool) -> Mapping[str, str]:
        """What clients are told of how a table's files are reached, beside what is vended.

        `sign` asks them to have their requests signed; the links that they need for it are the caller's to add.
        """
        ...

    async def open(self, storage: Storage) -> ObjectStore:
        """The bucket through the server's credential, made once and shared."""
        ...

    async def vend(self, grant: Grant) -> Vended:
        """A short-lived credential, confined to the grant; shared by equal grants while half of its life is left.

        Raises Refusal CREDENTIAL_NOT_ISSUED.
        """
        ...

    async def open_vended(self, storage: Storage, vended: Vended) -> ObjectStore:
        """The bucket through the properties of a credential that was vended, as a client would open it."""
        ...

    async def sign(self, request: SigningRequest, grant: Grant) -> SignedRequest:
        """The request's headers with a signature, where nothing in the request leaves the grant.

        Raises Refusal SIGNING_DISABLED where the storage signs nothing, or nothing that could be confined; SIGNING_INVALID,
        SIGNING_METHOD, SIGNING_OUTSIDE; PERMIT_REFUSED for what needs more access than the grant's; CREDENTIAL_NOT_ISSUED.
        """
        ...

    async def prove_signing(self, storage: Storage, vended: Vended | None, *, opened: Location, outside: str) -> bool:
        """Prove that a signature opens what it was made for and nothing else, whatever is added to the request that carries it.

        Args:
            storage: what is proved.
            vended: a credential that opens `opened`; None where none can be had.
            opened: a directory.
            outside: the key of an object that lies elsewhere; "" where nothing was vended.

        Returns:
            False where nothing is signed, so that there is nothing to prove.

        Raises:
            Refusal: STORAGE_VALIDATION_FAILED where an object outside was reached; SIGNING_DISABLED.
        """
        ...


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

    async def find(self, secret_id: UUID) -> StoredSecret | None:
        """None for one that is absent.

        Raises Refusal SECRET_UNREADABLE where the key that encrypted it is not in the ring, and SecretStoreUnavailable.
        """
        ...


class Vault(Protocol):
    """A store of secrets beside ours, which knows nothing of warehouses: a secret has its id there, and no other word.

    Every method raises SecretStoreUnavailable.
    """

    async def get(self, secret_id: UUID) -> Credential | None:
        """None for one that is absent."""
        ...

    async def put(self, secret_id: UUID, credential: Credential) -> None:
        """Keep a secret, in place of what may lie under its id; again with the same one changes nothing."""

    async def delete(self, secret_id: UUID) -> None:
        """Delete a secret with all that was ever under its id; one that is absent counts as deleted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """What came of a page of secrets that were to be moved.

    Attributes:
        last: where the next page begins; None after the last one.
        moved: how many are where they were to be now.
        lost: those that are not where they should have been found, and stay as they are.
    """

    last: UUID | None
    moved: int
    lost: Sequence[UUID]


class SecretStore(Secrets, Protocol):
    """Storage secrets, encrypted at rest. A secret never changes: a new one takes its place.

    Every method raises SecretStoreUnavailable where secrets are kept in a `Vault` that can't be used; `forget` does not.
    """

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
        """Take a secret in that nobody refers to yet.

        `warehouse_id` is the only one that may keep it; None leaves that to the first. Raises Refusal SECRET_UNREADABLE where the
        first key was retired: what it encrypts could not be read when it is taken away.
        """

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> bool:
        """Bind a secret to the warehouse that refers to it; again for the same one changes nothing.

        False where it is absent or another warehouse's: then nothing was done.
        """
        ...

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

    async def retire(self) -> None:
        """Let nobody encrypt with another than the first key from now on, whatever ring they have: it is refused.

        The first key may have been retired before; it is not any more.
        """

    async def move(self, *, after: UUID | None, limit: int) -> Moved:
        """Bring up to `limit` secrets that lie elsewhere to where new ones are kept, in the order of their ids.

        Each is where it was until it was read back from where it is to be, so that a call that is cut short loses none; the
        next one goes on. Others may read, keep and forget meanwhile.
        """
        ...


class Resolver(Protocol):
    """Finds the addresses of hosts."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """At least one address. Raises StoreUnavailable where there is none."""
        ...
