"""Bodies of the generic-table API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lakeward_gateway.dialects.generic.storage_options import storage_options
from lakeward_gateway.dialects.iceberg.replies import credentials_document
from lakeward_protocol.catalog.v1 import generic_tables_pb2

_STRINGS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": {"type": "string"}}
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_TEXT_OR_NULL: Final[Mapping[str, Any]] = {"type": ["string", "null"]}
_CREDENTIALS: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["prefix", "config"],
        "properties": {"prefix": _TEXT, "config": _STRINGS},
    },
}
_MOMENT: Final[Mapping[str, Any]] = {"type": "integer", "description": "Milliseconds since the epoch."}

CREATE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "format"],
    "properties": {
        "name": _TEXT,
        "format": {"type": "string", "description": 'Opaque, as "lance" or "delta".'},
        "base-location": _TEXT_OR_NULL,
        "doc": _TEXT_OR_NULL,
        "properties": _STRINGS,
        "schema": {},
        "statistics": {},
    },
}
UPDATE: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "set-properties": _STRINGS,
        "remove-properties": {"type": "array", "items": _TEXT},
        "doc": {"type": ["string", "null"], "description": "null takes it away, as for schema and statistics."},
        "schema": {},
        "statistics": {},
    },
}
LOADED: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["table"],
    "properties": {
        "table": {
            "type": "object",
            "required": ["name", "format", "base-location", "protected"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "name": _TEXT,
                "format": _TEXT,
                "base-location": _TEXT,
                "doc": _TEXT_OR_NULL,
                "properties": _STRINGS,
                "schema": {},
                "statistics": {},
                "protected": {"type": "boolean"},
                "registered": {
                    "type": "boolean",
                    "description": "Files lay at its location before it; a drop keeps them unless purgeRequested=true is said.",
                },
            },
        },
        "location": {"type": "string", "description": "The table's base location."},
        "config": _STRINGS,
        "storage-credentials": _CREDENTIALS,
        "expires-at-ms": _MOMENT,
    },
}
CREDENTIALS: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["storage-credentials"],
    "properties": {
        "storage-credentials": _CREDENTIALS,
        "storage-options": {**_STRINGS, "description": "The same, in the names of object-store libraries."},
        "expires-at-ms": _MOMENT,
    },
}


class GenericTableIdentifier(msgspec.Struct, frozen=True):
    """A generic table in a listing."""

    namespace: list[str]
    name: str
    id: str
    format: str


class ListGenericTablesResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A page of generic tables."""

    identifiers: list[GenericTableIdentifier]
    next_page_token: str | None = None


def loaded_document(loaded: generic_tables_pb2.LoadedGenericTable) -> dict[str, Any]:
    """A generic table, and access to its files."""
    table = loaded.table
    shown: dict[str, Any] = {
        "id": table.tabular_id,
        "name": table.ident.name,
        "format": table.format,
        "base-location": table.location,
        "properties": dict(table.properties),
        "protected": table.protected,
        "registered": table.registered,
    }
    if table.HasField("doc"):
        shown["doc"] = table.doc
    if table.schema:
        shown["schema"] = msgspec.Raw(table.schema)
    if table.statistics:
        shown["statistics"] = msgspec.Raw(table.statistics)
    document: dict[str, Any] = {"table": shown, "location": table.location}
    if loaded.has_config:
        document["config"] = dict(loaded.config)
        vended = [credentials_document(entry) for entry in loaded.storage_credentials if entry.config]
        if vended:
            document["storage-credentials"] = vended
        if loaded.HasField("expires_at"):
            document["expires-at-ms"] = loaded.expires_at.ToMilliseconds()
    return document


def credentials_reply(response: generic_tables_pb2.LoadGenericTableCredentialsResponse) -> dict[str, Any]:
    """Access to a generic table's files alone."""
    vended = [credentials_document(entry) for entry in response.storage_credentials if entry.config]
    document: dict[str, Any] = {"storage-credentials": vended}
    for entry in response.storage_credentials:  # one, for the table's location
        document["storage-options"] = storage_options(entry.config)
    if response.HasField("expires_at"):
        document["expires-at-ms"] = response.expires_at.ToMilliseconds()
    return document
