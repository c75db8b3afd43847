"""What the documentation says of storage profiles and credentials, which pass through to vending unread.

Each is one object with the members of every kind, since `type` says which of them count; vending refuses those that are wrong,
by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

_TEXT: Final = {"type": ["string", "null"]}
_FLAG: Final = {"type": ["boolean", "null"]}
_SECONDS: Final = {"type": ["integer", "null"], "minimum": 0}


def _of(kinds: str, schema: Mapping[str, Any], about: str = "") -> Mapping[str, Any]:
    return {**schema, "description": f"Of {kinds}.{' ' if about else ''}{about}"}


def _words(*words: str) -> Mapping[str, Any]:
    return {"type": "string", "enum": [*words]}


_LAYOUT: Final = {
    "type": ["object", "null"],
    "description": "Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.",
    "properties": {
        "type": _words("default", "full-hierarchy", "tabular-only"),
        "namespace": _of("full-hierarchy", _TEXT),
        "tabular": _of("full-hierarchy, tabular-only", _TEXT),
    },
}
_ENDPOINT_MODE: Final = {
    "type": ["object", "null"],
    "description": "Of onelake. By which host it is reached.",
    "properties": {"type": _words("default", "regional", "workspace-private-link"), "region": _of("regional", _TEXT)},
}
PROFILE: Final[Mapping[str, Any]] = {
    "type": {"type": "string", "description": "s3, stackit, adls, onelake or gcs."},
    "bucket": _of("s3, stackit, gcs", _TEXT),
    "region": _of("s3, stackit", _TEXT),
    "key-prefix": _of("s3, stackit, adls, gcs", _TEXT),
    "endpoint": _of("s3, stackit", _TEXT),
    "path-style-access": _of("s3", _FLAG),
    "assume-role-arn": _of("s3", _TEXT),
    "sts-enabled": _of("s3, stackit, gcs", _FLAG),
    "sts-role-arn": _of("s3", _TEXT),
    "sts-endpoint": _of("s3", _TEXT),
    "sts-token-validity-seconds": _of("s3, stackit", _SECONDS),
    "sts-session-tags": _of("s3", {"type": ["object", "null"], "additionalProperties": {"type": "string"}}),
    "flavor": _of("s3", _TEXT, "aws or s3-compat."),
    "allow-alternative-protocols": _of("s3, adls", _FLAG, "s3a:// and s3n://, or wasbs://, as well."),
    "remote-signing-enabled": _of("s3, stackit", _FLAG),
    "remote-signing-url-style": _of("s3", _TEXT, "path, virtual_host or auto."),
    "push-s3-delete-disabled": _of("s3, stackit", _FLAG),
    "aws-kms-key-arn": _of("s3", _TEXT),
    "legacy-md5-behavior": _of("s3", _FLAG),
    "credentials-group-urn": _of("stackit", _TEXT),
    "account-name": _of("adls", _TEXT),
    "filesystem": _of("adls", _TEXT),
    "host": _of("adls", _TEXT),
    "authority-host": _of("adls, onelake", _TEXT),
    "sas-enabled": _of("adls, onelake", _FLAG),
    "sas-token-validity-seconds": _of("adls, onelake", _SECONDS),
    "workspace-id": _of("onelake", _TEXT),
    "lakehouse-id": _of("onelake", _TEXT),
    "top-level-folder": _of("onelake", _TEXT, "Files or Tables."),
    "directory-rel-path": _of("onelake", _TEXT),
    "endpoint-mode": _ENDPOINT_MODE,
    "storage-layout": _LAYOUT,
}
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
CREDENTIAL: Final[Mapping[str, Any]] = {
    "type": {"type": "string", "description": "s3, stackit, az or gcs."},
    "credential-type": {"type": "string", "description": "Of which kind, as access-key."},
    "access-key-id": _of("s3 and stackit access-key, cloudflare-r2, aliyun-oss", _TEXT),
    "secret-access-key": _of("s3 and stackit access-key, cloudflare-r2, aliyun-oss", _TEXT),
    "external-id": _of("s3 access-key, aws-system-identity", _TEXT),
    "account-id": _of("cloudflare-r2", _TEXT),
    "token": _of("cloudflare-r2", _TEXT),
    "client-id": _of("client-credentials", _TEXT),
    "client-secret": _of("client-credentials", _TEXT),
    "tenant-id": _of("client-credentials", _TEXT),
    "key": {
        "description": "Of shared-access-key, a text; of service-account-key, Google's document.",
        "type": ["string", "object", "null"],
        "properties": {name: {"type": "string"} for name in _GOOGLE_KEY},
    },
}

# Documents that pass through to vending and catalog as they came.
Profile = Annotated[
    msgspec.Raw,
    msgspec.Meta(
        description="A storage profile; `type` says of which kind.",
        extra_json_schema={"type": "object", "properties": PROFILE},
    ),
]
Credential = Annotated[
    msgspec.Raw,
    msgspec.Meta(
        description="A storage credential; `type` and `credential-type` say of which kind. Never answered.",
        extra_json_schema={"type": ["object", "null"], "writeOnly": True, "properties": CREDENTIAL},
    ),
]
