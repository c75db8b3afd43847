"""Permits: what the catalog decided, signed, so that vending can act on it without deciding anything.

    PermitSigner    the catalog's side
    SealingSigner   the same, for a vending in the same process
    PermitVerifier  vending's side

A permit says where, what, for whom and with which storage; it lives for a minute. The key is the
catalog's workload key. With it the catalog also signs the signer's scopes that it hands to clients and takes back
itself, in a domain of their own: the signature of one is never good for the other. Import this where permits are made or
checked: it loads the cryptography library.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf.message import DecodeError
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_protocol.vending.v1 import permits_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept

LIFETIME_SECONDS: Final = 60.0
SCOPE_LIFETIME_SECONDS: Final = 3600.0

# Neither is the beginning of the other, so what is signed in one is never what is signed in the other.
_DOMAIN: Final = b"lakeward.permit.v1\x00"
_SCOPE_DOMAIN: Final = b"lakeward.signer-scope.v1\x00"
# No key's id, which are hex.
_SEALED: Final = "sealed"
_LEEWAY: Final = 10.0
_MAX_CLAIMS_BYTES: Final = 16 * 1024
_CACHED: Final = 4096


def key_id_of(public_key: bytes) -> str:
    """The name of a key: the first 8 bytes of its SHA-256, in hex."""
    return hashlib.sha256(public_key).hexdigest()[:16]


class PermitSigner:
    """Signs permits; safe to share.

    Args:
        private_key: what vending knows the public half of.
    """

    __slots__ = ("_key_id", "_private_key", "_verifying_key", "public_key")

    def __init__(self, private_key: Ed25519PrivateKey) -> None:
        """Sign with `private_key`."""
        self._private_key = private_key
        self._verifying_key = private_key.public_key()
        self.public_key: Final = self._verifying_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._key_id = key_id_of(self.public_key)

    def sign(self, claims: pb.PermitClaims) -> pb.Permit:
        """A permit with these claims, as they are: the caller has set all that the contract requires."""
        serialised = claims.SerializeToString()
        signature = self._private_key.sign(_DOMAIN + serialised)
        return pb.Permit(claims=serialised, signature=signature, key_id=self._key_id)

    def sign_scope(self, message: bytes) -> bytes:
        """A signature of a signer's scope, 64 bytes; no permit's, whatever the message."""
        return self._private_key.sign(_SCOPE_DOMAIN + message)

    def signed_scope(self, message: bytes, signature: bytes) -> bool:
        """Whether a signature is what `sign_scope` makes of this message with this key."""
        try:
            self._verifying_key.verify(signature, _SCOPE_DOMAIN + message)
        except InvalidSignature:
            return False
        return True


class Seal:
    """What permits are sealed with that never leave a process: a secret that is made with it and shown to nobody.

    A signature that others can check costs 50 us to make and 130 to check, and each new table needs two. Where catalog and
    vending are one process there are no others.
    """

    __slots__ = ("_secret",)

    def __init__(self) -> None:
        """Make a fresh one."""
        self._secret: Final = secrets.token_bytes(32)

    def of(self, claims: bytes) -> bytes:
        """The seal of serialised claims."""
        return hashlib.blake2b(_DOMAIN + claims, key=self._secret).digest()

    def check(self, claims: bytes, seal: bytes) -> None:
        """Raises InvalidSignature where the seal is not of these claims."""
        if not hmac.compare_digest(seal, self.of(claims)):
            raise InvalidSignature


class SealingSigner(PermitSigner):
    """Seals permits in place of signing them, for a verifier with the same seal. Scopes, which leave the process, it signs.

    Args:
        private_key: signs scopes.
        seal: seals permits.
    """

    __slots__ = ("_seal",)

    def __init__(self, private_key: Ed25519PrivateKey, seal: Seal) -> None:
        """See the class."""
        super().__init__(private_key)
        self._seal = seal

    def sign(self, claims: pb.PermitClaims) -> pb.Permit:
        """See `PermitSigner`."""
        serialised = claims.SerializeToString()
        return pb.Permit(claims=serialised, signature=self._seal.of(serialised), key_id=_SEALED)


class PermitVerifier:
    """Says what a permit claims, if it holds; safe to share.

    A permit that was verified is not verified again, byte for byte, until it expires: a client's loads of one table come
    with one permit many times.

    Args:
        public_keys: Ed25519 public keys, 32 bytes each; several while one takes another's place.
        seal: of the process, where permits are made in it; None: no sealed one is taken.
        now: seconds since the epoch.
    """

    __slots__ = ("_keys", "_now", "_seal", "_verified")

    def __init__(
        self, public_keys: Iterable[bytes], *, seal: Seal | None = None, now: Callable[[], float] = time.time
    ) -> None:
        """Accept what the owners of `public_keys` signed, and what has the seal; see the class."""
        self._seal = seal
        self._keys = {key_id_of(key): Ed25519PublicKey.from_public_bytes(key) for key in public_keys}
        self._now = now
        self._verified = Kept[tuple[bytes, bytes, str], pb.PermitClaims](_CACHED)

    def verify(self, permit: pb.Permit) -> pb.PermitClaims:
        """The claims of a permit that holds now. They are shared: read, never changed.

        Raises:
            Refusal: PERMIT_REFUSED with a cause: missing, malformed, unknown-key, forged, not-yet-valid, expired, too-long.
        """
        identity = (permit.claims, permit.signature, permit.key_id)
        claims = self._verified.look(identity)
        now = self._now()
        if claims is None:
            claims = self._verified_afresh(permit)
            self._verified.put(identity, claims)
        check_times(claims, now=now)
        return claims

    def _verified_afresh(self, permit: pb.Permit) -> pb.PermitClaims:
        if not permit.claims or not permit.signature:
            raise refused("missing", "the request has no permit")
        if len(permit.claims) > _MAX_CLAIMS_BYTES:
            raise refused("malformed", f"the permit's claims are over {_MAX_CLAIMS_BYTES} bytes")
        key = self._keys.get(permit.key_id)
        seal = self._seal if permit.key_id == _SEALED else None
        if key is None and seal is None:
            raise refused("unknown-key", "the permit was signed with a key that is not the catalog's")
        try:
            if key is not None:
                key.verify(permit.signature, _DOMAIN + permit.claims)
            elif seal is not None:
                seal.check(permit.claims, permit.signature)
            return pb.PermitClaims.FromString(permit.claims)
        except InvalidSignature as error:
            raise refused("forged", "the permit's signature is not of these claims") from error
        except DecodeError as error:
            raise refused("malformed", "the permit's claims can't be read") from error


def check_times(claims: pb.PermitClaims, *, now: float) -> None:
    """Refuse claims whose time is not now, or is longer than a permit's may be.

    Raises:
        Refusal: PERMIT_REFUSED.
    """
    issued, expires = _seconds(claims.issued_at), _seconds(claims.expires_at)
    if expires - issued > LIFETIME_SECONDS:
        raise refused("too-long", f"the permit is good for longer than {LIFETIME_SECONDS:.0f} s")
    if issued > now + _LEEWAY:
        raise refused("not-yet-valid", "the permit is from the future; compare the two clocks")
    if now >= expires:
        raise refused("expired", "the permit is expired; load again, or compare the two clocks")


def refused(cause: str, message: str) -> Refusal:
    """The refusal of a permit, or of what lies outside of it."""
    return Refusal(Reason.REASON_PERMIT_REFUSED, message, cause=cause)


def _seconds(moment: Timestamp) -> float:
    return moment.seconds + moment.nanos / 1e9
