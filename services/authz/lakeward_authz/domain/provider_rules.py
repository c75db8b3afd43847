"""What one identity provider's tokens must be, and how they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from datetime import timedelta

from lakeward_authz.domain.display_template import DisplayTemplate


@dataclasses.dataclass(frozen=True, slots=True)
class ProviderRules:
    """The configuration of one provider.

    Attributes:
        id: as in user ids, "oidc".
        uri: below which its discovery document lies.
        audiences: any of these must be among the token's; None: the audience is not looked at.
        additional_issuers: accepted beside the issuer that the provider names.
        scope: a word that the claim `scope` must have; None: any.
        subject_claims: the first that is text is the subject.
        roles_claim: dotted path to the names of the user's roles; None: tokens have no roles.
        display_template: None: names come from the usual claims alone.
        leeway: how far its clock and ours may differ.
        required_at_start: whether the service stays down when the provider is.
    """

    id: str
    uri: str
    audiences: frozenset[str] | None
    additional_issuers: frozenset[str]
    scope: str | None
    subject_claims: tuple[str, ...]
    roles_claim: str | None
    display_template: DisplayTemplate | None
    leeway: timedelta
    required_at_start: bool

    def takes_audience(self, audiences: Collection[str]) -> bool:
        """Whether a token for these audiences may be for us."""
        return self.audiences is None or not self.audiences.isdisjoint(audiences)

    @property
    def likely_issuers(self) -> frozenset[str]:
        """The issuers of its tokens as far as is known before the provider was reached."""
        base = self.uri.removesuffix("/.well-known/openid-configuration").rstrip("/")
        return self.additional_issuers | {base, base + "/"}
