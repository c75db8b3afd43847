"""What has to be allowed at each turn of a tabular's life, by its kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_catalog.domain.model import Kind
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind


@dataclasses.dataclass(frozen=True, slots=True)
class Demands:
    """The actions of one kind.

    Attributes:
        objects: what authz calls it.
        create: of the namespace that it is made in or moved to.
        list: of the namespace whose tabulars are listed.
        see: to be told that it is there, and of its metadata.
        data: what a reply about it depends on beside that: how far its files may be reached.
    """

    objects: ObjectKind
    create: Action
    list: Action
    see: Action
    commit: Action
    rename: Action
    drop: Action
    undrop: Action
    protect: Action
    see_tasks: Action
    control_tasks: Action
    data: tuple[Action, ...]


DEMANDS: Final[Mapping[Kind, Demands]] = MappingProxyType(
    {
        Kind.TABLE: Demands(
            objects=ObjectKind.TABLE,
            create=Action.NAMESPACE_CREATE_TABLE,
            list=Action.NAMESPACE_LIST_TABLES,
            see=Action.TABLE_GET_METADATA,
            commit=Action.TABLE_COMMIT,
            rename=Action.TABLE_RENAME,
            drop=Action.TABLE_DROP,
            undrop=Action.TABLE_UNDROP,
            protect=Action.TABLE_SET_PROTECTION,
            see_tasks=Action.TABLE_GET_TASKS,
            control_tasks=Action.TABLE_CONTROL_TASKS,
            data=(Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA),
        ),
        Kind.VIEW: Demands(
            objects=ObjectKind.VIEW,
            create=Action.NAMESPACE_CREATE_VIEW,
            list=Action.NAMESPACE_LIST_VIEWS,
            see=Action.VIEW_GET_METADATA,
            commit=Action.VIEW_COMMIT,
            rename=Action.VIEW_RENAME,
            drop=Action.VIEW_DROP,
            undrop=Action.VIEW_UNDROP,
            protect=Action.VIEW_SET_PROTECTION,
            see_tasks=Action.VIEW_GET_TASKS,
            control_tasks=Action.VIEW_CONTROL_TASKS,
            data=(Action.VIEW_SELECT,),
        ),
        Kind.GENERIC_TABLE: Demands(
            objects=ObjectKind.GENERIC_TABLE,
            create=Action.NAMESPACE_CREATE_GENERIC_TABLE,
            list=Action.NAMESPACE_LIST_GENERIC_TABLES,
            see=Action.GENERIC_TABLE_GET_METADATA,
            commit=Action.GENERIC_TABLE_WRITE_DATA,
            rename=Action.GENERIC_TABLE_RENAME,
            drop=Action.GENERIC_TABLE_DROP,
            undrop=Action.GENERIC_TABLE_UNDROP,
            protect=Action.GENERIC_TABLE_SET_PROTECTION,
            see_tasks=Action.GENERIC_TABLE_GET_TASKS,
            control_tasks=Action.GENERIC_TABLE_CONTROL_TASKS,
            data=(Action.GENERIC_TABLE_READ_DATA, Action.GENERIC_TABLE_WRITE_DATA),
        ),
    }
)
