"""Whose tokens are reviewed, and whom they name."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from lakeward_authz.adapters.kubernetes.reviews import ClusterUnreachable, Review, Reviewed
from lakeward_authz.application.identifying import Fit, Identification
from lakeward_authz.domain.claims import check_times, refused
from lakeward_authz.domain.engines import EngineTokens, engines_of
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.tokens import Unverified
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock

_log = logging.getLogger(__name__)

PROVIDER: Final = "kubernetes"
# Of the tokens that were kept in Secrets before Kubernetes 1.24, and of clusters that never chose an issuer.
LEGACY_ISSUERS: Final = frozenset({"kubernetes/serviceaccount", "https://kubernetes.default.svc.cluster.local"})
_LEEWAY: Final = timedelta(seconds=60)


class SubjectSource(enum.StrEnum):
    """What names a service account in user ids."""

    # Another one in each cluster, and after the account was made again.
    UID = "uid"
    # The same in every cluster.
    USERNAME = "username"


@dataclasses.dataclass(frozen=True, slots=True)
class KubernetesRules:
    """Which tokens are reviewed, and how they are read.

    Attributes:
        audiences: of which a token needs one; None: the audience is not looked at here.
        issuers: whose tokens are taken; None: those of every issuer.
        subject_source: what names the user.
    """

    audiences: frozenset[str] | None
    issuers: frozenset[str] | None
    subject_source: SubjectSource


class KubernetesVerifier:
    """An `IdentityProvider` that asks the cluster's API server.

    Args:
        rules: which tokens it takes.
        review: asks about one.
        engines: tokens that are trusted engines'.
        clock: tells whether a token has ended, so that nobody need be asked.
    """

    def __init__(
        self, rules: KubernetesRules, review: Review, *, engines: Sequence[EngineTokens], clock: Clock
    ) -> None:
        """Ask by `review`; see the class."""
        self._rules = rules
        self._review = review
        self._engines = tuple(engines)
        self._clock = clock
        described = (
            sorted(rules.audiences or ()),
            sorted(rules.issuers or ()),
            rules.subject_source.value,
            [(e.engine, e.provider, sorted(e.audiences), sorted(e.subjects)) for e in self._engines],
        )
        self._configuration = hashlib.sha256(repr(described).encode()).hexdigest()

    @property
    def trusts(self) -> str:
        """See `IdentityProvider`."""
        rules = self._rules
        if rules.issuers is not None:
            return " or ".join(sorted(rules.issuers))
        audience = "" if rules.audiences is None else f" (audience {' or '.join(sorted(rules.audiences))})"
        return f"service accounts of the Kubernetes cluster{audience}"

    @property
    def fingerprint(self) -> str:
        """See `IdentityProvider`."""
        return f"kubernetes {self._configuration}"

    def fit(self, token: Unverified) -> Fit:
        """See `IdentityProvider`."""
        rules = self._rules
        if rules.issuers is not None and token.issuer not in rules.issuers:
            return Fit.ANOTHERS
        if rules.audiences is not None and rules.audiences.isdisjoint(token.audiences):
            return Fit.ANOTHERS
        return Fit.ITS_OWN

    async def identify(self, token: Unverified) -> Identification:
        """See `IdentityProvider`."""
        # Tokens that were kept in Secrets have no end. Of one that has, the end is true once the review says that it holds.
        ends = None
        if "exp" in token.claims:
            ends = check_times(token.claims, now=self._clock.now(), leeway=_LEEWAY)
        try:
            reviewed = await self._review(token.text)
        except ClusterUnreachable as error:
            _log.warning("the Kubernetes API server can't be asked about tokens", extra={"why": str(error)})
            raise self.unavailable() from error
        rules = self._rules
        if not reviewed.authenticated:
            raise refused(
                "review",
                "the Kubernetes API server does not accept it: it is not authentic, has ended, is for another audience, or its "
                "service account or pod is gone",
            )
        if rules.audiences is not None and rules.audiences.isdisjoint(reviewed.audiences):
            raise refused(
                "audience",
                f"it is not for this server; ask for one with the audience {' or '.join(sorted(rules.audiences))}",
            )
        subject = self._subject(reviewed)
        audiences = reviewed.audiences or token.audiences
        engines = engines_of(self._engines, provider=PROVIDER, subject=subject, audiences=audiences)
        return Identification(
            principal=Principal(PrincipalKind.USER, user_id_of(PROVIDER, subject), engines=engines),
            profile=Profile(reviewed.username or None, None, UserKind.APPLICATION),
            expires_at=ends,
            revision="",
        )

    def unavailable(self) -> Refusal:
        """See `IdentityProvider`."""
        return Refusal(
            Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE,
            "the Kubernetes API server can't be asked about tokens, so service accounts can't be known; retry later",
            provider=PROVIDER,
        )

    def _subject(self, reviewed: Reviewed) -> str:
        return reviewed.uid if self._rules.subject_source is SubjectSource.UID else reviewed.username
