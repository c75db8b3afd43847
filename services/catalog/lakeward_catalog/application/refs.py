"""What authz calls the catalog's objects."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from uuid import UUID

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


def nobodys_tabular(warehouse: Warehouse, kind: Kind) -> ObjectRef:
    """A tabular that is not there and never will be, to ask about in place of one that was not found.

    How long an answer takes is not to say that there was nothing to decide of.
    """
    return _MAKE[kind](warehouse.project_id, warehouse.warehouse_id, _NOBODYS, namespace_id=_NOBODYS)


def nobodys_namespace(warehouse: Warehouse) -> ObjectRef:
    """A namespace likewise."""
    return ObjectRef.namespace(warehouse.project_id, warehouse.warehouse_id, _NOBODYS, parent_id=None)


_NOBODYS: Final = UUID(int=0)
_MAKE: Final = MappingProxyType(
    {Kind.TABLE: ObjectRef.table, Kind.VIEW: ObjectRef.view, Kind.GENERIC_TABLE: ObjectRef.generic_table}
)
