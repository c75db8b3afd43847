"""What authz calls the catalog's objects."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_catalog.domain.model import Kind, Namespace, Tabular, Warehouse
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef

OBJECT_KINDS: Final[Mapping[Kind, ObjectKind]] = MappingProxyType(
    {Kind.TABLE: ObjectKind.TABLE, Kind.VIEW: ObjectKind.VIEW, Kind.GENERIC_TABLE: ObjectKind.GENERIC_TABLE}
)


def warehouse_ref(warehouse: Warehouse) -> ObjectRef:
    """The warehouse, as authz knows it."""
    return ObjectRef.warehouse(warehouse.project_id, warehouse.warehouse_id)


def namespace_ref(warehouse: Warehouse, namespace: Namespace) -> ObjectRef:
    """The namespace, as authz knows it."""
    return ObjectRef.namespace(
        warehouse.project_id, warehouse.warehouse_id, namespace.namespace_id, parent_id=namespace.parent_id
    )


def tabular_ref(warehouse: Warehouse, tabular: Tabular) -> ObjectRef:
    """The tabular, as authz knows it."""
    return _MAKE[tabular.kind](
        warehouse.project_id, warehouse.warehouse_id, tabular.incarnation, namespace_id=tabular.namespace_id
    )


_MAKE: Final = MappingProxyType(
    {Kind.TABLE: ObjectRef.table, Kind.VIEW: ObjectRef.view, Kind.GENERIC_TABLE: ObjectRef.generic_table}
)
