"""Sign one storage request of a client that holds no credential."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.ports import Grant, SigningKey
from lakeward_vending.application.storages import storage_of
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import can_vend
from lakeward_vending.domain.signing import sigv4
from lakeward_vending.domain.signing.examine import OWN_HEADERS, examine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward_vending.application.ports import Clock, Secrets, Storage, StorageBackend
    from lakeward_vending.application.storages import Backends
    from lakeward_vending.domain.permit import Permit
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.signing.request import Signable, SigningRequest


@dataclasses.dataclass(frozen=True, slots=True)
class SignedRequest:
    """What the client sends.

    Attributes:
        headers: the client's own and the signature's.
        cacheable: whether the signature may be used again for an equal request.
    """

    headers: Mapping[str, Sequence[str]]
    cacheable: bool


async def sign_request(
    request: SigningRequest, *, permit: Permit, profile: bytes, secrets: Secrets, backends: Backends, clock: Clock
) -> SignedRequest:
    """The request's headers with a signature, where nothing in the request leaves the permit's location.

    Raises:
        Refusal: PERMIT_REFUSED, SIGNING_DISABLED, SIGNING_INVALID, SIGNING_METHOD, SIGNING_OUTSIDE, CREDENTIAL_MISSING,
            NO_SUCH_SECRET, and those of the backend: CREDENTIAL_NOT_ISSUED and STORE_UNAVAILABLE among them.
    """
    permit.require(Purpose.SIGN, Access.READ)
    storage = await storage_of(permit, profile, secrets=secrets)
    s3 = profiles.as_s3(storage.profile)
    if not s3.remote_signing_enabled:
        raise Refusal(
            Reason.REASON_SIGNING_DISABLED, "this warehouse does not sign requests; ask for vended credentials"
        )
    signable = examine(request, profile=s3, location=permit.location)
    permit.require(Purpose.SIGN, signable.access)
    key, covered = await _signer(storage, s3, permit, signable, backends.of(storage.profile))
    signature = sigv4.sign(
        dataclasses.replace(signable, headers={**signable.headers, **covered}),
        region=s3.region,
        access_key_id=key.access_key_id,
        secret_access_key=key.secret_access_key,
        session_token=key.session_token,
        now=clock.now(),
    )
    ours = OWN_HEADERS | covered.keys()
    headers = {name: tuple(values) for name, values in request.headers.items() if name.lower() not in ours}
    headers |= {name: (value,) for name, value in {**covered, **signature}.items()}
    return SignedRequest(headers, signable.cacheable)


async def _signer(
    storage: Storage, profile: S3Profile, permit: Permit, request: Signable, backend: StorageBackend
) -> tuple[SigningKey, dict[str, str]]:
    """Who signs, and headers that the signature covers beside the client's.

    A store may act on another path than it held the signature against. So requests are signed with a session that opens what the
    permit opens and nothing else, as a vended credential does: the store then holds the wall where it acts. The server's own key
    signs only where no session can be had, and only what its signature was shown to hold.
    """
    kind = None if storage.credential is None else storage.credential.kind
    if can_vend(profile, kind):
        credential = await backend.mint(Grant(storage, permit.location, permit.access, permit.principal))
        return SigningKey.of(credential), {}
    terms = await backend.signing_terms(storage)
    if request.lists_keys and not terms.holds_bodies:
        raise Refusal(
            Reason.REASON_SIGNING_DISABLED,
            "deletes of many files are not signed for this warehouse: its store does not hold a body against the signature, so"
            " one would delete any file; delete them one by one, or let the warehouse vend credentials (sts-enabled)",
        )
    return await backend.signing_key(storage), dict.fromkeys(terms.covers, "")
