"""What can be done to an object, and which action of a kind is to see it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_protocol.authz.v1 import principals_pb2 as pb
from lakeward_servicekit.authorization.objects import ObjectKind


class Action(enum.IntEnum):
    """Actions, by the kind of object they are taken on; the numbers are the contract's, which says what each means."""

    SERVER_CREATE_PROJECT = pb.ACTION_SERVER_CREATE_PROJECT

    PROJECT_CREATE_WAREHOUSE = pb.ACTION_PROJECT_CREATE_WAREHOUSE
    PROJECT_LIST_WAREHOUSES = pb.ACTION_PROJECT_LIST_WAREHOUSES
    PROJECT_GET_METADATA = pb.ACTION_PROJECT_GET_METADATA
    PROJECT_RENAME = pb.ACTION_PROJECT_RENAME
    PROJECT_DELETE = pb.ACTION_PROJECT_DELETE

    WAREHOUSE_USE = pb.ACTION_WAREHOUSE_USE
    WAREHOUSE_GET_CONFIG = pb.ACTION_WAREHOUSE_GET_CONFIG
    WAREHOUSE_GET_METADATA = pb.ACTION_WAREHOUSE_GET_METADATA
    WAREHOUSE_RENAME = pb.ACTION_WAREHOUSE_RENAME
    WAREHOUSE_ACTIVATE = pb.ACTION_WAREHOUSE_ACTIVATE
    WAREHOUSE_DEACTIVATE = pb.ACTION_WAREHOUSE_DEACTIVATE
    WAREHOUSE_DELETE = pb.ACTION_WAREHOUSE_DELETE
    WAREHOUSE_MODIFY_STORAGE = pb.ACTION_WAREHOUSE_MODIFY_STORAGE
    WAREHOUSE_MODIFY_STORAGE_CREDENTIAL = pb.ACTION_WAREHOUSE_MODIFY_STORAGE_CREDENTIAL
    WAREHOUSE_LIST_NAMESPACES = pb.ACTION_WAREHOUSE_LIST_NAMESPACES
    WAREHOUSE_CREATE_NAMESPACE = pb.ACTION_WAREHOUSE_CREATE_NAMESPACE
    WAREHOUSE_LIST_EVERYTHING = pb.ACTION_WAREHOUSE_LIST_EVERYTHING
    WAREHOUSE_INCLUDE_IN_LIST = pb.ACTION_WAREHOUSE_INCLUDE_IN_LIST
    WAREHOUSE_SET_PROTECTION = pb.ACTION_WAREHOUSE_SET_PROTECTION

    NAMESPACE_GET_METADATA = pb.ACTION_NAMESPACE_GET_METADATA
    NAMESPACE_LIST_NAMESPACES = pb.ACTION_NAMESPACE_LIST_NAMESPACES
    NAMESPACE_CREATE_NAMESPACE = pb.ACTION_NAMESPACE_CREATE_NAMESPACE
    NAMESPACE_UPDATE_PROPERTIES = pb.ACTION_NAMESPACE_UPDATE_PROPERTIES
    NAMESPACE_DELETE = pb.ACTION_NAMESPACE_DELETE
    NAMESPACE_LIST_TABLES = pb.ACTION_NAMESPACE_LIST_TABLES
    NAMESPACE_LIST_VIEWS = pb.ACTION_NAMESPACE_LIST_VIEWS
    NAMESPACE_CREATE_TABLE = pb.ACTION_NAMESPACE_CREATE_TABLE
    NAMESPACE_CREATE_VIEW = pb.ACTION_NAMESPACE_CREATE_VIEW
    NAMESPACE_LIST_EVERYTHING = pb.ACTION_NAMESPACE_LIST_EVERYTHING
    NAMESPACE_INCLUDE_IN_LIST = pb.ACTION_NAMESPACE_INCLUDE_IN_LIST
    NAMESPACE_SET_PROTECTION = pb.ACTION_NAMESPACE_SET_PROTECTION

    TABLE_GET_METADATA = pb.ACTION_TABLE_GET_METADATA
    TABLE_READ_DATA = pb.ACTION_TABLE_READ_DATA
    TABLE_WRITE_DATA = pb.ACTION_TABLE_WRITE_DATA
    TABLE_COMMIT = pb.ACTION_TABLE_COMMIT
    TABLE_DROP = pb.ACTION_TABLE_DROP
    TABLE_RENAME = pb.ACTION_TABLE_RENAME
    TABLE_INCLUDE_IN_LIST = pb.ACTION_TABLE_INCLUDE_IN_LIST
    TABLE_SET_PROTECTION = pb.ACTION_TABLE_SET_PROTECTION

    VIEW_GET_METADATA = pb.ACTION_VIEW_GET_METADATA
    VIEW_COMMIT = pb.ACTION_VIEW_COMMIT
    VIEW_DROP = pb.ACTION_VIEW_DROP
    VIEW_RENAME = pb.ACTION_VIEW_RENAME
    VIEW_INCLUDE_IN_LIST = pb.ACTION_VIEW_INCLUDE_IN_LIST
    VIEW_SELECT = pb.ACTION_VIEW_SELECT
    VIEW_SET_PROTECTION = pb.ACTION_VIEW_SET_PROTECTION

    @property
    def kind(self) -> ObjectKind:
        """What it is done to."""
        return KIND_OF[self]

    @property
    def word(self) -> str:
        """As failures say it, without the kind: "read_data"."""
        return self.name.partition("_")[2].lower()


KIND_OF: Final[Mapping[Action, ObjectKind]] = MappingProxyType(
    {action: ObjectKind[action.name.partition("_")[0]] for action in Action}
)
# To see a thing is to be allowed this one. Who may not see it gets the answer of an absent thing to whatever they ask. The
# server is never absent: its line says who sees that there is something to be done, and all others are refused as forbidden.
SEEING: Final[Mapping[ObjectKind, Action]] = MappingProxyType(
    {
        ObjectKind.SERVER: Action.SERVER_CREATE_PROJECT,
        ObjectKind.PROJECT: Action.PROJECT_GET_METADATA,
        ObjectKind.WAREHOUSE: Action.WAREHOUSE_USE,
        ObjectKind.NAMESPACE: Action.NAMESPACE_GET_METADATA,
        ObjectKind.TABLE: Action.TABLE_GET_METADATA,
        ObjectKind.VIEW: Action.VIEW_GET_METADATA,
    }
)
# Actions that reach what files hold. Administrators of the instance do not pass these by being such.
DATA: Final = frozenset({Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA, Action.VIEW_SELECT})
