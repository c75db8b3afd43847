"""The public names of pylakekeeper 0.4, over this client: to move, import from here instead.

    from lakeward.compat import Client, StaticToken

Calls, attributes and errors are as they were there, a drop that deletes the files included; what they rest on is this client,
with its repetitions, bounds and idempotency keys. A client's `lake` is the one beneath, for whatever is not here.
"""

from __future__ import annotations

from lakeward.compat.auth import (
    Auth,
    AuthorizationCodeFlow,
    ClientCredentials,
    DeviceCodeFlow,
    DeviceCodePrompt,
    StaticToken,
)
from lakeward.compat.client import Client
from lakeward.compat.errors import (
    AuthError,
    ConfigError,
    ConflictError,
    LakekeeperError,
    LakekeeperHTTPError,
    NotFoundError,
)
from lakeward.compat.formats import GenericTableFormat
from lakeward.compat.lance import ICEBERG_TO_LANCE, iceberg_creds_to_fsspec, iceberg_creds_to_lance
from lakeward.compat.models import (
    GenericTableData,
    GenericTableIdentifier,
    ListGenericTablesResponse,
    LoadGenericTableResponse,
    StorageCredential,
)
from lakeward.compat.objects import ObjectStore, object_store_for
from lakeward.compat.url import encode_namespace, join_namespace, parse_namespace

__all__ = [
    "ICEBERG_TO_LANCE",
    "Auth",
    "AuthError",
    "AuthorizationCodeFlow",
    "Client",
    "ClientCredentials",
    "ConfigError",
    "ConflictError",
    "DeviceCodeFlow",
    "DeviceCodePrompt",
    "GenericTableData",
    "GenericTableFormat",
    "GenericTableIdentifier",
    "LakekeeperError",
    "LakekeeperHTTPError",
    "ListGenericTablesResponse",
    "LoadGenericTableResponse",
    "NotFoundError",
    "ObjectStore",
    "StaticToken",
    "StorageCredential",
    "encode_namespace",
    "iceberg_creds_to_fsspec",
    "iceberg_creds_to_lance",
    "join_namespace",
    "object_store_for",
    "parse_namespace",
]
