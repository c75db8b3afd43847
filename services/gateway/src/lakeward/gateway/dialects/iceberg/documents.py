"""Bodies of the Iceberg API: classes for those that are read here, schemas for those that pass through to the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec


class TableIdentifier(msgspec.Struct, frozen=True):
    """A table or view by its path."""

    namespace: list[str]
    name: str


class CreateNamespaceRequest(msgspec.Struct, frozen=True):
    """A new namespace."""

    namespace: list[str]
    properties: dict[str, str] | None = None


class UpdateNamespacePropertiesRequest(msgspec.Struct, frozen=True):
    """A change of a namespace's properties."""

    removals: list[str] | None = None
    updates: dict[str, str] | None = None


class RegisterTableRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A metadata file to take as a table."""

    name: str
    metadata_location: str
    overwrite: bool | None = None


class RenameTableRequest(msgspec.Struct, frozen=True):
    """Another name for a table or view."""

    source: TableIdentifier
    destination: TableIdentifier


class RemoteSignRequest(msgspec.Struct, frozen=True):
    """A request to an object store that its sender has no credential for."""

    region: str
    uri: str
    method: str
    headers: dict[str, list[str]]
    properties: dict[str, str] | None = None
    body: str | None = None
    provider: str | None = None


class RemoteSignResult(msgspec.Struct, frozen=True):
    """The request, signed."""

    uri: str
    headers: dict[str, list[str]]


class CatalogConfig(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What a client needs to start."""

    defaults: dict[str, str]
    overrides: dict[str, str]
    endpoints: list[str]
    idempotency_key_lifetime: Annotated[str, msgspec.Meta(extra_json_schema={"format": "duration"})] | None = None


class GetNamespaceResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A namespace."""

    namespace: list[str]
    properties: dict[str, str]
    namespace_uuid: str | None = None


class CreateNamespaceResponse(msgspec.Struct, frozen=True):
    """The namespace that was made."""

    namespace: list[str]
    properties: dict[str, str]


class UpdateNamespacePropertiesResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changed."""

    updated: list[str]
    removed: list[str]
    missing: list[str] | None = None


class ListNamespacesResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A page of namespaces."""

    namespaces: list[list[str]]
    namespace_uuids: list[str] | None = None
    protection_status: list[bool] | None = None
    next_page_token: str | None = None


class ListTablesResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A page of tables or views."""

    identifiers: list[TableIdentifier]
    table_uuids: list[str] | None = None
    protection_status: list[bool] | None = None
    next_page_token: str | None = None


class StorageCredential(msgspec.Struct, frozen=True):
    """A credential for what lies below a prefix."""

    prefix: str
    config: dict[str, str]


class LoadCredentialsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Access to a table's files."""

    storage_credentials: list[StorageCredential]


_STRINGS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": {"type": "string"}}
_OBJECTS: Final[Mapping[str, Any]] = {"type": "array", "items": {"type": "object"}}
_IDENTIFIER: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {"namespace": {"type": "array", "items": {"type": "string"}}, "name": {"type": "string"}},
}
_FIELDS: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "name", "type", "required"],
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "type": {"description": "A primitive type's name, or a struct, list or map."},
            "required": {"type": "boolean"},
            "doc": {"type": "string"},
        },
    },
}
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["type", "fields"],
    "properties": {
        "type": {"type": "string", "enum": ["struct"]},
        "fields": _FIELDS,
        "schema-id": {"type": "integer"},
        "identifier-field-ids": {"type": "array", "items": {"type": "integer"}},
    },
}
_UPDATES: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {"type": "object", "required": ["action"], "properties": {"action": {"type": "string"}}},
}
_REQUIREMENTS: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}},
}

CREATE_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "schema"],
    "properties": {
        "name": {"type": "string"},
        "location": {"type": "string"},
        "schema": _SCHEMA,
        "partition-spec": {"type": "object", "required": ["fields"], "properties": {"fields": _OBJECTS}},
        "write-order": {
            "type": "object",
            "required": ["order-id", "fields"],
            "properties": {"order-id": {"type": "integer"}, "fields": _OBJECTS},
        },
        "stage-create": {"type": "boolean"},
        "properties": _STRINGS,
    },
}
COMMIT_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["requirements", "updates"],
    "properties": {"identifier": _IDENTIFIER, "requirements": _REQUIREMENTS, "updates": _UPDATES},
}
COMMIT_TRANSACTION: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["table-changes"],
    "properties": {
        "table-changes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["identifier", "requirements", "updates"],
                "properties": {"identifier": _IDENTIFIER, "requirements": _REQUIREMENTS, "updates": _UPDATES},
            },
        }
    },
}
CREATE_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "schema", "view-version", "properties"],
    "properties": {
        "name": {"type": "string"},
        "location": {"type": "string"},
        "schema": _SCHEMA,
        "view-version": {
            "type": "object",
            "required": ["version-id", "timestamp-ms", "schema-id", "summary", "representations", "default-namespace"],
            "properties": {
                "version-id": {"type": "integer"},
                "timestamp-ms": {"type": "integer"},
                "schema-id": {"type": "integer"},
                "summary": _STRINGS,
                "representations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["type", "sql", "dialect"],
                        "properties": {
                            "type": {"type": "string", "enum": ["sql"]},
                            "sql": {"type": "string"},
                            "dialect": {"type": "string"},
                        },
                    },
                },
                "default-catalog": {"type": "string"},
                "default-namespace": {"type": "array", "items": {"type": "string"}},
            },
        },
        "properties": _STRINGS,
    },
}
COMMIT_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["updates"],
    "properties": {"identifier": _IDENTIFIER, "requirements": _REQUIREMENTS, "updates": _UPDATES},
}
REPORT_METRICS: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["report-type"],
    "properties": {"report-type": {"type": "string", "enum": ["scan-report", "commit-report"]}},
}
LOADED_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata"],
    "properties": {
        "metadata-location": {"type": ["string", "null"]},
        "metadata": {"type": "object"},
        "config": _STRINGS,
        "storage-credentials": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["prefix", "config"],
                "properties": {"prefix": {"type": "string"}, "config": _STRINGS},
            },
        },
    },
}
LOADED_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata-location", "metadata"],
    "properties": {
        "metadata-location": {"type": "string"},
        "metadata": {"type": "object"},
        "config": _STRINGS,
    },
}
COMMITTED_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata-location", "metadata"],
    "properties": {"metadata-location": {"type": "string"}, "metadata": {"type": "object"}},
}
