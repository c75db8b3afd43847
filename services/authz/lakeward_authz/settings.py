"""What authz is told at start."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend, OpenFgaSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, level, setting, variable_of
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.server import IdempotencySettings, PageSettings, ServerSettings

_FIRST_PROVIDER: Final = "oidc"
_TAKEN: Final = frozenset({_FIRST_PROVIDER, "kubernetes"})
_AUTHZ: Final = frozenset({Service.AUTHZ})
# Callers are told whose tokens are taken.
# Where OpenFGA serves gRPC by its defaults, and where upstream's examples have it.
_GRPC_PORTS: Final = frozenset({8081, 35081})
_NO_USERINFO: Final = "holds a user or password, which callers would be told; what a provider publishes is read without"


class OpenIdProvider(Settings, read_by=_AUTHZ):
    """One identity provider beside the first one."""

    uri: str | None = setting("OPENID_PROVIDERS__<ID>__URI", kinds.HTTP_URL, None, "Issuer of a further provider.")
    audience: tuple[str, ...] | None = setting("OPENID_PROVIDERS__<ID>__AUDIENCE", kinds.LIST, None, "Its audiences.")
    additional_issuers: tuple[str, ...] | None = setting(
        "OPENID_PROVIDERS__<ID>__ADDITIONAL_ISSUERS", kinds.LIST, None, "Its further issuers."
    )
    scope: str | None = setting("OPENID_PROVIDERS__<ID>__SCOPE", kinds.TEXT, None, "Its required scope.")
    subject_claims: tuple[str, ...] = setting(
        "OPENID_PROVIDERS__<ID>__SUBJECT_CLAIMS", kinds.LIST, "oid,sub", "Its claims that name the user."
    )
    roles_claim: str | None = setting(
        "OPENID_PROVIDERS__<ID>__ROLES_CLAIM", kinds.TEXT, None, "Its claim that holds roles; see OPENID_ROLES_CLAIM."
    )
    display_name_template: str | None = setting(
        "OPENID_PROVIDERS__<ID>__DISPLAY_NAME_TEMPLATE", kinds.TEXT, None, "Its display names."
    )
    clock_leeway: timedelta = setting(
        "OPENID_PROVIDERS__<ID>__CLOCK_LEEWAY",
        kinds.DURATION,
        "60s",
        "How far this clock and the provider's may differ.",
        family=Family.OURS,
    )
    require_connected_on_startup: bool = setting(
        "OPENID_PROVIDERS__<ID>__REQUIRE_CONNECTED_ON_STARTUP",
        kinds.BOOLEAN,
        "true",
        "Whether the start waits for it; if false it joins once it can be reached.",
    )


class AuthenticationSettings(Settings, read_by=_AUTHZ):
    """Who may prove who they are. With none at all, endpoints are open: `enabled` is false."""

    openid_provider_uri: str | None = setting(
        "OPENID_PROVIDER_URI", kinds.HTTP_URL, None, "Issuer whose tokens are accepted, as provider `oidc`."
    )
    openid_audience: tuple[str, ...] | None = setting(
        "OPENID_AUDIENCE", kinds.LIST, None, "Audiences of which a token needs one; unset, any audience will do."
    )
    openid_additional_issuers: tuple[str, ...] | None = setting(
        "OPENID_ADDITIONAL_ISSUERS", kinds.LIST, None, "Further `iss` values the provider's tokens may have."
    )
    openid_scope: str | None = setting("OPENID_SCOPE", kinds.TEXT, None, "Scope that a token must have.")
    openid_subject_claims: tuple[str, ...] = setting(
        "OPENID_SUBJECT_CLAIM", kinds.LIST, "oid,sub", "Claims that name the user; the first one present counts."
    )
    openid_roles_claim: str | None = setting(
        "OPENID_ROLES_CLAIM",
        kinds.TEXT,
        None,
        "Dotted path of the claim that names roles; those that are bound to one of the names count.",
    )
    openid_display_name_template: str | None = setting(
        "OPENID_DISPLAY_NAME_TEMPLATE",
        kinds.TEXT,
        None,
        "A user's display name from `{claim.path}` placeholders.",
    )
    openid_clock_leeway: timedelta = setting(
        "OPENID_CLOCK_LEEWAY",
        kinds.DURATION,
        "60s",
        "How far this clock and that of the provider `oidc` may differ.",
        family=Family.OURS,
    )
    further_providers: Mapping[str, OpenIdProvider] = level("OPENID_PROVIDERS__<ID>", OpenIdProvider)
    kubernetes: bool = setting(
        "ENABLE_KUBERNETES_AUTHENTICATION",
        kinds.BOOLEAN,
        "false",
        "Whether service account tokens are reviewed, as provider `kubernetes`.",
    )
    kubernetes_audience: tuple[str, ...] | None = setting(
        "KUBERNETES_AUTHENTICATION_AUDIENCE",
        kinds.LIST,
        None,
        "Audiences of which one is needed; unset, every token that no provider before it takes is reviewed.",
    )
    kubernetes_accept_legacy: bool = setting(
        "KUBERNETES_AUTHENTICATION_ACCEPT_LEGACY_SERVICEACCOUNT",
        kinds.BOOLEAN,
        "false",
        "Whether the issuers of old service account tokens count as well.",
    )
    kubernetes_subject_source: str = setting(
        "KUBERNETES_AUTHENTICATION_SUBJECT_SOURCE",
        kinds.word("uid", "username"),
        "uid",
        "What names the user; a name is the same in every cluster.",
    )
    kubernetes_api_server: str | None = setting(
        "KUBERNETES__API_SERVER",
        kinds.url("https"),
        None,
        "Where service account tokens are reviewed; unset, the cluster that this process runs in.",
        family=Family.OURS,
    )
    kubernetes_ca_file: Path | None = setting(
        "KUBERNETES__CA_FILE",
        kinds.PATH,
        None,
        "PEM that the API server's certificate is verified with; unset, the pod's own.",
        family=Family.OURS,
    )
    kubernetes_token_file: Path | None = setting(
        "KUBERNETES__TOKEN_FILE",
        kinds.PATH,
        None,
        "Token that this process reviews with, read again as it changes; unset, the pod's own.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        wrong = [problem for key, provider in self.further_providers.items() for problem in _wrong(key, provider)]
        if self.openid_provider_uri is not None and "@" in urlsplit(self.openid_provider_uri).netloc:
            wrong.append(("OPENID_PROVIDER_URI", _NO_USERINFO))
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
            require_connected_on_startup=True,
        )
        leading = {} if self.openid_provider_uri is None else {_FIRST_PROVIDER: first}
        return leading | dict(sorted(self.further_providers.items()))


class RoleSettings(Settings, read_by=_AUTHZ):
    """Roles within roles."""

    max_nesting_depth: int | None = setting(
        "ROLE__MAX_NESTING_DEPTH",
        kinds.COUNT,
        None,
        "Longest chain of roles within roles; unset, any. OpenFGA resolves 25 steps unless it is told otherwise.",
    )


class AuthzEndpoint(Settings, read_by={Service.AUTHZ, Service.CLI}):
    """Authz's own listener."""

    listen: str = setting(
        "AUTHZ__LISTEN", kinds.ENDPOINT, "127.0.0.1:8192", "Where authz serves gRPC.", family=Family.OURS
    )


@dataclasses.dataclass(frozen=True, slots=True)
class DecidingSettings:
    """Who decides, and where it is."""

    authorization: AuthorizationSettings
    openfga: OpenFgaSettings

    def __post_init__(self) -> None:
        if self.authorization.backend is not AuthzBackend.OPENFGA:
            return
        wrong = _wrong_endpoint(self.openfga.endpoint)
        if wrong:
            raise Contradiction(("OPENFGA__ENDPOINT", wrong))


@dataclasses.dataclass(frozen=True, slots=True)
class AuthzSettings:
    """Everything that authz reads."""

    server: ServerSettings
    pages: PageSettings
    idempotency: IdempotencySettings
    roles: RoleSettings
    postgres: PostgresSettings
    authentication: AuthenticationSettings
    deciding: DecidingSettings

    def __post_init__(self) -> None:
        backend = self.authorization.backend
        if backend != AuthzBackend.ALLOW_ALL and not self.authentication.enabled:
            # Upstream starts so, and then denies everything to everybody, bootstrap included.
            cures = (
                f"{variable_of('OPENID_PROVIDER_URI')}, or {variable_of('ENABLE_KUBERNETES_AUTHENTICATION')} to true"
            )
            why = f"is {str(backend)!r}, which decides by who calls, and nobody is asked who they are; set {cures}"
            raise Contradiction(("AUTHZ_BACKEND", why))

    @property
    def authorization(self) -> AuthorizationSettings:
        """Who decides."""
        return self.deciding.authorization


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts authz alone."""

    joints: Joints
    endpoint: AuthzEndpoint
    service: AuthzSettings


def _wrong(key: str, provider: OpenIdProvider) -> list[tuple[str, str]]:
    name = f"OPENID_PROVIDERS__{key.upper()}__URI"
    wrong: list[tuple[str, str]] = []
    if key in _TAKEN:
        wrong.append((name, f"uses the id {key!r}, which is taken; use another id"))
    if not all(character.isascii() and (character.isalnum() or character == "-") for character in key):
        wrong.append((name, f"uses the id {key!r}; an id has letters, digits and '-' alone"))
    if provider.uri is None:
        wrong.append((name, "is missing: the issuer of this provider"))
    elif "@" in urlsplit(provider.uri).netloc:
        wrong.append((name, _NO_USERINFO))
    return wrong


def _wrong_endpoint(endpoint: str | None) -> str:
    """What is wrong with where OpenFGA is said to be; "" for nothing. Upstream's setting names the gRPC API."""
    cure = "name its HTTP API, as in http://openfga.example.org:8080"
    if endpoint is None:
        return f"is missing: the OpenFGA server that decides; {cure}"
    parts = urlsplit(endpoint)
    if parts.scheme.startswith("grpc"):
        return f"is an address for gRPC ({parts.scheme}), by which this release does not ask OpenFGA; {cure}"
    if parts.port in _GRPC_PORTS:
        return f"names port {parts.port}, where OpenFGA serves gRPC, by which this release does not ask it; {cure}"
    return ""
