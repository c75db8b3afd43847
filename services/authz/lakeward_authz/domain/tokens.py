"""A token as it arrives, and what it says of itself before anybody verified a word of it."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from typing import Final

from lakeward_authz.domain.algorithms import ALGORITHMS
from lakeward_authz.domain.claims import Claims, refused, texts_of
from lakeward_servicekit.errors import Reason, Refusal

MAX_CHARACTERS: Final = 16 * 1024
_SCHEME: Final = "bearer"
_PARTS: Final = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Unverified:
    """A token that was taken apart; nothing that it says is true yet.

    Attributes:
        text: the token. A secret.
        algorithm: one that counts.
        kid: the name of its key; "" where it names none.
        issuer: who says to have made it.
        claims: who verified the token may believe these, as far as the signature is over `text`.
    """

    text: str = dataclasses.field(repr=False)
    algorithm: str
    kid: str
    issuer: str
    claims: Claims

    @property
    def audiences(self) -> tuple[str, ...]:
        """For whom it says to be."""
        return texts_of(self.claims.get("aud"))


def bearer_of(authorization: str) -> str:
    """The token of an `Authorization` value.

    Raises:
        Refusal: TOKEN_MISSING where there is none, or another scheme's; TOKEN_REFUSED for one that is too long.
    """
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    if scheme.lower() != _SCHEME or not token:
        raise Refusal(
            Reason.REASON_TOKEN_MISSING,
            "this server needs to know who calls; send the header Authorization: Bearer <token>",
        )
    if len(token) > MAX_CHARACTERS:
        raise refused("too long", f"it has {len(token)} characters; at most {MAX_CHARACTERS} are read")
    return token


def read(token: str) -> Unverified:
    """Take a token apart.

    Args:
        token: at most `MAX_CHARACTERS`.

    Raises:
        Refusal: TOKEN_REFUSED, for what is no JWT, is signed in a way that does not count, or names no issuer.
    """
    parts = token.split(".")
    if len(parts) != _PARTS:
        raise refused("malformed", "it is no JWT; opaque tokens are not accepted")
    header, claims = _object(parts[0]), _object(parts[1])
    algorithm, kid, issuer = header.get("alg"), header.get("kid", ""), claims.get("iss")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise refused("algorithm", f"its algorithm {str(algorithm)[:20]!r} is none of {', '.join(sorted(ALGORITHMS))}")
    if header.get("crit"):
        raise refused("malformed", "its header demands extensions that are not understood here")
    if not isinstance(kid, str):
        raise refused("malformed", "the name of its key (kid) is no text")
    if not isinstance(issuer, str):
        raise refused("issuer", "it names no issuer")
    return Unverified(token, algorithm, kid, issuer, claims)


def _object(part: str) -> Claims:
    try:
        # Deep nesting overflows the parser's stack, and long numbers its integers.
        found = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, OverflowError, RecursionError) as error:
        raise refused("malformed", "it is no JWT; opaque tokens are not accepted") from error
    if not isinstance(found, dict):
        raise refused("malformed", "it is no JWT: a part of it is no JSON object")
    return found
