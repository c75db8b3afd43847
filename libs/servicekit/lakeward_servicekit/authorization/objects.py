"""What authz answers questions about."""

from __future__ import annotations

import enum
import functools
from typing import Final, Self
from uuid import UUID

import msgspec

from lakeward_protocol.authz.v1 import principals_pb2 as pb

# Formatting a UUID costs a microsecond, and the same warehouses are asked about again and again.
_text = functools.lru_cache(maxsize=4096)(str)


class ObjectKind(enum.IntEnum):
    """Kinds of objects; the numbers are the contract's."""

    SERVER = pb.OBJECT_KIND_SERVER
    PROJECT = pb.OBJECT_KIND_PROJECT
    WAREHOUSE = pb.OBJECT_KIND_WAREHOUSE
    NAMESPACE = pb.OBJECT_KIND_NAMESPACE
    TABLE = pb.OBJECT_KIND_TABLE
    VIEW = pb.OBJECT_KIND_VIEW
    GENERIC_TABLE = pb.OBJECT_KIND_GENERIC_TABLE
    ROLE = pb.OBJECT_KIND_ROLE
    TAG = pb.OBJECT_KIND_TAG

    @property
    def word(self) -> str:
        """As failures and the permission model say it: "table", "generic_table"."""
        return self.name.lower()


class ObjectRef(msgspec.Struct, frozen=True, gc=False):
    """An object, with the containers that a decision may need. Made by the functions below, which know what a kind needs.

    Ids are held as they travel, so that asking converts nothing, and this is a Struct since several are made for every
    request: a frozen dataclass takes ten times as long.

    Attributes:
        project_id: "" for the server alone.
        warehouse_id: the UUID's text; "" above warehouses.
        id: a namespace's, a role's or a tag's UUID, or a tabular's incarnation, 16 bytes; empty for the others.
        parent_id: the namespace that holds it, 16 bytes; empty at the top level and above.
    """

    kind: ObjectKind
    project_id: str = ""
    warehouse_id: str = ""
    id: bytes = b""
    parent_id: bytes = b""

    @classmethod
    def project(cls, project_id: str) -> Self:
        """A project."""
        return cls(ObjectKind.PROJECT, project_id)

    @classmethod
    def warehouse(cls, project_id: str, warehouse_id: UUID) -> Self:
        """A warehouse of a project."""
        return cls(ObjectKind.WAREHOUSE, project_id, _text(warehouse_id))

    @classmethod
    def namespace(cls, project_id: str, warehouse_id: UUID, namespace_id: UUID, *, parent_id: UUID | None) -> Self:
        """A namespace; `parent_id` is None at the top level."""
        parent = b"" if parent_id is None else parent_id.bytes
        return cls(ObjectKind.NAMESPACE, project_id, _text(warehouse_id), namespace_id.bytes, parent)

    @classmethod
    def table(cls, project_id: str, warehouse_id: UUID, incarnation: UUID, *, namespace_id: UUID) -> Self:
        """A table, by its incarnation."""
        return cls(ObjectKind.TABLE, project_id, _text(warehouse_id), incarnation.bytes, namespace_id.bytes)

    @classmethod
    def view(cls, project_id: str, warehouse_id: UUID, incarnation: UUID, *, namespace_id: UUID) -> Self:
        """A view, by its incarnation."""
        return cls(ObjectKind.VIEW, project_id, _text(warehouse_id), incarnation.bytes, namespace_id.bytes)

    @classmethod
    def generic_table(cls, project_id: str, warehouse_id: UUID, incarnation: UUID, *, namespace_id: UUID) -> Self:
        """A generic table, by its incarnation."""
        return cls(ObjectKind.GENERIC_TABLE, project_id, _text(warehouse_id), incarnation.bytes, namespace_id.bytes)

    @classmethod
    def role(cls, project_id: str, role_id: UUID) -> Self:
        """A role of a project."""
        return cls(ObjectKind.ROLE, project_id, id=role_id.bytes)

    @classmethod
    def tag(cls, project_id: str, tag_id: UUID) -> Self:
        """A tag of a project, by its definition."""
        return cls(ObjectKind.TAG, project_id, id=tag_id.bytes)


SERVER: Final = ObjectRef(ObjectKind.SERVER)
