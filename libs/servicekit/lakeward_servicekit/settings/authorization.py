"""Who decides what a user may do."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Self

from pydantic import SecretStr, model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, level, named


class AuthzBackend(enum.StrEnum):
    """Deciders that have a name; those in `BUILT` are served."""

    ALLOW_ALL = "allowall"
    BUILTIN = "builtin"
    OPENFGA = "openfga"
    CEDAR = "cedar"


BUILT = frozenset({AuthzBackend.ALLOW_ALL})


class EngineIdentity(Settings):
    """Tokens of one identity provider that are an engine's."""

    audiences: tuple[str, ...] = named("TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__AUDIENCES")
    subjects: tuple[str, ...] = named("TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>__SUBJECTS")


class TrustedEngine(Settings):
    """An engine that may say on whose behalf a view is read."""

    type: str | None = named("TRUSTED_ENGINES__<NAME>__TYPE")
    owner_property: str | None = named("TRUSTED_ENGINES__<NAME>__OWNER_PROPERTY")
    identities: Mapping[str, EngineIdentity] = level("TRUSTED_ENGINES__<NAME>__IDENTITIES__<IDP>", EngineIdentity)


class OpenFgaSettings(Settings):
    """The OpenFGA server."""

    endpoint: str | None = named("OPENFGA__ENDPOINT")
    store_name: str = named("OPENFGA__STORE_NAME")
    api_key: SecretStr | None = named("OPENFGA__API_KEY")
    client_id: str | None = named("OPENFGA__CLIENT_ID")
    client_secret: SecretStr | None = named("OPENFGA__CLIENT_SECRET")
    token_endpoint: str | None = named("OPENFGA__TOKEN_ENDPOINT")
    scope: str | None = named("OPENFGA__SCOPE")
    authorization_model_prefix: str = named("OPENFGA__AUTHORIZATION_MODEL_PREFIX")
    authorization_model_version: str | None = named("OPENFGA__AUTHORIZATION_MODEL_VERSION")
    max_batch_check_size: int = named("OPENFGA__MAX_BATCH_CHECK_SIZE")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.client_id is not None:
            needed = {"OPENFGA__CLIENT_SECRET": self.client_secret, "OPENFGA__TOKEN_ENDPOINT": self.token_endpoint}
            missing = [
                (name, "is missing; OPENFGA__CLIENT_ID needs it") for name, value in needed.items() if value is None
            ]
            if missing:
                raise Contradiction(*missing)
        return self


class AuthorizationSettings(Settings):
    """Who decides what a user may do."""

    backend: AuthzBackend = named("AUTHZ_BACKEND")
    instance_admins: tuple[str, ...] = named("INSTANCE_ADMINS")
    trusted_engines: Mapping[str, TrustedEngine] = level("TRUSTED_ENGINES__<NAME>", TrustedEngine)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
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
        return self


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
