"""DuckDB: a secret for the table's place, and for nothing beside it."""

from __future__ import annotations

from hashlib import sha256

from lakeward.credentials import AzureSas, Credentials, GcsToken, S3Keys
from lakeward.errors import ConfigurationError


def secret(credentials: Credentials, *, name: str | None = None) -> str:
    """The statement that makes it, or puts it in an older one's place.

    Args:
        credentials: whose place is the secret's scope, so that several tables may be read at once.
        name: of the secret; None for one that is made of the location.

    Raises:
        ConfigurationError: DuckDB has no secret for this kind.
    """
    store = credentials.store
    if isinstance(store, S3Keys):
        told = _s3(store)
    elif isinstance(store, AzureSas):
        connection = f"BlobEndpoint={store.blob_url};SharedAccessSignature={store.sas_token}"
        told = {"TYPE": "azure", "CONNECTION_STRING": connection}
    else:
        assert isinstance(store, GcsToken)
        told = {"TYPE": "gcs", "BEARER_TOKEN": store.token}
    # A scope is compared as text: without the slash the table beside it whose name goes on would be in it.
    told["SCOPE"] = f"{credentials.uri.rstrip('/')}/"
    for value in told.values():
        if "\x00" in value:
            raise ConfigurationError(f"{credentials.location}: what the server handed out holds a NUL")
    named = name or f"lakeward_{sha256(credentials.uri.encode()).hexdigest()[:16]}"
    clauses = ", ".join(f"{key} {value if key in _BARE else _quoted(value)}" for key, value in told.items())
    return f'CREATE OR REPLACE SECRET "{_doubled(named)}" ({clauses})'


_BARE = frozenset({"TYPE", "USE_SSL"})


def _s3(store: S3Keys) -> dict[str, str]:
    told = {
        "TYPE": "s3",
        "KEY_ID": store.access_key_id,
        "SECRET": store.secret_access_key,
        "SESSION_TOKEN": store.session_token,
        "REGION": store.region,
        "KMS_KEY_ID": store.kms_key,
    }
    if store.endpoint:
        scheme, _, rest = store.endpoint.rpartition("://")
        told |= {"ENDPOINT": rest.rstrip("/"), "USE_SSL": "false" if scheme == "http" else "true"}
    if store.path_style:
        told["URL_STYLE"] = "path"
    return {key: value for key, value in told.items() if value}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _doubled(name: str) -> str:
    return name.replace('"', '""')
