"""From a published key set to keys that verify, each with the algorithms that it may be used with."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.types import JWKDict

from lakeward_authz.domain import algorithms

_log = logging.getLogger(__name__)

_MIN_RSA_BITS: Final = 2048
# Verifying costs the square of the length, and everybody's tokens wait for it.
_MAX_RSA_BITS: Final = 16_384
_MAX_KID: Final = 1024
_MAX_KEYS: Final = 256


@dataclasses.dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key.

    Attributes:
        kid: its name.
        key: as the cryptography library holds it.
        algorithms: what it may verify.
        thumbprint: changes when the key does; not a secret.
    """

    kid: str
    key: Any
    algorithms: tuple[str, ...]
    thumbprint: str


def signing_keys(document: object) -> Mapping[str, SigningKey]:
    """The usable keys of a JWK set by `kid`; others are left out, and logged by name.

    Raises:
        ValueError: it is no key set, or nothing in it can be used.
    """
    listed = document.get("keys") if isinstance(document, Mapping) else None
    found: dict[str, SigningKey] = {}
    for jwk in listed[:_MAX_KEYS] if isinstance(listed, list) else ():
        if isinstance(jwk, dict) and (key := _usable(jwk)) is not None:
            found.setdefault(key.kid, key)
    if not found:
        raise ValueError(
            "its key set has no key that can be used; it needs `keys` with one for RSA, EC or Ed25519 that has a `kid`"
        )
    return found


def _usable(jwk: JWKDict) -> SigningKey | None:
    kid = jwk.get("kid")
    allowed = _algorithms(jwk)
    # A set that publishes private or symmetric keys publishes no proof of anything.
    if (
        not isinstance(kid, str)
        or not 0 < len(kid) <= _MAX_KID
        or not allowed
        or "d" in jwk
        or jwk.get("use", "sig") != "sig"
    ):
        return None
    try:
        key = jwt.PyJWK(jwk, algorithm=allowed[0]).key
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        # The error's text may hold the key, so only its type is told.
        _log.warning("a published key can't be used", extra={"kid": kid[:100], "error": type(error).__name__})
        return None
    if isinstance(key, RSAPublicKey) and not _MIN_RSA_BITS <= key.key_size <= _MAX_RSA_BITS:
        _log.warning(
            "a published key is too short or too long to be used", extra={"kid": kid[:100], "bits": key.key_size}
        )
        return None
    return SigningKey(
        kid, key, allowed, "|".join(str(jwk.get(part, "")) for part in ("kid", "kty", "alg", "n", "e", "x", "y"))
    )


def _algorithms(jwk: JWKDict) -> tuple[str, ...]:
    match jwk.get("kty"):
        case "RSA":
            possible: tuple[str, ...] = algorithms.RSA
        case "EC":
            possible = algorithms.EC.get(str(jwk.get("crv")), ())
        case "OKP":
            possible = algorithms.OKP.get(str(jwk.get("crv")), ())
        case _:
            possible = ()
    named = jwk.get("alg")
    # Some providers name no algorithm; then the token's header does, within what suits the key.
    return possible if named is None else tuple(name for name in possible if name == named)
