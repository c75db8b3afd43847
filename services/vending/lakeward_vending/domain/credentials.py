"""Storage credentials: what a warehouse's owner gives us, kept as a secret and never shown again."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import TYPE_CHECKING, Final

from lakeward_vending.domain import documents
from lakeward_vending.domain.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_vending.domain.documents import Members


class CredentialKind(enum.StrEnum):
    """Family and kind, as replies name them."""

    S3_ACCESS_KEY = "s3:access-key"
    S3_SYSTEM_IDENTITY = "s3:aws-system-identity"
    S3_CLOUDFLARE_R2 = "s3:cloudflare-r2"
    S3_ALIYUN_OSS = "s3:aliyun-oss"
    STACKIT_ACCESS_KEY = "stackit:access-key"
    AZURE_CLIENT_CREDENTIALS = "az:client-credentials"
    AZURE_SHARED_KEY = "az:shared-access-key"
    AZURE_SYSTEM_IDENTITY = "az:azure-system-identity"
    GCS_SERVICE_ACCOUNT = "gcs:service-account-key"
    GCS_SYSTEM_IDENTITY = "gcs:gcp-system-identity"

    @property
    def family(self) -> str:
        """The credential's `type`."""
        return self.value.partition(":")[0]


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """A storage credential. Made by `parse`, which has checked that its kind's members are there.

    Attributes:
        kind: which.
        texts: the members that may be shown to an operator, by the public API's names: "access-key-id".
        secrets: those that may not: "secret-access-key".
    """

    kind: CredentialKind
    texts: Mapping[str, str]
    secrets: Mapping[str, Secret]

    def text(self, name: str) -> str | None:
        """A member that may be shown, or None."""
        return self.texts.get(name)

    def secret(self, name: str) -> Secret:
        """A member that may not.

        Raises:
            KeyError: the kind has no such member.
        """
        return self.secrets[name]

    def document(self) -> bytes:
        """The credential as JSON, secrets included: for encryption and nothing else."""
        family, _, kind = self.kind.partition(":")
        revealed: dict[str, object] = {name: secret.reveal() for name, secret in self.secrets.items()}
        if self.kind is CredentialKind.GCS_SERVICE_ACCOUNT:
            revealed["key"] = json.loads(self.secret("key").reveal())
        return documents.dump({"type": family, "credential-type": kind, **self.texts, **revealed})


@dataclasses.dataclass(frozen=True, slots=True)
class _Shape:
    """Members of a kind: name → older spelling ("" for none)."""

    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    secrets: dict[str, str] = dataclasses.field(default_factory=dict)
    optional: frozenset[str] = frozenset()


_ACCESS_KEY: Final = _Shape(
    texts={"access-key-id": "aws-access-key-id", "external-id": ""},
    secrets={"secret-access-key": "aws-secret-access-key"},
    optional=frozenset({"external-id"}),
)
_GOOGLE_KEY: Final = (
    "type",
    "project_id",
    "private_key_id",
    "private_key",
    "client_email",
    "client_id",
    "auth_uri",
    "token_uri",
    "auth_provider_x509_cert_url",
    "client_x509_cert_url",
    "universe_domain",
)
_SHAPES: Final[Mapping[CredentialKind, _Shape]] = {
    CredentialKind.S3_ACCESS_KEY: _ACCESS_KEY,
    CredentialKind.S3_SYSTEM_IDENTITY: _Shape(texts={"external-id": ""}, optional=frozenset({"external-id"})),
    CredentialKind.S3_CLOUDFLARE_R2: _Shape(
        texts={"access-key-id": "", "account-id": ""}, secrets={"secret-access-key": "", "token": ""}
    ),
    CredentialKind.S3_ALIYUN_OSS: _ACCESS_KEY,
    CredentialKind.STACKIT_ACCESS_KEY: _Shape(texts={"access-key-id": ""}, secrets={"secret-access-key": ""}),
    CredentialKind.AZURE_CLIENT_CREDENTIALS: _Shape(
        texts={"client-id": "", "tenant-id": ""}, secrets={"client-secret": ""}
    ),
    CredentialKind.AZURE_SHARED_KEY: _Shape(secrets={"key": ""}),
    CredentialKind.AZURE_SYSTEM_IDENTITY: _Shape(),
    CredentialKind.GCS_SERVICE_ACCOUNT: _Shape(secrets={"key": ""}),
    CredentialKind.GCS_SYSTEM_IDENTITY: _Shape(),
}
_MAX_CHARACTERS: Final = 8192


def parse(text: bytes) -> Credential:
    """Read the public API's storage credential.

    Raises:
        Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE for an unknown type or kind. No refusal shows a value.
    """
    members = documents.load(text, path="storage-credential")
    name = f"{members.required_text('type')}:{members.required_text('credential-type')}"
    if name not in _KINDS:
        # In a credential anything may stand in the wrong place.
        raise documents.invalid("credential-type", "(not shown)", f"one of {', '.join(_KINDS)}")
    kind = CredentialKind(name)
    shape = _SHAPES[kind]
    texts, secrets = {}, {}
    for key, alias in (shape.texts | shape.secrets).items():
        value = _google_key(members) if kind is CredentialKind.GCS_SERVICE_ACCOUNT else _member(members, key, alias)
        if value is None and key not in shape.optional:
            raise members.malformed(key, "given, and a text")
        if value is not None and key in shape.secrets:
            secrets[key] = Secret(value)
        elif value is not None:
            texts[key] = value
    return Credential(kind, texts, secrets)


_KINDS: Final = frozenset(kind.value for kind in CredentialKind)


def _member(members: Members, key: str, alias: str) -> str | None:
    value = members.filled_text(key, *((alias,) if alias else ()))
    if value is not None and (len(value) > _MAX_CHARACTERS or not value.isprintable()):
        raise members.malformed(key, f"printable and at most {_MAX_CHARACTERS} characters")
    return value


def _google_key(members: Members) -> str:
    key = members.texts_by_name("key")
    for name in _GOOGLE_KEY:
        if name not in key:
            raise members.malformed(f"key.{name}", "given, and a text")
    return json.dumps({name: key[name] for name in _GOOGLE_KEY})
