"""What authz is told at start."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.audit import AuditSettings
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend, OpenFgaSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.model import Contradiction, Settings, level, setting, variable_of
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.provisioning import SCIM, ScimSettings
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
    projects: tuple[str, ...] | None = setting(
        "OPENID_PROVIDERS__<ID>__PROJECTS",
        kinds.LIST,
        None,
        "Ids of the projects that it is for: its users are nobody elsewhere, and on the server; unset, it is for all.",
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
            projects=None,
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


class LdapSettings(Settings, read_by=_AUTHZ):
    """A directory that roles of a project follow."""

    urls: tuple[str, ...] | None = setting(
        "LDAP__<ID>__URL",
        kinds.LIST,
        None,
        "Servers that hold the directory, as ldaps://ldap.example.org; the first that answers is asked.",
        family=Family.OURS,
    )
    bind_dn: str | None = setting("LDAP__<ID>__BIND_DN", kinds.TEXT, None, "Who asks.", family=Family.OURS)
    bind_password: SecretStr | None = setting(
        "LDAP__<ID>__BIND_PASSWORD", kinds.SECRET, None, "Its password.", family=Family.OURS
    )
    start_tls: bool = setting(
        "LDAP__<ID>__STARTTLS", kinds.BOOLEAN, "false", "Whether ldap:// goes on by TLS.", family=Family.OURS
    )
    allow_insecure: bool = setting(
        "LDAP__<ID>__ALLOW_INSECURE",
        kinds.BOOLEAN,
        "false",
        "Whether ldap:// may go on without TLS, so that everybody on the way reads the password and may answer.",
        family=Family.OURS,
    )
    ca_file: Path | None = setting(
        "LDAP__<ID>__CA_FILE",
        kinds.PATH,
        None,
        "PEM that the servers' certificates are verified with; unset, what the system trusts.",
        family=Family.OURS,
    )
    timeout: timedelta = setting(
        "LDAP__<ID>__TIMEOUT", kinds.DURATION, "30s", "Longest wait for a connection, or an answer.", family=Family.OURS
    )
    interval: timedelta = setting(
        "LDAP__<ID>__INTERVAL", kinds.DURATION, "5m", "Pause between two readings.", family=Family.OURS
    )
    page_size: int = setting(
        "LDAP__<ID>__PAGE_SIZE",
        kinds.integer(minimum=1, maximum=10_000),
        "500",
        "Entries of a page.",
        family=Family.OURS,
    )
    project: str | None = setting(
        "LDAP__<ID>__PROJECT",
        kinds.matching(r"[A-Za-z0-9_-]{1,128}", "a project's id"),
        None,
        "The project whose roles follow it; unset, the default one.",
        family=Family.OURS,
    )
    idp_id: str = setting(
        "LDAP__<ID>__IDP_ID",
        kinds.matching(r"[a-z0-9-]+", "the id of an identity provider, as oidc"),
        "oidc",
        "The identity provider whose users its people are.",
        family=Family.OURS,
    )
    user_base_dn: str | None = setting(
        "LDAP__<ID>__USER_BASE_DN", kinds.TEXT, None, "Below what people are.", family=Family.OURS
    )
    user_filter: str = setting(
        "LDAP__<ID>__USER_FILTER", kinds.TEXT, "(objectClass=inetOrgPerson)", "Who of them counts.", family=Family.OURS
    )
    user_id_attribute: str = setting(
        "LDAP__<ID>__USER_ID_ATTRIBUTE",
        kinds.TEXT,
        "uid",
        "What of a person is its subject at the identity provider.",
        family=Family.OURS,
    )
    group_base_dn: str | None = setting(
        "LDAP__<ID>__GROUP_BASE_DN", kinds.TEXT, None, "Below what groups are; unset, as people.", family=Family.OURS
    )
    group_filter: str = setting(
        "LDAP__<ID>__GROUP_FILTER", kinds.TEXT, "(objectClass=groupOfNames)", "Which of them count.", family=Family.OURS
    )
    group_id_attribute: str = setting(
        "LDAP__<ID>__GROUP_ID_ATTRIBUTE",
        kinds.TEXT,
        "entryUUID",
        "What names a group for good, as objectGUID of Active Directory; the source id of its role.",
        family=Family.OURS,
    )
    group_name_attribute: str = setting(
        "LDAP__<ID>__GROUP_NAME_ATTRIBUTE", kinds.TEXT, "cn", "What its role is called.", family=Family.OURS
    )
    members: str = setting(
        "LDAP__<ID>__MEMBERS",
        kinds.word("groups", "people"),
        "groups",
        "Who says who is in what: groups by MEMBER_ATTRIBUTE, or people and groups by MEMBER_OF_ATTRIBUTE.",
        family=Family.OURS,
    )
    member_attribute: str = setting(
        "LDAP__<ID>__MEMBER_ATTRIBUTE",
        kinds.TEXT,
        "member",
        "What of a group names its members, by their names in the directory or by their subjects.",
        family=Family.OURS,
    )
    member_of_attribute: str = setting(
        "LDAP__<ID>__MEMBER_OF_ATTRIBUTE",
        kinds.TEXT,
        "memberOf",
        "What of an entry names its groups.",
        family=Family.OURS,
    )
    nested: bool = setting(
        "LDAP__<ID>__NESTED",
        kinds.BOOLEAN,
        "true",
        "Whether who is in a group is in those that this one is in.",
        family=Family.OURS,
    )
    may_empty: bool = setting(
        "LDAP__<ID>__MAY_EMPTY",
        kinds.BOOLEAN,
        "false",
        "Whether all members may go at once; else a directory that shows nobody any more changes nothing.",
        family=Family.OURS,
    )


class DirectorySettings(Settings, read_by=_AUTHZ):
    """Directories that roles follow."""

    ldap: Mapping[str, LdapSettings] = level("LDAP__<ID>", LdapSettings)


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
    scim: ScimSettings
    directory: DirectorySettings
    events: EventSettings
    audit: AuditSettings

    def __post_init__(self) -> None:
        wrong = _wrong_scim(self.scim, self.authentication) if self.scim.enabled else []
        for key, source in self.directory.ldap.items():
            wrong += _wrong_ldap(key, source, self.authentication, self.server)
        if wrong:
            raise Contradiction(*wrong)
        backend = self.authorization.backend
        if backend != AuthzBackend.ALLOW_ALL and not self.authentication.enabled:
            # Upstream starts so, and then denies everything to everybody, bootstrap included.
            cures = (
                f"{variable_of('OPENID_PROVIDER_URI')}, or {variable_of('ENABLE_KUBERNETES_AUTHENTICATION')} to true"
            )
            why = f"is {str(backend)!r}, which decides by who calls, and nobody is asked who they are; set {cures}"
            raise Contradiction(("AUTHZ_BACKEND", why))

    @property
    def managed_providers(self) -> frozenset[str]:
        """Providers that keep their roles themselves, so that nobody does by hand."""
        return frozenset({*([SCIM] if self.scim.enabled else []), *self.directories})

    @property
    def directories(self) -> Mapping[str, LdapSettings]:
        """Directories that roles follow, by the provider of these roles."""
        return self.directory.ldap

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


def _wrong_scim(scim: ScimSettings, authentication: AuthenticationSettings) -> list[tuple[str, str]]:
    known = [*authentication.providers, *(["kubernetes"] if authentication.kubernetes else [])]
    wrong: list[tuple[str, str]] = []
    if scim.idp_id not in known:
        there = f"there is {', '.join(known)}" if known else "there is none"
        why = (
            f"is {scim.idp_id!r}, and no identity provider has that id, so nobody who is sent could ever call; {there}"
        )
        wrong.append(("SCIM__IDP_ID", why))
    if SCIM in authentication.further_providers:
        why = f"uses the id {SCIM!r}, whose roles SCIM's clients keep: its tokens could name them; use another id"
        wrong.append((f"OPENID_PROVIDERS__{SCIM.upper()}__URI", why))
    return wrong


def _wrong_ldap(
    key: str, source: LdapSettings, authentication: AuthenticationSettings, server: ServerSettings
) -> list[tuple[str, str]]:
    def named(name: str) -> str:
        return f"LDAP__{key.upper()}__{name}"

    wrong: list[tuple[str, str]] = []
    if not all(character.isascii() and (character.isalnum() or character == "-") for character in key):
        wrong.append((named("URL"), f"uses the id {key!r}; an id has letters, digits and '-' alone"))
    if key in {SCIM, "system", "lakekeeper", *_TAKEN, *authentication.further_providers}:
        why = f"uses the id {key!r}, which is another's: roles of it are not the directory's alone; use another id"
        wrong.append((named("URL"), why))
    wrong += [(named(name), why) for name, why in _wrong_server(source)]
    if source.idp_id not in authentication.providers:
        there = ", ".join(authentication.providers) or "none"
        wrong.append((named("IDP_ID"), f"is {source.idp_id!r}, and no identity provider has that id; there is {there}"))
    if source.project is None and not server.enable_default_project:
        wrong.append((named("PROJECT"), "is missing, and there is no default project"))
    return wrong


def _wrong_server(source: LdapSettings) -> list[tuple[str, str]]:
    wrong: list[tuple[str, str]] = []
    schemes = {urlsplit(url).scheme for url in source.urls or ()}
    if not source.urls or schemes - {"ldap", "ldaps"}:
        wrong.append(("URL", "must name servers, as ldaps://ldap.example.org"))
    if source.user_base_dn is None:
        wrong.append(("USER_BASE_DN", "is missing: below what people are, as ou=people,dc=example,dc=org"))
    if (source.bind_dn is None) != (source.bind_password is None):
        wrong.append(("BIND_DN", "and BIND_PASSWORD come together, or neither"))
    if "ldap" in schemes and not source.start_tls and not source.allow_insecure:
        wrong.append(("URL", "has ldap:// without TLS; use ldaps://, or set STARTTLS beside it to true"))
    if source.start_tls and "ldaps" in schemes:
        wrong.append(("STARTTLS", "is true, and ldaps:// begins by TLS already; leave one of them out"))
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
