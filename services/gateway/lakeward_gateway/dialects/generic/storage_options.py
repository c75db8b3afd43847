"""Credentials in the names that libraries over Rust's object stores read: Lance, deltalake, obstore, Polars.

What Iceberg's clients are told stands in `storage-credentials`; here the same is said in the other words, and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_SAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        "s3.access-key-id": "aws_access_key_id",
        "s3.secret-access-key": "aws_secret_access_key",
        "s3.session-token": "aws_session_token",
        "s3.region": "aws_region",
        "s3.endpoint": "aws_endpoint",
        "s3.sse.key": "aws_sse_kms_key_id",
        "gcs.oauth2.token": "google_bearer_token",
    }
)
_SAS: Final = "adls.sas-token."
_PUBLIC_HOST: Final = "dfs.core.windows.net"
_FABRIC: Final = "dfs.fabric.microsoft.com"


def storage_options(config: Mapping[str, str]) -> dict[str, str]:
    """One credential's properties, in the names of object stores; what they have no name for is left out."""
    options = {name: config[key] for key, name in _SAME.items() if config.get(key)}
    endpoint = config.get("s3.endpoint", "")
    if endpoint.startswith("http://"):
        options["allow_http"] = "true"
    if config.get("s3.path-style-access") == "true":
        options["aws_virtual_hosted_style_request"] = "false"
    if config.get("s3.sse.type") == "kms":
        options["aws_server_side_encryption"] = "aws:kms"
    for key, token in config.items():
        if key.startswith(_SAS):
            options |= _azure(key.removeprefix(_SAS), token)
    return options


def _azure(host: str, token: str) -> dict[str, str]:
    """Of "account.host"; the account stands in no key of its own."""
    account, _, domain = host.partition(".")
    options = {"azure_storage_account_name": account, "azure_storage_sas_token": token.removeprefix("?")}
    if domain == _FABRIC:
        options["azure_use_fabric_endpoint"] = "true"
    elif domain and domain != _PUBLIC_HOST:
        options["azure_storage_endpoint"] = f"https://{account}.{domain.replace('dfs.', 'blob.', 1)}"
    return options
