"""Names of the upstream's commercial edition: known, so that a deployment that has them starts, with a warning each."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

_AUTHZ: Final = frozenset({Service.AUTHZ})


def _commercial(name: str, kind: kinds.Kind[object], default: str | None, about: str) -> Setting:
    return Setting(name, kind, default, about, support=Support.COMMERCIAL, services=_AUTHZ)


def _cedar(name: str, kind: kinds.Kind[object], default: str | None, about: str) -> Setting:
    return _commercial(f"CEDAR__{name}", kind, default, about)


def _provider(name: str, kind: kinds.Kind[object], default: str | None, about: str) -> Setting:
    return _commercial(f"ROLE_PROVIDER__<ID>__{name}", kind, default, about)


def _gate(name: str, kind: kinds.Kind[object], default: str | None, about: str) -> Setting:
    return _commercial(f"ADMISSION_ENFORCE__{name}", kind, default, about)


_CEDAR: Final = (
    _cedar("POLICY_SOURCES__LOCAL_FILES", kinds.ARRAY, None, "Files with policies."),
    _cedar("POLICY_SOURCES__K8S_CM", kinds.ARRAY, None, "Config maps with policies."),
    _cedar("ENTITY_JSON_SOURCES__LOCAL_FILES", kinds.ARRAY, None, "Files with entities."),
    _cedar("ENTITY_JSON_SOURCES__K8S_CM", kinds.ARRAY, None, "Config maps with entities."),
    _cedar("REFRESH_INTERVAL_SECS", kinds.DURATION, "5", "How often sources are read again."),
    _cedar("REFRESH_DISABLED", kinds.BOOLEAN, "false", "Whether sources are read once."),
    _cedar(
        "EXTERNALLY_MANAGED_USER_AND_ROLES", kinds.BOOLEAN, "false", "Whether users and roles come with the entities."
    ),
    _cedar("SCHEMA_FILE", kinds.PATH, None, "A schema in place of the built-in one."),
    _cedar("SCHEMA_FRAGMENT_FILE", kinds.PATH, None, "A schema beside the built-in one."),
    _cedar("PROPERTY_PARSE_PREFIXES", kinds.ARRAY, '["access_","access-"]', "Properties that policies see parsed."),
    _cedar("GLOBAL_ROLE_IDS_ENABLED", kinds.BOOLEAN, "false", "Whether roles have ids without a project."),
    _cedar("USER_DERIVATIONS__<NAME>__SOURCE", kinds.word("source_id", "provider_id"), None, "What is derived from."),
    _cedar("USER_DERIVATIONS__<NAME>__PATTERN", kinds.TEXT, None, "A pattern with named groups."),
    _cedar(
        "USER_DERIVATIONS__<NAME>__TRANSFORM",
        kinds.word("none", "lowercase", "uppercase"),
        "none",
        "What is done to it.",
    ),
    _cedar("DEBUG__LOG_ENTITIES", kinds.BOOLEAN, "false", "Whether entities are logged."),
)

_SCOPES: Final = kinds.word("sub", "one", "base", spellings={"subtree": "sub", "onelevel": "one"})

_PROVIDERS: Final = (
    _commercial("ROLE_PROVIDER_FILE", kinds.PATH, None, "A file with role providers."),
    _commercial(
        "ROLE_PROVIDER_CHAIN__LOG_UNHANDLED_USERS", kinds.BOOLEAN, "true", "Whether users of no provider are logged."
    ),
    _commercial("ROLE_PROVIDER_CHAIN__LOG_ROLE_ASSIGNMENTS", kinds.BOOLEAN, "false", "Whether assignments are logged."),
    _commercial(
        "ROLE_PROVIDER_CHAIN__PERSIST_TOKEN_ROLES", kinds.BOOLEAN, "false", "Whether roles of tokens are kept."
    ),
    _provider("TYPE", kinds.word("ldap", "entra-graph", "okta"), None, "Kind of the provider."),
    _provider("SYNC_INTERVAL_SECS", kinds.DURATION, "300", "How often it is read."),
    _provider("REQUIRE_CONNECTED_ON_STARTUP", kinds.BOOLEAN, "false", "Whether the start waits for it."),
    _provider("IDP_IDS", kinds.ARRAY, None, "Identity providers whose users it knows; all if unset."),
    _provider("CONNECT_TIMEOUT_SECS", kinds.DURATION, None, "Longest wait for a connection."),
    _provider("READ_TIMEOUT_SECS", kinds.DURATION, None, "Longest wait for an answer."),
    _provider("RECONNECT_COOLDOWN_SECS", kinds.DURATION, "30", "Pause before connecting again."),
    # LDAP
    _provider("URL", kinds.url("ldap", "ldaps"), None, "The directory."),
    _provider("DOMAINS", kinds.ARRAY, None, "Domains of its users."),
    _provider("USER_BASE_DN", kinds.TEXT, None, "Where users are."),
    _provider("BIND_DN", kinds.TEXT, None, "Who binds."),
    _provider("BIND_PASSWORD", kinds.SECRET, None, "Its password."),
    _provider("USER_SEARCH_FILTER", kinds.TEXT, "(uid=${USER})", "How a user is found."),
    _provider("USER_SEARCH_SCOPE", _SCOPES, "sub", "How deep."),
    _provider(
        "GROUP_RESOLUTION_MODE", kinds.word("attribute", "search", "branching"), "attribute", "How groups are found."
    ),
    _provider("GROUP_BASE_DN", kinds.TEXT, None, "Where groups are."),
    _provider("GROUP_CASE", kinds.word("keep", "upper", "lower"), "keep", "Case of groups' names."),
    _provider("USER_MEMBER_OF_ATTRIBUTE", kinds.TEXT, "memberOf", "A user's attribute with groups."),
    _provider("GROUP_NAME_SOURCE", kinds.TEXT, "dn_cn", "Where a group's name comes from."),
    _provider("GROUP_SEARCH_FILTER", kinds.TEXT, None, "How groups are searched."),
    _provider("GROUP_MEMBER_ATTRIBUTE", kinds.TEXT, "member", "A group's attribute with members."),
    _provider("GROUP_NAME_ATTRIBUTE", kinds.TEXT, "cn", "A group's attribute with its name."),
    _provider("BRANCH_IF_USER_DN_MATCHES", kinds.TEXT, None, "Which users take the first branch."),
    _provider("BRANCH_THEN__<FIELD>", kinds.TEXT, None, "A field of the first branch."),
    _provider("BRANCH_ELSE__<FIELD>", kinds.TEXT, None, "A field of the second branch."),
    _provider("STARTTLS", kinds.BOOLEAN, "false", "Whether TLS is begun on a plain connection."),
    _provider("ALLOW_INSECURE", kinds.BOOLEAN, "false", "Whether a plain connection is allowed."),
    # Entra
    _provider(
        "CREDENTIAL__METHOD",
        kinds.word("secret", "certificate", "managed_identity", "workload_identity"),
        None,
        "Login.",
    ),
    _provider("CREDENTIAL__<FIELD>", kinds.SECRET, None, "A field of the login."),
    _provider("CLOUD", kinds.word("public", "us_government", "china", "custom"), "public", "The cloud."),
    _provider("GRAPH_BASE", kinds.HTTP_URL, None, "The graph API of a custom cloud."),
    _provider("AUTHORITY_HOST", kinds.HTTP_URL, None, "The authority of a custom cloud."),
    # Okta
    _provider("ORG_URL", kinds.url("https"), None, "The organisation."),
    _provider("CLIENT_ID", kinds.TEXT, None, "The client id."),
    _provider("PRIVATE_KEY", kinds.SECRET, None, "The client's key."),
    _provider("KEY_ID", kinds.TEXT, None, "Id of a key in PEM form."),
    _provider("SCOPES", kinds.ARRAY, '["okta.users.read"]', "Scopes asked for."),
    _provider("DPOP", kinds.BOOLEAN, "true", "Whether tokens are bound to the key."),
)

_GATE: Final = (
    _commercial("ADMISSION_ENFORCE_FILE", kinds.PATH, None, "A file with the admission gate."),
    _gate("ENDPOINT", kinds.HTTP_URL, None, "Who is asked for admission."),
    _gate("IDP_ID", kinds.TEXT, None, "Whose users."),
    _gate("ROLE_PROVIDER_ID", kinds.TEXT, None, "Provider of the roles it grants."),
    _gate("CACHE_TTL_SECS", kinds.DURATION, "60", "How long an answer is kept."),
    _gate("CACHE_MAX_ENTRIES", kinds.COUNT, "10000", "Most answers kept."),
    _gate("REQUEST_TIMEOUT_SECS", kinds.DURATION, "5", "Longest wait for an answer."),
    _gate("CONNECT_TIMEOUT_SECS", kinds.DURATION, "2", "Longest wait for a connection."),
    _gate("UNAVAILABLE_RETRY_AFTER_SECS", kinds.DURATION, "5", "What callers are told while it is away."),
    _gate("HEADERS", kinds.TABLE, None, "Headers it is asked with."),
    _gate("AUTH__TYPE", kinds.word("forward_caller_token"), None, "Whose token it is asked with."),
    _gate("CHECKS__<NAME>__KIND", kinds.word("gating", "role_granting"), None, "What a yes means."),
    _gate("CHECKS__<NAME>__BODY", kinds.TEXT, None, "What it is asked."),
    _gate("CHECKS__<NAME>__ROLE_SOURCE_ID", kinds.TEXT, None, "Role that a yes grants."),
    _gate("CHECKS__<NAME>__ROLE_PROVIDER_ID", kinds.TEXT, None, "Provider of that role."),
)

_LICENSE: Final = (
    _commercial("LICENSE__KEY", kinds.SECRET, None, "A licence; none is needed here."),
    _commercial("LICENSE__KEY_PATH", kinds.PATH, None, "A file with a licence."),
)

SETTINGS: Final = (*_CEDAR, *_PROVIDERS, *_GATE, *_LICENSE)
