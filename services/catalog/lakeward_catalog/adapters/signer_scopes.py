"""Signer scopes that the catalog signs with the key of its permits; the role `SignerScopes`.

    text      unpadded base64url of: key id (8 bytes), signature (64), claims
    claims    MessagePack: [warehouse version, incarnation, namespace, location, level, expiry in seconds since the epoch,
              and the owner as whom it is read, if it is read as one, and the kind, if it is no table]
    signed    MessagePack of [warehouse, tabular, principal], then the claims

The signature covers whom and which table a scope is for, and the text does not repeat it: the signer's address says the one and
the token the other, and a text that stands in a URL should name nobody. Signing and verifying cost some fifty and a hundred
microseconds, and clients come again and again; so what was minted and what was verified is remembered.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.application.tables.signer_scopes import Minted, SignerScope
from lakeward_catalog.domain.model import Incarnation, Kind, NamespaceId, TabularId, WarehouseId
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.permits import SCOPE_LIFETIME_SECONDS, PermitSigner, key_id_of
from lakeward_servicekit.system import Clock

_LIFETIME: Final = timedelta(seconds=SCOPE_LIFETIME_SECONDS)
_SIGNATURE_BYTES: Final = 64
# An object's key has at most 1024 bytes, and the rest is a few hundred.
_LONGEST: Final = 4096
_CAPACITY: Final = 8192


class _Claims(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    warehouse_version: int
    incarnation: bytes
    namespace_id: bytes
    location: str
    level: int
    expires_at: int
    owner: str | None = None
    kind: str = Kind.TABLE.value


_encode: Final = msgspec.msgpack.Encoder().encode
_claims: Final = msgspec.msgpack.Decoder(_Claims)


class SignedScopes:
    """`SignerScopes` of one key: what another key signed is not read.

    Args:
        signer: signs permits too.
        clock: the time.
        capacity: scopes that are remembered at most, once as minted and once as verified, each about 1 KB.
    """

    def __init__(self, signer: PermitSigner, clock: Clock, *, capacity: int = _CAPACITY) -> None:
        """Sign with `signer`; see the class."""
        self._signer: Final = signer
        self._clock: Final = clock
        self._key_id: Final = bytes.fromhex(key_id_of(signer.public_key))
        self._minted: Final = Kept[SignerScope, Minted](capacity)
        self._verified: Final = Kept[tuple[str, UUID, UUID, str], tuple[SignerScope, int]](capacity)

    def mint(self, scope: SignerScope) -> Minted:
        """See `SignerScopes`; the same again while at least half of its life is left."""
        now = self._clock.now()
        kept = self._minted.get(scope)
        if kept is not None and kept.expires_at - now >= _LIFETIME / 2:
            return kept
        seconds = int((now + _LIFETIME).timestamp())
        claims = _encode(
            (
                scope.warehouse_version,
                scope.incarnation.bytes,
                scope.namespace_id.bytes,
                scope.location,
                scope.level.value,
                seconds,
                *_newer(scope),
            )
        )
        bound = _bound(scope.warehouse_id, scope.tabular_id, scope.principal)
        signature = self._signer.sign_scope(bound + claims)
        minted = Minted(_text(self._key_id + signature + claims), datetime.fromtimestamp(seconds, UTC))
        self._minted.put(scope, minted)
        return minted

    def read(
        self, text: str, *, warehouse_id: WarehouseId, tabular_id: TabularId, principal: str
    ) -> SignerScope | None:
        """See `SignerScopes`."""
        key = (text, warehouse_id, tabular_id, principal)
        verified = self._verified.get(key)
        if verified is None:
            verified = self._read_afresh(text, warehouse_id, tabular_id, principal)
            if verified is None:
                return None
            self._verified.put(key, verified)
        scope, expires_at = verified
        return scope if self._clock.now().timestamp() < expires_at else None

    def _read_afresh(
        self, text: str, warehouse_id: WarehouseId, tabular_id: TabularId, principal: str
    ) -> tuple[SignerScope, int] | None:
        content = _content(text)
        key_id_ends = len(self._key_id)
        if content is None or content[:key_id_ends] != self._key_id:
            return None
        claims_begin = key_id_ends + _SIGNATURE_BYTES
        signature, claims = content[key_id_ends:claims_begin], content[claims_begin:]
        if not self._signer.signed_scope(_bound(warehouse_id, tabular_id, principal) + claims, signature):
            return None
        try:
            said = _claims.decode(claims)
            scope = SignerScope(
                warehouse_id=warehouse_id,
                warehouse_version=said.warehouse_version,
                tabular_id=tabular_id,
                incarnation=Incarnation(UUID(bytes=said.incarnation)),
                namespace_id=NamespaceId(UUID(bytes=said.namespace_id)),
                location=said.location,
                level=Access(said.level),
                principal=principal,
                owner=None if said.owner is None else UserId(said.owner),
                kind=Kind(said.kind),
            )
        except (msgspec.MsgspecError, ValueError):
            return None  # another release's, which knows another form
        return scope, said.expires_at


def _newer(scope: SignerScope) -> tuple[str | None, ...]:
    """What an earlier release does not know: it reads the scopes that have none of it."""
    if scope.kind is not Kind.TABLE:
        return (scope.owner, scope.kind.value)
    return () if scope.owner is None else (scope.owner,)


def _bound(warehouse_id: UUID, tabular_id: UUID, principal: str) -> bytes:
    # MessagePack says where it ends, so no other principal and claims join to the same bytes
    return _encode((warehouse_id.bytes, tabular_id.bytes, principal))


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def _content(text: str) -> bytes | None:
    """What `_text` made into exactly this text; None for any other."""
    if len(text) > _LONGEST:
        return None
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    # decoding skips what is not of the alphabet, and ignores bits at the end
    return content if _text(content) == text else None
