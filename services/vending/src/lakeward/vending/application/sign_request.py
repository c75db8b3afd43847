"""Sign one storage request of a client that holds no credential."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward.servicekit.errors import Reason, Refusal
from lakeward.vending.application.storages import storage_of
from lakeward.vending.domain.access import Access
from lakeward.vending.domain.permit import Purpose
from lakeward.vending.domain.profiles import profile as profiles
from lakeward.vending.domain.signing import sigv4
from lakeward.vending.domain.signing.examine import OWN_HEADERS, examine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward.vending.application.ports import Clock, Secrets
    from lakeward.vending.application.storages import Backends
    from lakeward.vending.domain.permit import Permit
    from lakeward.vending.domain.signing.request import SigningRequest


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
            NO_SUCH_SECRET, and those of the backend.
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
    key = await backends.of(storage.profile).signing_key(storage)
    signature = sigv4.sign(
        signable,
        region=s3.region,
        access_key_id=key.access_key_id,
        secret_access_key=key.secret_access_key,
        session_token=key.session_token,
        now=clock.now(),
    )
    kept = {name: tuple(values) for name, values in request.headers.items() if name.lower() not in OWN_HEADERS}
    return SignedRequest(kept | {name: (value,) for name, value in signature.items()}, signable.cacheable)
