"""Permits, ids and words from messages: refused here, once; behind this line they can't be wrong."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from lakeward_locations import Location, LocationError
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.remembering import remembered
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.delegation import Delegation
from lakeward_vending.domain.permit import Permit, Purpose, profile_beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf import timestamp_pb2

    from lakeward_servicekit.permits import PermitVerifier

_ACCESS: Final = {
    permits_pb2.ACCESS_READ: Access.READ,
    permits_pb2.ACCESS_READ_WRITE: Access.READ_WRITE,
    permits_pb2.ACCESS_READ_WRITE_DELETE: Access.READ_WRITE_DELETE,
}
_PURPOSE: Final = {
    permits_pb2.PURPOSE_VEND: Purpose.VEND,
    permits_pb2.PURPOSE_SIGN: Purpose.SIGN,
    permits_pb2.PURPOSE_FILES: Purpose.FILES,
    permits_pb2.PURPOSE_PURGE: Purpose.PURGE,
    permits_pb2.PURPOSE_VALIDATE: Purpose.VALIDATE,
}
_DELEGATION: Final = {
    context_pb2.DELEGATION_VENDED_CREDENTIALS: Delegation.VENDED_CREDENTIALS,
    context_pb2.DELEGATION_REMOTE_SIGNING: Delegation.REMOTE_SIGNING,
    context_pb2.DELEGATION_CLIENT_MANAGED: Delegation.CLIENT_MANAGED,
}
_PROJECT: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_UUID_BYTES: Final = 16
_DIGEST_BYTES: Final = 32


def permit(storage: vending_pb2.Storage, verifier: PermitVerifier) -> Permit:
    """What a request's permit opens, once it is verified, with the storage profile that it names.

    Raises:
        Refusal: PERMIT_REFUSED.
    """
    verifier.verify(storage.permit)
    return _permit(storage.permit.claims, storage.profile)


@remembered(entries=4096, longest=8192)
def _permit(serialised: bytes, profile: bytes) -> Permit:
    """Claims, which somebody signed: what is wrong with them is the catalog's mistake, and is refused all the same.

    All that is held against each other is pure, so that it is done once for a client's calls about one table.
    """
    claims = permits_pb2.PermitClaims.FromString(serialised)
    try:
        access, purpose = _ACCESS[claims.access], _PURPOSE[claims.purpose]
        location = Location.parse(claims.location)
        warehouse_id = UUID(bytes=_sized(claims.warehouse_id, _UUID_BYTES))
        incarnation = UUID(bytes=_sized(claims.incarnation, _UUID_BYTES)) if claims.incarnation else None
        secret_id = UUID(claims.secret_id) if claims.secret_id else None
        digest = _sized(claims.profile_sha256, _DIGEST_BYTES)
    except (KeyError, LocationError, ValueError) as error:
        raise Refusal(
            Reason.REASON_PERMIT_REFUSED,
            f"the permit's claims say nothing that can be acted on: {error}",
            cause="malformed",
        ) from error
    return Permit(
        warehouse_id=warehouse_id,
        incarnation=incarnation,
        location=location,
        access=access,
        purpose=purpose,
        principal=claims.principal,
        secret_id=secret_id,
        profile=profile_beside(profile, digest=digest, location=location),
        profile_digest=digest,
    )


def delegations(words: Iterable[context_pb2.Delegation.ValueType]) -> frozenset[Delegation]:
    """What a client accepts; a word that is not known here is left out, as one that is not set."""
    return frozenset(_DELEGATION[word] for word in words if word in _DELEGATION)


def uuid(text: str, *, field: str) -> UUID:
    """A required id.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return UUID(text)
    except ValueError as error:
        raise invalid_field(field, text, "a UUID") from error


def optional_uuid(text: str, *, field: str) -> UUID | None:
    """An id, or None where the field is unset.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return uuid(text, field=field) if text else None


def moment(message: timestamp_pb2.Timestamp, *, field: str) -> dt.datetime:
    """A moment, in UTC.

    Raises:
        Refusal: INVALID_FIELD: unset, or none that a calendar has.
    """
    try:
        if message.seconds:
            return message.ToDatetime(dt.UTC)
    except (ValueError, OverflowError) as error:
        raise invalid_field(field, message.seconds, "a moment between the years 1 and 9999") from error
    raise invalid_field(field, "", "given")


def project(text: str) -> str:
    """The project that a request names.

    Raises:
        Refusal: MALFORMED_PROJECT_ID.
    """
    if not _PROJECT.match(text):
        shown = text[:128]
        raise Refusal(
            Reason.REASON_MALFORMED_PROJECT_ID,
            f"project id {shown!r} can't be one; it is made of 1 to 128 letters, digits, '-' and '_'",
            project=shown,
        )
    return text


def _sized(value: bytes, size: int) -> bytes:
    if len(value) != size:
        raise ValueError(f"{len(value)} bytes where {size} belong")
    return value
