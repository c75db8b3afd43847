"""From rows to the domain's values. Each list of columns stands beside the function that reads it, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from lakeward_catalog.domain.contracts.contract import stored
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    ManagedBy,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    State,
    Storage,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent

PROJECT: Final = "p.project_id, p.name"
WAREHOUSE: Final = (
    "w.warehouse_id, w.project_id, w.name, w.active, w.storage_profile, w.secret_id, w.credential_kind, w.base_location, "
    "w.place, w.layout, w.schemes, w.client_defaults, w.push_delete_disabled, w.signs_remotely, w.tells_case, "
    "w.restorable_for, w.allowed_format_versions, w.default_format_version, w.protected, w.managed_by, w.contracts, "
    "w.row_version, w.created_at, w.updated_at"
)
NAMESPACE: Final = (
    "n.warehouse_id, n.namespace_id, n.parent_id, n.path, n.properties, n.location, n.protected, n.row_version, "
    "n.created_at"
)
TABULAR: Final = (
    "t.warehouse_id, t.incarnation, t.tabular_id, t.kind, t.state, t.namespace_id, t.name, t.location, t.metadata_id, "
    "t.metadata_location, t.protected, t.row_version, t.created_at, t.expires_at"
)

_KINDS: Final = {kind.value: kind for kind in Kind}
_STATES: Final = {state.value: state for state in State}
_MANAGERS: Final = {manager.value: manager for manager in ManagedBy}
_decode_mapping: Final = msgspec.json.Decoder(dict[str, str]).decode


def project_of(row: Iterable[Any]) -> Project:
    """From the columns of `PROJECT`."""
    project_id, name = row
    return Project(project_id=ProjectId(project_id), name=name)


def warehouse_of(row: Iterable[Any]) -> Warehouse:
    """From the columns of `WAREHOUSE`."""
    (
        warehouse_id,
        project_id,
        name,
        active,
        profile,
        secret_id,
        credential_kind,
        base_location,
        place,
        layout,
        schemes,
        client_defaults,
        push_delete_disabled,
        signs_remotely,
        tells_case,
        restorable_for,
        allowed_format_versions,
        default_format_version,
        protected,
        managed_by,
        contracts,
        row_version,
        created_at,
        updated_at,
    ) = row
    return Warehouse(
        warehouse_id=WarehouseId(warehouse_id),
        project_id=ProjectId(project_id),
        name=name,
        active=active,
        storage=Storage(
            profile=profile.encode(),
            secret_id=secret_id,
            credential_kind=credential_kind,
            base_location=base_location,
            place=place,
            layout=layout.encode(),
            schemes=tuple(schemes),
            client_defaults=_decode_mapping(client_defaults),
            push_delete_disabled=push_delete_disabled,
            signs_remotely=signs_remotely,
            tells_case=tells_case,
        ),
        restorable_for=restorable_for,
        allowed_format_versions=tuple(allowed_format_versions),
        default_format_version=default_format_version,
        protected=protected,
        managed_by=_MANAGERS[managed_by],
        contracts=() if contracts is None else stored(contracts),
        row_version=row_version,
        created_at=created_at,
        updated_at=updated_at,
    )


def namespace_of(row: Iterable[Any]) -> Namespace:
    """From the columns of `NAMESPACE`."""
    warehouse_id, namespace_id, parent_id, path, properties, location, protected, row_version, created_at = row
    return Namespace(
        warehouse_id=WarehouseId(warehouse_id),
        namespace_id=NamespaceId(namespace_id),
        parent_id=None if parent_id is None else NamespaceId(parent_id),
        ident=NamespaceIdent(tuple(path)),
        properties=_decode_mapping(properties),
        location=location,
        protected=protected,
        row_version=row_version,
        created_at=created_at,
    )


def tabular_of(row: Iterable[Any], path: Sequence[str]) -> Tabular:
    """From the columns of `TABULAR` and the stored path of its namespace."""
    return located_tabular(NamespaceIdent(tuple(path)), *row)


def tabular_with_path(row: Iterable[Any]) -> Tabular:
    """From the columns of `TABULAR` followed by `n.path`."""
    *columns, path = row
    return located_tabular(NamespaceIdent(tuple(path)), *columns)


def located_tabular(  # noqa: PLR0913, PLR0917 - a namespace's path and the columns of `TABULAR`; positional, as it runs for every load
    namespace: NamespaceIdent,
    warehouse_id: UUID,
    incarnation: UUID,
    tabular_id: UUID,
    kind: str,
    state: str,
    namespace_id: UUID,
    name: str,
    location: str,
    metadata_id: UUID,
    metadata_location: str | None,
    protected: bool,  # noqa: FBT001 - the order of a row
    row_version: int,
    created_at: datetime,
    expires_at: datetime | None,
) -> Tabular:
    """A tabular from its columns."""
    return Tabular(
        WarehouseId(warehouse_id),
        Incarnation(incarnation),
        TabularId(tabular_id),
        _KINDS[kind],
        _STATES[state],
        NamespaceId(namespace_id),
        TabularIdent(namespace, name),
        location,
        MetadataId(metadata_id),
        metadata_location,
        protected,
        row_version,
        created_at,
        expires_at,
    )


def encode_mapping(mapping: Mapping[str, str]) -> str:
    """JSON for a column of type json."""
    return msgspec.json.encode(dict(mapping)).decode()


def searchable(text: str) -> str:
    """A key that can be sent to Postgres: one that can't be stored is nobody's, and becomes "", which is nobody's either.

    One caller's NUL would otherwise fail the statement that answers other callers too.
    """
    if text.isascii():
        return "" if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        return ""
    return "" if "\0" in text else text
