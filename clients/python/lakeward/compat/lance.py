"""What Lance and s3fs were told of credentials: keys of S3 alone. `lakeward.credentials` has the other stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ICEBERG_TO_LANCE = {
    "s3.access-key-id": "aws_access_key_id",
    "s3.secret-access-key": "aws_secret_access_key",
    "s3.session-token": "aws_session_token",
    "s3.region": "aws_region",
    "client.region": "aws_region",
    "s3.endpoint": "aws_endpoint",
}
_FSSPEC = {"s3.access-key-id": "key", "s3.secret-access-key": "secret", "s3.session-token": "token"}
_FSSPEC_CLIENT = {"s3.endpoint": "endpoint_url", "s3.region": "region_name", "client.region": "region_name"}

Credentials = Iterable[Mapping[str, Any]]


def merged(storage_credentials: Credentials | None, config: Mapping[str, str] | None) -> dict[str, str]:
    """All properties in one: those of the load's `config` hold over those of its credentials."""
    found: dict[str, str] = {}
    for entry in storage_credentials or ():
        found.update({key: str(value) for key, value in (entry.get("config") or {}).items()})
    return {**found, **{key: str(value) for key, value in (config or {}).items()}}


def iceberg_creds_to_lance(
    storage_credentials: Credentials | None = None, config: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Lance's `storage_options`.

    Args:
        storage_credentials: `storage-credentials` of a load.
        config: its `config`.
    """
    told = merged(storage_credentials, config)
    options = {ICEBERG_TO_LANCE[key]: value for key, value in told.items() if key in ICEBERG_TO_LANCE}
    if options.get("aws_endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options


def iceberg_creds_to_fsspec(
    storage_credentials: Credentials | None = None, config: Mapping[str, str] | None = None
) -> dict[str, object]:
    """What `fsspec.filesystem("s3", …)` takes.

    Args:
        storage_credentials: `storage-credentials` of a load.
        config: its `config`.
    """
    told = merged(storage_credentials, config)
    options: dict[str, object] = {name: told[key] for key, name in _FSSPEC.items() if told.get(key)}
    client = {name: told[key] for key, name in _FSSPEC_CLIENT.items() if told.get(key)}
    return {**options, **({"client_kwargs": client} if client else {})}
