"""Names of authentication and authorization."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service, Setting, Support

_AUTHZ: Final = frozenset({Service.AUTHZ})


def _authz(
    name: str,
    kind: kinds.Kind,
    default: str | None,
    about: str,
    *,
    support: Support = Support.SUPPORTED,
    secret: bool = False,
    family: Family = Family.UPSTREAM,
) -> Setting:
    return Setting(name, kind, default, about, support=support, secret=secret, family=family, services=_AUTHZ)


_PLANNED: Final = Support.PLANNED

_OPENID: Final = (
    _authz("OPENID_PROVIDER_URI", kinds.HTTP_URL, None, "Issuer whose tokens are accepted, as provider `oidc`."),
    _authz("OPENID_AUDIENCE", kinds.LIST, None, "Audiences of which a token needs one; unset, any audience will do."),
    _authz("OPENID_ADDITIONAL_ISSUERS", kinds.LIST, None, "Further `iss` values the provider's tokens may have."),
    _authz("OPENID_SCOPE", kinds.TEXT, None, "Scope that a token must have."),
    _authz("OPENID_SUBJECT_CLAIM", kinds.LIST, "oid,sub", "Claims that name the user; the first one present counts."),
    _authz("OPENID_ROLES_CLAIM", kinds.TEXT, None, "Dotted path of the claim that holds roles.", support=_PLANNED),
    _authz(
        "OPENID_DISPLAY_NAME_TEMPLATE",
        kinds.TEXT,
        None,
        "A user's display name from `{claim.path}` placeholders.",
    ),
    _authz("OPENID_PROVIDERS__<ID>__URI", kinds.HTTP_URL, None, "Issuer of a further provider."),
    _authz("OPENID_PROVIDERS__<ID>__AUDIENCE", kinds.LIST, None, "Its audiences."),
    _authz("OPENID_PROVIDERS__<ID>__ADDITIONAL_ISSUERS", kinds.LIST, None, "Its further issuers."),
    _authz("OPENID_PROVIDERS__<ID>__SCOPE", kinds.TEXT, None, "Its required scope."),
    _authz("OPENID_PROVIDERS__<ID>__SUBJECT_CLAIMS", kinds.LIST, "oid,sub", "Its claims that name the user."),
    _authz("OPENID_PROVIDERS__<ID>__ROLES_CLAIM", kinds.TEXT, None, "Its claim that holds roles.", support=_PLANNED),
    _authz("OPENID_PROVIDERS__<ID>__DISPLAY_NAME_TEMPLATE", kinds.TEXT, None, "Its display names."),
    _authz(
        "OPENID_PROVIDERS__<ID>__REQUIRE_CONNECTED_ON_STARTUP",
        kinds.BOOLEAN,
        "true",
        "Whether the start waits for it; if false it joins once it can be reached.",
    ),
)

_KUBERNETES: Final = (
    _authz(
        "ENABLE_KUBERNETES_AUTHENTICATION",
        kinds.BOOLEAN,
        "false",
        "Whether service account tokens are reviewed, as provider `kubernetes`.",
    ),
    _authz(
        "KUBERNETES_AUTHENTICATION_AUDIENCE",
        kinds.LIST,
        None,
        "Audiences of which one is needed; unset, every token that no provider before it takes is reviewed.",
    ),
    _authz(
        "KUBERNETES_AUTHENTICATION_ACCEPT_LEGACY_SERVICEACCOUNT",
        kinds.BOOLEAN,
        "false",
        "Whether the issuers of old service account tokens count as well.",
    ),
    _authz(
        "KUBERNETES_AUTHENTICATION_SUBJECT_SOURCE",
        kinds.word("uid", "username"),
        "uid",
        "What names the user; a name is the same in every cluster.",
    ),
    _authz(
        "INSECURE_ALLOW_UNAUTHENTICATED",
        kinds.BOOLEAN,
        "false",
        "Whether endpoints may be open; here they are while no provider is set, with a warning.",
        support=Support.COMMERCIAL,
    ),
)

_AUTHORIZATION: Final = (
    _authz(
        "AUTHZ_BACKEND",
        kinds.word("allowall", "builtin", "openfga", "cedar", spellings={"allow-all": "allowall"}),
        "allowall",
        "Who decides what a user may do.",
    ),
    _authz("INSTANCE_ADMINS", kinds.ARRAY, "[]", "User ids that may do everything."),
    _authz(
        "OPENFGA__ENDPOINT",
        kinds.url("http", "https", "grpc", "grpcs"),
        None,
        "Address of the OpenFGA server's gRPC API.",
        support=_PLANNED,
    ),
    _authz("OPENFGA__STORE_NAME", kinds.TEXT, "lakekeeper", "Its store; made by migrate.", support=_PLANNED),
    _authz("OPENFGA__API_KEY", kinds.TEXT, None, "Pre-shared key.", support=_PLANNED, secret=True),
    _authz("OPENFGA__CLIENT_ID", kinds.TEXT, None, "Client credentials: the id.", support=_PLANNED),
    _authz(
        "OPENFGA__CLIENT_SECRET", kinds.TEXT, None, "Client credentials: the secret.", support=_PLANNED, secret=True
    ),
    _authz("OPENFGA__TOKEN_ENDPOINT", kinds.HTTP_URL, None, "Client credentials: the endpoint.", support=_PLANNED),
    _authz("OPENFGA__SCOPE", kinds.TEXT, None, "Client credentials: the scope.", support=_PLANNED),
    _authz("OPENFGA__AUTHORIZATION_MODEL_PREFIX", kinds.TEXT, "collaboration", "Name of the model.", support=_PLANNED),
    _authz(
        "OPENFGA__AUTHORIZATION_MODEL_VERSION",
        kinds.matching(r"\d+\.\d+", "a version such as 4.3"),
        None,
        "Pins the model, so that migrate leaves it alone.",
        support=_PLANNED,
    ),
    _authz("OPENFGA__MAX_BATCH_CHECK_SIZE", kinds.COUNT, "50", "Checks in one batch.", support=_PLANNED),
    _authz("TRUSTED_ENGINES__<NAME>__TYPE", kinds.word("trino"), None, "What the trusted engine is.", support=_PLANNED),
    _authz(
        "TRUSTED_ENGINES__<NAME>__OWNER_PROPERTY",
        kinds.matching(r"\S+", "the name of a view property"),
        None,
        "View property that names the owner a view runs as.",
        support=_PLANNED,
    ),
    _authz(
        "TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__AUDIENCES",
        kinds.ARRAY,
        "[]",
        "Audiences whose tokens are the engine's.",
        support=_PLANNED,
    ),
    _authz(
        "TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__SUBJECTS",
        kinds.ARRAY,
        "[]",
        "Subjects that are the engine.",
        support=_PLANNED,
    ),
)

SETTINGS: Final = (*_OPENID, *_KUBERNETES, *_AUTHORIZATION)
