"""Who may prove who they are, and how."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Self

from pydantic import model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, level, named

_FIRST_PROVIDER = "oidc"
_TAKEN = frozenset({_FIRST_PROVIDER, "kubernetes"})


class OpenIdProvider(Settings):
    """One identity provider beside the first one."""

    uri: str | None = named("OPENID_PROVIDERS__<ID>__URI")
    audience: tuple[str, ...] | None = named("OPENID_PROVIDERS__<ID>__AUDIENCE")
    additional_issuers: tuple[str, ...] | None = named("OPENID_PROVIDERS__<ID>__ADDITIONAL_ISSUERS")
    scope: str | None = named("OPENID_PROVIDERS__<ID>__SCOPE")
    subject_claims: tuple[str, ...] = named("OPENID_PROVIDERS__<ID>__SUBJECT_CLAIMS")
    roles_claim: str | None = named("OPENID_PROVIDERS__<ID>__ROLES_CLAIM")
    display_name_template: str | None = named("OPENID_PROVIDERS__<ID>__DISPLAY_NAME_TEMPLATE")
    clock_leeway: timedelta = named("OPENID_PROVIDERS__<ID>__CLOCK_LEEWAY")
    require_connected_on_startup: bool = named("OPENID_PROVIDERS__<ID>__REQUIRE_CONNECTED_ON_STARTUP")


class AuthenticationSettings(Settings):
    """Who may prove who they are. With none at all, endpoints are open: `enabled` is false."""

    openid_provider_uri: str | None = named("OPENID_PROVIDER_URI")
    openid_audience: tuple[str, ...] | None = named("OPENID_AUDIENCE")
    openid_additional_issuers: tuple[str, ...] | None = named("OPENID_ADDITIONAL_ISSUERS")
    openid_scope: str | None = named("OPENID_SCOPE")
    openid_subject_claims: tuple[str, ...] = named("OPENID_SUBJECT_CLAIM")
    openid_roles_claim: str | None = named("OPENID_ROLES_CLAIM")
    openid_display_name_template: str | None = named("OPENID_DISPLAY_NAME_TEMPLATE")
    openid_clock_leeway: timedelta = named("OPENID_CLOCK_LEEWAY")
    further_providers: Mapping[str, OpenIdProvider] = level("OPENID_PROVIDERS__<ID>", OpenIdProvider)
    kubernetes: bool = named("ENABLE_KUBERNETES_AUTHENTICATION")
    kubernetes_audience: tuple[str, ...] | None = named("KUBERNETES_AUTHENTICATION_AUDIENCE")
    kubernetes_accept_legacy: bool = named("KUBERNETES_AUTHENTICATION_ACCEPT_LEGACY_SERVICEACCOUNT")
    kubernetes_subject_source: str = named("KUBERNETES_AUTHENTICATION_SUBJECT_SOURCE")
    kubernetes_api_server: str | None = named("KUBERNETES__API_SERVER")
    kubernetes_ca_file: Path | None = named("KUBERNETES__CA_FILE")
    kubernetes_token_file: Path | None = named("KUBERNETES__TOKEN_FILE")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wrong = [problem for key, provider in self.further_providers.items() for problem in _wrong(key, provider)]
        if self.openid_audience is not None and not self.enabled:
            wrong.append(
                ("OPENID_AUDIENCE", "is set without OPENID_PROVIDER_URI, so nobody would be asked for a token")
            )
        if self.kubernetes_audience is not None and not self.kubernetes:
            # With a warning alone, the endpoints that were meant to be guarded could be open.
            wrong.append(
                ("KUBERNETES_AUTHENTICATION_AUDIENCE", "is set, and ENABLE_KUBERNETES_AUTHENTICATION is not true")
            )
        if self.kubernetes_api_server is not None:
            wrong.extend(
                (name, "is missing; KUBERNETES__API_SERVER needs it, since the pod's own would be another cluster's")
                for name, value in (
                    ("KUBERNETES__CA_FILE", self.kubernetes_ca_file),
                    ("KUBERNETES__TOKEN_FILE", self.kubernetes_token_file),
                )
                if value is None
            )
        if wrong:
            raise Contradiction(*wrong)
        return self

    @property
    def enabled(self) -> bool:
        """Whether callers are asked who they are: any provider is configured, or Kubernetes is."""
        return self.kubernetes or bool(self.providers)

    @property
    def providers(self) -> Mapping[str, OpenIdProvider]:
        """Every OpenID provider by id, in the order they are asked: `oidc`, then the others by id."""
        first = OpenIdProvider(
            uri=self.openid_provider_uri,
            audience=self.openid_audience,
            additional_issuers=self.openid_additional_issuers,
            scope=self.openid_scope,
            subject_claims=self.openid_subject_claims,
            roles_claim=self.openid_roles_claim,
            display_name_template=self.openid_display_name_template,
            clock_leeway=self.openid_clock_leeway,
        )
        leading = {} if self.openid_provider_uri is None else {_FIRST_PROVIDER: first}
        return leading | dict(sorted(self.further_providers.items()))


def _wrong(key: str, provider: OpenIdProvider) -> list[tuple[str, str]]:
    name = f"OPENID_PROVIDERS__{key.upper()}__URI"
    wrong: list[tuple[str, str]] = []
    if key in _TAKEN:
        wrong.append((name, f"uses the id {key!r}, which is taken; use another id"))
    if not all(character.isascii() and (character.isalnum() or character == "-") for character in key):
        wrong.append((name, f"uses the id {key!r}; an id has letters, digits and '-' alone"))
    if provider.uri is None:
        wrong.append((name, "is missing: the issuer of this provider"))
    return wrong
