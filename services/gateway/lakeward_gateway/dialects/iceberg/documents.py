"""Bodies of the Iceberg API that are read or made here."""

from __future__ import annotations

from typing import Annotated

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
