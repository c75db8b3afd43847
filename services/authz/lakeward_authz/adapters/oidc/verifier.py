"""Finds the provider that owns a token, and verifies the token by that provider's keys and rules."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from lakeward_authz.adapters.oidc.provider import Provider
from lakeward_authz.adapters.oidc.signing_keys import ALGORITHMS
from lakeward_authz.application.identifying import Identification
from lakeward_authz.application.users import Clock
from lakeward_authz.domain.claims import Claims, at_path, check_scope, check_times, refused, subject_of, texts_of
from lakeward_authz.domain.engines import EngineTokens, engines_of
from lakeward_authz.domain.profiles import profile_of
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import Reason, Refusal

MAX_CHARACTERS: Final = 16 * 1024
_SCHEME: Final = "bearer"
# What is checked here or in `domain.claims`, where wrong types and far-off numbers have an answer of their own.
_SIGNATURE_ALONE: Final = {
    "verify_signature": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}
# What reading a hostile token may raise: deep nesting overflows the JSON parser's stack, long numbers its integers.
_UNREADABLE: Final = (jwt.PyJWTError, ValueError, OverflowError, RecursionError)


@dataclasses.dataclass(frozen=True, slots=True)
class _Unverified:
    """What a token says of itself; nothing here is true yet.

    Attributes:
        claims: never used once the signature holds: the verified ones are read again.
    """

    kid: str
    algorithm: str
    claims: Claims


class OidcAuthenticator:
    """The `Authenticator` over OpenID providers: the first whose issuers and audiences fit a token has the only say.

    Args:
        providers: in the order in which they are asked.
        engines: tokens that are trusted engines'.
        clock: tells whether a token has begun and not ended.
    """

    def __init__(self, providers: Sequence[Provider], *, engines: Sequence[EngineTokens], clock: Clock) -> None:
        """Verify by `providers`; see the class."""
        self._providers = tuple(providers)
        self._engines = tuple(engines)
        self._clock = clock
        # Sorted throughout: replicas with one configuration must name one revision.
        described = [dataclasses.asdict(provider.rules) for provider in self._providers]
        described += [dataclasses.asdict(engine) for engine in self._engines]
        self._configuration = json.dumps(described, default=sorted, sort_keys=True)

    async def identify(self, authorization: str) -> Identification:
        """See `Authenticator`."""
        token = bearer_of(authorization)
        unverified = _read(token)
        provider = self._owner(unverified.claims)
        key = await provider.key(unverified.kid)
        if unverified.algorithm not in key.algorithms:
            raise refused("algorithm", f"its key does not sign with {unverified.algorithm}")
        revision = self._revision()
        try:
            claims = jwt.decode(token, key.key, algorithms=[unverified.algorithm], options=_SIGNATURE_ALONE)  # type: ignore[arg-type]
        except _UNREADABLE as error:
            raise refused("signature", "its signature does not hold") from error
        return self._identification(provider, claims, revision)

    def _identification(self, provider: Provider, claims: Claims, revision: str) -> Identification:
        rules = provider.rules
        audiences = texts_of(claims.get("aud"))
        if claims.get("iss") not in (provider.issuers or ()) or not rules.takes_audience(audiences):
            # The keys were read again meanwhile, and the provider names another issuer now.
            raise refused("issuer", "its issuer is no longer the provider's")
        expires_at = check_times(claims, now=self._clock.now())
        check_scope(claims, rules.scope)
        subject = subject_of(claims, rules.subject_claims)
        engines = engines_of(self._engines, provider=rules.id, subject=subject, audiences=audiences)
        return Identification(
            principal=Principal(PrincipalKind.USER, user_id_of(rules.id, subject), engines=engines),
            profile=profile_of(claims, rules.display_template),
            roles=() if rules.roles_claim is None else texts_of(at_path(claims, rules.roles_claim)),
            expires_at=expires_at,
            revision=revision,
        )

    def _owner(self, claims: Claims) -> Provider:
        issuer, audiences = claims.get("iss"), texts_of(claims.get("aud"))
        if not isinstance(issuer, str):
            raise refused("issuer", "it names no issuer")
        away: Provider | None = None
        fits_issuer = False
        for provider in self._providers:
            issuers = provider.issuers
            takes = provider.rules.takes_audience(audiences)
            if issuers is None:
                if takes and issuer in provider.rules.likely_issuers:
                    raise provider.unavailable()
                away = away or (provider if takes else None)
            elif issuer in issuers:
                fits_issuer = True
                if takes:
                    return provider
        if fits_issuer:
            expected = sorted({a for provider in self._providers for a in provider.rules.audiences or ()})
            raise refused(
                "audience", f"it is not for this server; ask for one with the audience {' or '.join(expected)}"
            )
        if away is not None:
            # A provider that was never reached may use this issuer: that it does not is not known.
            raise away.unavailable()
        raise refused("issuer", f"its issuer {issuer[:200]!r} is not one that this server trusts")

    def _revision(self) -> str:
        state = "\n".join([self._configuration, *(provider.fingerprint for provider in self._providers)])
        return f"oidc-{hashlib.sha256(state.encode()).hexdigest()[:16]}"


def bearer_of(authorization: str) -> str:
    """The token of an `Authorization` value.

    Raises:
        Refusal: TOKEN_MISSING, TOKEN_REFUSED for one that is too long.
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


def _read(token: str) -> _Unverified:
    try:
        decoded: Mapping[str, Any] = jwt.decode_complete(token, options={"verify_signature": False})
    except _UNREADABLE as error:
        raise refused("malformed", "it is no JWT; opaque tokens are not accepted") from error
    header = decoded["header"]
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise refused("algorithm", f"its algorithm {str(algorithm)[:20]!r} is none of {', '.join(sorted(ALGORITHMS))}")
    if header.get("crit"):
        raise refused("malformed", "its header demands extensions that are not understood here")
    if not isinstance(kid, str) or not kid:
        raise refused("key", "its header names no key (kid)")
    return _Unverified(kid, algorithm, decoded["payload"])
