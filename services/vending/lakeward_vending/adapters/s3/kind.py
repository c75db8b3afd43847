"""S3 and compatible stores, as a storage kind: what clients are told, get and have signed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.ports import ClientFacts
from lakeward_vending.application.refusals import StoreDenied
from lakeward_vending.domain.permit import beyond
from lakeward_vending.domain.profiles.stackit import as_s3
from lakeward_vending.domain.s3 import client_properties
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.examine import OWN_HEADERS, examine
from lakeward_vending.domain.signing import SignedRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock
    from lakeward_vending.application.ports import Grant, ObjectStore, Storage
    from lakeward_vending.domain.credentials import Credential, CredentialKind
    from lakeward_vending.domain.delegation import Offer, Vended
    from lakeward_vending.domain.profiles.profile import Profile
    from lakeward_vending.domain.s3.keys import Session, SigningKey, SigningTerms
    from lakeward_vending.domain.s3.signing.request import Signable
    from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
    from lakeward_vending.domain.signing import SigningRequest


class S3Stores(Protocol):
    """The stores themselves.

    Every method raises what `StorageKind` says.
    """

    async def open(self, storage: Storage) -> ObjectStore:
        """The bucket through the server's credential, made once and shared."""
        ...

    async def open_as(self, storage: Storage, key: SigningKey) -> ObjectStore:
        """The bucket through another's key."""
        ...

    async def mint(self, grant: Grant) -> Session:
        """A session that is confined to the grant. Raises Refusal CREDENTIAL_NOT_ISSUED."""
        ...

    async def signing_key(self, storage: Storage) -> SigningKey:
        """The server's own key, which signs for clients on the terms of `signing_terms`."""
        ...

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """On which terms the server's own key signs for clients: tried at the store, without a trace.

        Raises Refusal SIGNING_DISABLED where there are none that confine a signature.
        """
        ...

    async def read_as_forwarded(self, storage: Storage, key: SigningKey, name: str, *, inside: Location) -> None:
        """Read the object `name` by a signature for a place inside `inside`, in a request that says it was forwarded from there.

        Raises StoreDenied where the store goes by the path that it acts on.
        """


@dataclasses.dataclass(frozen=True, slots=True)
class S3Kind:
    """A `StorageKind`.

    Attributes:
        rules: on the identity of the process.
    """

    stores: S3Stores
    rules: SystemIdentityRules
    clock: Clock

    def check_credential(self, profile: Profile, credential: Credential | None) -> None:
        """See `StorageKind`."""
        self.rules.check(as_s3(profile), credential)

    def offer(self, profile: Profile, credential: CredentialKind | None) -> Offer:
        """See `StorageKind`."""
        return as_s3(profile).offer(credential)

    def client_facts(self, profile: Profile) -> ClientFacts:
        """See `StorageKind`."""
        s3 = as_s3(profile)
        return ClientFacts(client_properties.defaults(s3), push_delete_disabled=s3.push_s3_delete_disabled)

    def client_config(self, profile: Profile, *, sign: bool) -> Mapping[str, str]:
        """See `StorageKind`."""
        return client_properties.config(as_s3(profile), sign=sign)

    async def open(self, storage: Storage) -> ObjectStore:
        """See `StorageKind`."""
        return await self.stores.open(storage)

    async def vend(self, grant: Grant) -> Vended:
        """See `StorageKind`."""
        return client_properties.vended(as_s3(grant.storage.profile), await self.stores.mint(grant))

    async def open_vended(self, storage: Storage, vended: Vended) -> ObjectStore:
        """See `StorageKind`."""
        return await self.stores.open_as(storage, client_properties.signing_key(vended.properties))

    async def sign(self, request: SigningRequest, grant: Grant) -> SignedRequest:
        """See `StorageKind`."""
        profile = as_s3(grant.storage.profile)
        if not profile.remote_signing_enabled:
            raise Refusal(
                Reason.REASON_SIGNING_DISABLED, "this warehouse does not sign requests; ask for vended credentials"
            )
        signable = examine(request, profile=profile, location=grant.location)
        if grant.access < signable.access:
            raise beyond(grant.access, signable.access)
        key, covered = await self._signer(signable, grant)
        signature = sigv4.sign(
            dataclasses.replace(signable, headers={**signable.headers, **covered}) if covered else signable,
            region=profile.region,
            key=key,
            now=self.clock.now(),
        )
        ours = OWN_HEADERS | covered.keys()
        headers = {name: tuple(values) for name, values in request.headers.items() if name.lower() not in ours}
        headers |= {name: (value,) for name, value in {**covered, **signature}.items()}
        return SignedRequest(headers, signable.cacheable)

    async def _signer(self, request: Signable, grant: Grant) -> tuple[SigningKey, dict[str, str]]:
        """Who signs, and headers that the signature covers beside the client's.

        A store may act on another path than it held the signature against. So requests are signed with a session that opens what
        the grant opens and nothing else, as a vended credential does: the store then holds the wall where it acts. The server's
        own key signs only where no session can be had, and only what its signature was shown to hold.
        """
        storage = grant.storage
        if self.offer(storage.profile, storage.credential_kind).vends:
            return (await self.stores.mint(grant)).key, {}
        terms = await self.stores.signing_terms(storage)
        if request.lists_keys and not terms.holds_bodies:
            raise Refusal(
                Reason.REASON_SIGNING_DISABLED,
                "deletes of many files are not signed for this warehouse: its store does not hold a body against the signature,"
                " so one would delete any file; delete them one by one, or let the warehouse vend credentials (sts-enabled)",
            )
        return await self.stores.signing_key(storage), dict.fromkeys(terms.covers, "")

    async def prove_signing(self, storage: Storage, vended: Vended | None, *, opened: Location, outside: str) -> bool:
        """See `StorageKind`: the store goes by the path that it acts on, or what the server's own key signs can be confined."""
        if vended is None:
            if not self.offer(storage.profile, storage.credential_kind).signs:
                return False
            await self.stores.signing_terms(storage)
            return True
        key = client_properties.signing_key(vended.properties)
        try:
            await self.stores.read_as_forwarded(storage, key, outside, inside=opened)
        except StoreDenied:
            return True
        raise Refusal(
            Reason.REASON_STORAGE_VALIDATION_FAILED,
            "a credential for one directory could read another by a header that says where the request was forwarded from; the"
            " store holds session policies against a path that it does not act on",
            check="",
        )
