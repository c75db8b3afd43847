"""Ids and paths from messages: refused here, once; behind this line they can't be wrong."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from lakeward_catalog.domain.model import Kind, NamespaceId, TabularId, TabularKey, WarehouseId
from lakeward_catalog.domain.names import MAX_DEPTH, MAX_NAME_BYTES, NamespaceIdent, TabularIdent
from lakeward_protocol.catalog.v1 import tabulars_pb2, types_pb2
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.remembering import remembered


@remembered(entries=4096, longest=64)
def warehouse_id(text: str) -> WarehouseId:
    """A warehouse's id.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return WarehouseId(UUID(text))
    except ValueError:
        raise invalid_field("warehouse_id", text, "a warehouse's id, which is a UUID") from None


def namespace_id(text: str) -> NamespaceId:
    """A namespace's id.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return NamespaceId(UUID(text))
    except ValueError:
        raise invalid_field("namespace_id", text, "a namespace's id, which is a UUID") from None


def tabular_id(text: str) -> TabularId:
    """A tabular's public id.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        return TabularId(UUID(text))
    except ValueError:
        raise invalid_field("tabular_id", text, "a table's or view's id, which is a UUID") from None


_KINDS: Final = {
    tabulars_pb2.TABULAR_KIND_TABLE: Kind.TABLE,
    tabulars_pb2.TABULAR_KIND_VIEW: Kind.VIEW,
    tabulars_pb2.TABULAR_KIND_GENERIC_TABLE: Kind.GENERIC_TABLE,
}


def tabular_key(message: tabulars_pb2.TabularRef) -> TabularKey:
    """A tabular by its kind and its public id.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return TabularKey(tabular_kind(message.kind), tabular_id(message.tabular_id))


def tabular_kind(value: tabulars_pb2.TabularKind.ValueType) -> Kind:
    """A kind of tabulars.

    Raises:
        Refusal: INVALID_FIELD.
    """
    kind = _KINDS.get(value)
    if kind is None:
        raise invalid_field("kind", value, "the kind of a table, a view or a generic table")
    return kind


_remembered_path = remembered(entries=16384, longest=MAX_DEPTH * (MAX_NAME_BYTES + 1))(NamespaceIdent.of)


def _path(message: types_pb2.NamespaceIdent) -> NamespaceIdent:
    parts = tuple(message.parts)
    return _remembered_path(parts) if len(parts) <= MAX_DEPTH else NamespaceIdent.of(parts)


def namespace_ident(message: types_pb2.NamespaceIdent) -> NamespaceIdent:
    """A namespace's path.

    Raises:
        Refusal: NAMESPACE_TOO_DEEP, NAMESPACE_PART_EMPTY, NAMESPACE_PART_CONTAINS_DOT, INVALID_NAMESPACE.
    """
    return _path(message)


def tabular_ident(message: types_pb2.TabularIdent) -> TabularIdent:
    """A tabular's path; a name that nothing can have is only not found.

    Raises:
        Refusal: as `namespace_ident`.
    """
    return TabularIdent(_path(message.namespace), message.name)
