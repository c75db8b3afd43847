"""How a service proves to another which service it is: a signed token in the call's metadata, or its certificate's name.

A token is an EdDSA JWT: `iss` the calling service, `aud` the one that is called, at most five minutes old. It says nothing of
the user, whose own token travels beside it. Import this where proofs are configured: it loads the cryptography library.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept

METADATA_KEY: Final = "x-lakeward-workload"
LIFETIME_SECONDS: Final = 300.0
# A token is minted anew this long before its end, so that one never expires on its way.
_RENEWED_BEFORE: Final = 60.0
_LEEWAY: Final = 10.0
_MAX_TOKEN_CHARACTERS: Final = 2048
_CACHED: Final = 1024
_ALGORITHM: Final = "EdDSA"

SERVICES: Final[Mapping[str, options_pb2.Caller.ValueType]] = MappingProxyType(
    {
        "catalog": options_pb2.CALLER_CATALOG,
        "authz": options_pb2.CALLER_AUTHZ,
        "vending": options_pb2.CALLER_VENDING,
        "gateway": options_pb2.CALLER_GATEWAY,
    }
)


def private_key_of(text: str) -> Ed25519PrivateKey:
    """The key of a setting: PEM, or 32 bytes in base64 of either alphabet.

    Raises:
        ValueError: neither, or a key of another algorithm; says nothing of the key.
    """
    stripped = text.strip()
    if not stripped.startswith("-----BEGIN"):
        standard = stripped.replace("-", "+").replace("_", "/")
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(standard + "=" * (-len(standard) % 4)))
    key = load_pem_private_key(stripped.encode(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("the workload key is not an Ed25519 key; make one with `openssl genpkey -algorithm ed25519`")  # noqa: TRY004 - the text's value is wrong
    return key


class WorkloadIdentity:
    """One service's proofs towards others; safe to share.

    Args:
        service: the calling service, as "catalog".
        private_key: what its peers know the public half of.
        now: seconds since the epoch.
    """

    __slots__ = ("_minted", "_now", "_private_key", "_service")

    def __init__(self, service: str, private_key: Ed25519PrivateKey, *, now: Callable[[], float] = time.time) -> None:
        """Prove to be `service`; see the class."""
        if service not in SERVICES:
            raise ValueError(f"{service!r} is not a service; there are {', '.join(SERVICES)}")
        self._service = service
        self._private_key = private_key
        self._now = now
        self._minted: dict[str, tuple[str, float]] = {}

    def token_for(self, peer: str) -> str:
        """A token for calls to `peer`; signing is done once in minutes, not once a call."""
        now = self._now()
        minted = self._minted.get(peer)
        if minted is not None and now < minted[1]:
            return minted[0]
        claims = {"iss": self._service, "aud": peer, "iat": int(now), "exp": int(now + LIFETIME_SECONDS)}
        token = jwt.encode(claims, self._private_key, algorithm=_ALGORITHM)
        self._minted[peer] = (token, now + LIFETIME_SECONDS - _RENEWED_BEFORE)
        return token


class WorkloadVerifier:
    """Which service a call comes from; what `lakeward_servicekit.rpc.Host.serve` takes as `workloads`.

    Args:
        service: the service that is called: tokens made for another are refused.
        peer_keys: Ed25519 public keys, 32 bytes each, by calling service.
        now: seconds since the epoch.
    """

    __slots__ = ("_keys", "_now", "_service", "_verified")

    def __init__(self, service: str, peer_keys: Mapping[str, bytes], *, now: Callable[[], float] = time.time) -> None:
        """Accept the proofs of `peer_keys`; see the class."""
        if unknown := sorted(peer_keys.keys() - SERVICES.keys()):
            raise ValueError(f"{', '.join(unknown)}: not a service; there are {', '.join(SERVICES)}")
        self._service = service
        self._keys = {peer: Ed25519PublicKey.from_public_bytes(key) for peer, key in peer_keys.items()}
        self._now = now
        self._verified = Kept[bytes, tuple[options_pb2.Caller.ValueType, float]](_CACHED)

    def caller_of(self, metadata: Mapping[str, str], peer_names: Iterable[str]) -> options_pb2.Caller.ValueType:
        """The service that proved itself; CALLER_USER where none tried.

        Args:
            metadata: the call's, by lower-case key.
            peer_names: subject alternative names of a client certificate that the listener verified.

        Raises:
            Refusal: WORKLOAD_REFUSED, for a token that does not hold, or two proofs that contradict each other.
        """
        named = caller_of_names(peer_names)
        token = metadata.get(METADATA_KEY)
        if token is None:
            return options_pb2.CALLER_USER if named is None else named
        proven = self._verify(token)
        if named is not None and named != proven:
            raise _refused("its token and its certificate name two services")
        return proven

    def _verify(self, token: str) -> options_pb2.Caller.ValueType:
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise _refused(f"its token is longer than {_MAX_TOKEN_CHARACTERS} characters")
        now = self._now()
        digest = hashlib.sha256(token.encode()).digest()
        cached = self._verified.look(digest)
        if cached is not None and now < cached[1]:
            return cached[0]
        caller, ends = self._verified_afresh(token, now)
        self._verified.put(digest, (caller, ends))
        return caller

    def _verified_afresh(self, token: str, now: float) -> tuple[options_pb2.Caller.ValueType, float]:
        try:
            issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
            key = self._keys.get(issuer) if isinstance(issuer, str) else None
            if key is None:
                raise _refused("its token is from no service whose key is configured (LAKEWARD__WORKLOAD__PEERS)")
            claims = jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                audience=self._service,
                # Times are compared below, with our own clock and numbers alone.
                options={"require": ["iss", "aud", "exp", "iat"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise _refused(f"its token does not hold ({type(error).__name__})") from error
        issued, ends = claims["iat"], claims["exp"]
        if not (isinstance(issued, int) and isinstance(ends, int)):
            raise _refused("its token's times are no numbers")
        if now >= ends + _LEEWAY:
            raise _refused("its token is expired; compare the two clocks")
        if issued > now + _LEEWAY:
            raise _refused("its token is from the future; compare the two clocks")
        if ends - issued > LIFETIME_SECONDS:
            raise _refused(f"its token is good for longer than {LIFETIME_SECONDS:.0f} s")
        return SERVICES[str(claims["iss"])], ends + _LEEWAY


def caller_of_names(names: Iterable[str]) -> options_pb2.Caller.ValueType | None:
    """The service that a verified client certificate names: DNS name "catalog", or URI "spiffe://.../catalog".

    The authority that signs clients' certificates vouches for these names, so it must be one that signs for Lakeward alone.

    Returns:
        None where the certificate names no service: whoever presents it, as a proxy does, calls for users.

    Raises:
        Refusal: WORKLOAD_REFUSED, where it names two.
    """
    found = {service for name in names if (service := _service_of(name)) is not None}
    if len(found) > 1:
        raise _refused(f"its certificate names {' and '.join(sorted(found))}; it must name one")
    return SERVICES[found.pop()] if found else None


def _service_of(name: str) -> str | None:
    if name in SERVICES:
        return name
    if not name.startswith("spiffe://"):
        return None
    last = urlsplit(name).path.rpartition("/")[2]
    return last if last in SERVICES else None


def _refused(why: str) -> Refusal:
    # No method is named: the proof fails before the method is looked at.
    return Refusal(Reason.REASON_WORKLOAD_REFUSED, f"the calling service did not prove who it is: {why}", method="*")
