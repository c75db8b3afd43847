"""Who decides what a user may do."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, level, setting

_AUTHZ: Final = frozenset({Service.AUTHZ})


class AuthzBackend(enum.StrEnum):
    """Deciders that have a name; those in `BUILT` are served."""

    ALLOW_ALL = "allowall"
    BUILTIN = "builtin"
    OPENFGA = "openfga"
    CEDAR = "cedar"


BUILT: Final = frozenset({AuthzBackend.ALLOW_ALL, AuthzBackend.BUILTIN, AuthzBackend.OPENFGA})


class EngineIdentity(Settings, read_by=_AUTHZ):
    """Tokens of one identity provider that are an engine's."""

    audiences: tuple[str, ...] = setting(
        "TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__AUDIENCES",
        kinds.ARRAY,
        "[]",
        "Audiences whose tokens are the engine's.",
    )
    subjects: tuple[str, ...] = setting(
        "TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__SUBJECTS",
        kinds.ARRAY,
        "[]",
        "Subjects that are the engine.",
    )


class TrustedEngine(Settings, read_by=_AUTHZ):
    """An engine that may say on whose behalf a view is read."""

    type: str | None = setting(
        "TRUSTED_ENGINES__<NAME>__TYPE",
        kinds.word("trino"),
        None,
        "What the trusted engine is.",
    )
    owner_property: str | None = setting(
        "TRUSTED_ENGINES__<NAME>__OWNER_PROPERTY",
        kinds.matching(r"\S+", "the name of a view property"),
        None,
        "View property that names the owner a view is read as; only the engine sets or removes it.",
        services=(Service.AUTHZ, Service.CATALOG),
    )
    identities: Mapping[str, EngineIdentity] = level("TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>", EngineIdentity)


class OpenFgaSettings(Settings, read_by={Service.AUTHZ, Service.CLI}):
    """The OpenFGA server."""

    endpoint: str | None = setting(
        "OPENFGA__ENDPOINT",
        kinds.url("http", "https", "grpc", "grpcs"),
        None,
        "Address of the OpenFGA server's HTTP API, which it serves on port 8080; not of its gRPC API.",
    )
    store_name: str = setting("OPENFGA__STORE_NAME", kinds.TEXT, "lakekeeper", "Its store; made where it is missing.")
    api_key: SecretStr | None = setting(
        "OPENFGA__API_KEY", kinds.SECRET, None, "Pre-shared key; not used where a client id is set."
    )
    client_id: str | None = setting("OPENFGA__CLIENT_ID", kinds.TEXT, None, "Client credentials: the id.")
    client_secret: SecretStr | None = setting(
        "OPENFGA__CLIENT_SECRET", kinds.SECRET, None, "Client credentials: the secret."
    )
    token_endpoint: str | None = setting(
        "OPENFGA__TOKEN_ENDPOINT", kinds.HTTP_URL, None, "Client credentials: the endpoint."
    )
    scope: str | None = setting("OPENFGA__SCOPE", kinds.TEXT, None, "Client credentials: the scope.")
    authorization_model_prefix: str = setting(
        "OPENFGA__AUTHORIZATION_MODEL_PREFIX",
        kinds.TEXT,
        "collaboration",
        "What the versions of our model are kept under in the store.",
    )
    authorization_model_version: str | None = setting(
        "OPENFGA__AUTHORIZATION_MODEL_VERSION",
        kinds.matching(r"\d+\.\d+", "a version such as 1.0"),
        None,
        "Set, the model is not written but must be there; of this release's version and no other.",
    )
    max_batch_check_size: int = setting(
        "OPENFGA__MAX_BATCH_CHECK_SIZE",
        kinds.COUNT,
        "50",
        "Checks in one batch; no more than the server's own OPENFGA_MAX_CHECKS_PER_BATCH_CHECK.",
    )
    timeout: timedelta = setting(
        "OPENFGA__TIMEOUT",
        kinds.DURATION,
        "3s",
        "Longest wait for one answer of OpenFGA; then nothing is decided, and the caller is told to retry.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        if self.client_id is not None:
            needed = {"OPENFGA__CLIENT_SECRET": self.client_secret, "OPENFGA__TOKEN_ENDPOINT": self.token_endpoint}
            missing = [
                (name, "is missing; OPENFGA__CLIENT_ID needs it") for name, value in needed.items() if value is None
            ]
            if missing:
                raise Contradiction(*missing)


class AuthorizationSettings(Settings, read_by=_AUTHZ):
    """Who decides what a user may do."""

    backend: AuthzBackend = setting(
        "AUTHZ_BACKEND",
        kinds.word(*AuthzBackend, spellings={"allow-all": AuthzBackend.ALLOW_ALL}),
        "allowall",
        "Who decides what a user may do.",
        services=(Service.AUTHZ, Service.CATALOG, Service.CLI),
    )
    instance_admins: tuple[str, ...] = setting(
        "INSTANCE_ADMINS",
        kinds.ARRAY,
        "[]",
        "User ids that may do everything.",
        services=(Service.AUTHZ, Service.CATALOG),
    )
    trusted_engines: Mapping[str, TrustedEngine] = level("TRUSTED_ENGINES__<NAME>", TrustedEngine)

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        if self.backend not in BUILT:
            # A warning would start a server that allows everything in place of one that asks.
            wrong.append(
                ("AUTHZ_BACKEND", f"is {self.backend.value!r}, which this build does not serve; it serves {_built()}")
            )
        for name, engine in self.trusted_engines.items():
            wrong.extend(_wrong(name.upper(), engine))
        if wrong:
            raise Contradiction(*wrong)


def _built() -> str:
    return ", ".join(sorted(backend.value for backend in BUILT))


def _wrong(name: str, engine: TrustedEngine) -> list[tuple[str, str]]:
    prefix = f"TRUSTED_ENGINES__{name}__"
    wrong = [
        (prefix + part, "is missing; a trusted engine needs it")
        for part, value in (("TYPE", engine.type), ("OWNER_PROPERTY", engine.owner_property))
        if value is None
    ]
    wrong.extend(
        (f"{prefix}IDENTITIES__{idp.upper()}__SUBJECTS", "and AUDIENCES are both empty; one of them needs an entry")
        for idp, identity in engine.identities.items()
        if not identity.audiences and not identity.subjects
    )
    return wrong
