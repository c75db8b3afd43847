"""Verifies the tokens of one OpenID provider, by that provider's keys and rules."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import Final

import jwt

from lakeward_authz.adapters.oidc.provider import Provider
from lakeward_authz.application.identifying import Fit, Identification
from lakeward_authz.domain.claims import (
    Claims,
    at_path,
    check_scope,
    check_times,
    refused,
    subject_of,
    texts_of,
    token_roles,
)
from lakeward_authz.domain.engines import EngineTokens, engines_of
from lakeward_authz.domain.profiles import profile_of
from lakeward_authz.domain.tokens import Unverified
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.system import Clock

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
# What a hostile token may raise beside what it is meant to.
_UNREADABLE: Final = (jwt.PyJWTError, ValueError, OverflowError, RecursionError)


class OidcVerifier:
    """An `IdentityProvider` that publishes its keys.

    Args:
        provider: its keys and rules.
        engines: tokens that are trusted engines'.
        clock: tells whether a token has begun and not ended.
    """

    def __init__(self, provider: Provider, *, engines: Sequence[EngineTokens], clock: Clock) -> None:
        """Verify by `provider`; see the class."""
        self._provider = provider
        self._engines = tuple(engines)
        self._clock = clock
        # Sorted throughout: replicas with one configuration must have one fingerprint.
        described = [dataclasses.asdict(provider.rules), *(dataclasses.asdict(engine) for engine in self._engines)]
        configuration = json.dumps(described, default=_plain, sort_keys=True)
        self._configuration = hashlib.sha256(configuration.encode()).hexdigest()

    @property
    def trusts(self) -> str:
        """See `IdentityProvider`."""
        rules = self._provider.rules
        issuers = " or ".join(sorted(self._provider.issuers or {rules.uri, *rules.additional_issuers}))
        return issuers if rules.audiences is None else f"{issuers} (audience {' or '.join(sorted(rules.audiences))})"

    @property
    def fingerprint(self) -> str:
        """See `IdentityProvider`."""
        return f"{self._configuration} {self._provider.fingerprint}"

    def fit(self, token: Unverified) -> Fit:
        """See `IdentityProvider`."""
        rules, issuers = self._provider.rules, self._provider.issuers
        takes = rules.takes_audience(token.audiences)
        if issuers is None:
            if not takes:
                return Fit.ANOTHERS
            return Fit.ITS_OWN if token.issuer in rules.likely_issuers else Fit.UNKNOWN
        if token.issuer not in issuers:
            return Fit.ANOTHERS
        return Fit.ITS_OWN if takes else Fit.FOR_OTHERS

    async def identify(self, token: Unverified) -> Identification:
        """See `IdentityProvider`."""
        if not token.kid:
            raise refused("key", "its header names no key (kid)")
        key = await self._provider.key(token.kid)
        if token.algorithm not in key.algorithms:
            raise refused("algorithm", f"its key does not sign with {token.algorithm}")
        try:
            claims = jwt.decode(token.text, key.key, algorithms=[token.algorithm], options=_SIGNATURE_ALONE)  # type: ignore[arg-type]
        except _UNREADABLE as error:
            raise refused("signature", "its signature does not hold") from error
        return self._identification(claims)

    def unavailable(self) -> Refusal:
        """See `IdentityProvider`."""
        return self._provider.unavailable()

    def _identification(self, claims: Claims) -> Identification:
        rules = self._provider.rules
        audiences = texts_of(claims.get("aud"))
        if claims.get("iss") not in (self._provider.issuers or ()) or not rules.takes_audience(audiences):
            # The keys were read again meanwhile, and the provider names another issuer now.
            raise refused("issuer", "its issuer is no longer the provider's")
        expires_at = check_times(claims, now=self._clock.now(), leeway=rules.leeway)
        check_scope(claims, rules.scope)
        subject = subject_of(claims, rules.subject_claims)
        engines = engines_of(self._engines, provider=rules.id, subject=subject, audiences=audiences)
        named = () if rules.roles_claim is None else texts_of(at_path(claims, rules.roles_claim))
        user_id = user_id_of(rules.id, subject)
        return Identification(
            principal=Principal(PrincipalKind.USER, user_id, engines=engines, token_roles=token_roles(rules.id, named)),
            profile=profile_of(claims, rules.display_template),
            expires_at=expires_at,
            revision="",
        )


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)
