"""What the management API gives rights on, and the words it has for what is done to each.

An action has one name in the permission model; the public API says it in three vocabularies, which agree but for what stands
here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_protocol.authz.v1 import grants_pb2, principals_pb2


@dataclasses.dataclass(frozen=True, slots=True)
class Level:
    """A kind of object.

    Attributes:
        noun: as paths have it: "generic-table".
        title: as names of schemas have it: "GenericTable".
        operation: as ids of operations have it: "generic_table".
        kind: as authz has it.
        privileges: what can be given on it.
        catalog: what is done to it, as `…/actions` says it.
        authorizer: what is done to its grants, as `…/authorizer-actions` says it.
        access: both, as the older `…/access` and `/permissions/check` say it.
    """

    noun: str
    title: str
    operation: str
    kind: principals_pb2.ObjectKind.ValueType
    privileges: Sequence[str]
    catalog: Sequence[str] = ()
    authorizer: Sequence[str] = ()
    access: Sequence[str] = ()

    def named(self, *arguments: str, of_this_project: bool = False) -> grants_pb2.ObjectName:
        """An object of it, by what a path says: nothing, its own id, or its warehouse's and its own."""
        name = grants_pb2.ObjectName(kind=self.kind, of_this_project=of_this_project)
        match self.kind, arguments:
            case _, ():
                pass
            case principals_pb2.OBJECT_KIND_PROJECT, (project_id,):
                name.project_id = project_id
            case principals_pb2.OBJECT_KIND_WAREHOUSE, (warehouse_id,):
                name.warehouse_id = warehouse_id
            case _, (own,):
                name.id = own
            case _, (warehouse_id, own):
                name.warehouse_id, name.id = warehouse_id, own
            case _:
                raise AssertionError(arguments)
        return name


def _words(*lines: str) -> Sequence[str]:
    return tuple(" ".join(lines).split())


_GRANT_RIGHTS: Final = (
    "grant_pass_grants grant_manage_grants grant_manage_tags grant_describe grant_select grant_modify"
)
_CONTAINER_RIGHTS: Final = f"read_assignments grant_create {_GRANT_RIGHTS}"
_TABULAR_RIGHTS: Final = f"read_assignments {_GRANT_RIGHTS} change_ownership"
_PROJECT_RIGHTS: Final = (
    "read_assignments grant_role_creator grant_tag_creator grant_create grant_describe grant_modify grant_select"
    " grant_project_admin grant_security_admin grant_data_admin"
)
_CONTAINER_PRIVILEGES: Final = _words("ownership pass_grants manage_grants describe select create modify manage_tags")
_TABULAR_PRIVILEGES: Final = _words("ownership pass_grants manage_grants describe select modify manage_tags")
_TABULAR_ACTIONS: Final = "rename include_in_list undrop get_tasks control_tasks set_protection manage_tags read_grants"

SERVER: Final = Level(
    "server",
    "Server",
    "server",
    principals_pb2.OBJECT_KIND_SERVER,
    ("admin", "operator"),
    _words("create_project update_users delete_users list_users provision_users read_grants"),
    _words("read_assignments grant_admin"),
    _words("create_project update_users delete_users list_users grant_admin provision_users read_assignments"),
)
PROJECT: Final = Level(
    "project",
    "Project",
    "project",
    principals_pb2.OBJECT_KIND_PROJECT,
    _words("project_admin security_admin data_admin role_creator tag_creator describe select create modify"),
    _words(
        "create_warehouse delete rename get_metadata list_warehouses include_in_list create_role list_roles search_roles",
        "get_endpoint_statistics modify_task_queue_config get_task_queue_config get_project_tasks control_project_tasks",
        "create_tag list_tags read_grants",
    ),
    _words(_PROJECT_RIGHTS),
    _words(
        "create_warehouse delete rename list_warehouses create_role list_roles search_roles get_endpoint_statistics",
        _PROJECT_RIGHTS,
    ),
)
WAREHOUSE: Final = Level(
    "warehouse",
    "Warehouse",
    "warehouse",
    principals_pb2.OBJECT_KIND_WAREHOUSE,
    _CONTAINER_PRIVILEGES,
    _words(
        "create_namespace delete update_storage get_metadata get_config list_namespaces list_everything use include_in_list",
        "deactivate activate rename list_deleted_tabulars modify_soft_deletion get_task_queue_config",
        "modify_task_queue_config get_all_tasks control_all_tasks set_protection set_format_version_policy",
        "get_endpoint_statistics manage_tags accept_moved_namespace read_grants",
    ),
    _words(_CONTAINER_RIGHTS, "change_ownership"),
    _words(
        "create_namespace accept_moved_namespace delete modify_storage modify_storage_credential get_config get_metadata",
        "list_namespaces include_in_list deactivate activate rename list_deleted_tabulars",
        _CONTAINER_RIGHTS,
        "change_ownership get_all_tasks control_all_tasks set_protection set_format_version_policy get_endpoint_statistics",
    ),
)
NAMESPACE: Final = Level(
    "namespace",
    "Namespace",
    "namespace",
    principals_pb2.OBJECT_KIND_NAMESPACE,
    _CONTAINER_PRIVILEGES,
    _words(
        "create_table create_view create_namespace delete update_properties get_metadata list_tables list_views",
        "list_namespaces list_everything set_protection include_in_list create_generic_table list_generic_tables",
        "manage_tags move accept_moved_namespace read_grants",
    ),
    _words(_CONTAINER_RIGHTS),
    _words(
        "create_table create_view create_generic_table create_namespace delete move accept_moved_namespace",
        "update_properties get_metadata",
        _CONTAINER_RIGHTS,
        "set_protection",
    ),
)
TABLE: Final = Level(
    "table",
    "Table",
    "table",
    principals_pb2.OBJECT_KIND_TABLE,
    _TABULAR_PRIVILEGES,
    _words("drop write_data read_data get_metadata commit", _TABULAR_ACTIONS),
    _words(_TABULAR_RIGHTS),
    _words(
        "drop write_data read_data get_metadata commit rename",
        _TABULAR_RIGHTS,
        "get_tasks control_tasks set_protection",
    ),
)
VIEW: Final = Level(
    "view",
    "View",
    "view",
    principals_pb2.OBJECT_KIND_VIEW,
    _TABULAR_PRIVILEGES,
    _words("drop get_metadata select commit", _TABULAR_ACTIONS),
    _words(_TABULAR_RIGHTS),
    _words("drop commit get_metadata select rename", _TABULAR_RIGHTS, "get_tasks control_tasks set_protection"),
)
GENERIC_TABLE: Final = Level(
    "generic-table",
    "GenericTable",
    "generic_table",
    principals_pb2.OBJECT_KIND_GENERIC_TABLE,
    _TABULAR_PRIVILEGES,
    _words("drop read_data write_data get_metadata", _TABULAR_ACTIONS),
    _words(_TABULAR_RIGHTS),
    _words(
        "drop undrop write_data read_data get_metadata rename include_in_list get_tasks control_tasks set_protection",
        _TABULAR_RIGHTS,
    ),
)
ROLE: Final = Level(
    "role",
    "Role",
    "role",
    principals_pb2.OBJECT_KIND_ROLE,
    ("assignee", "ownership"),
    _words("read read_metadata delete update manage_role_assignments read_role_assignments update_source_system"),
    _words("assume can_grant_assignee can_change_ownership read_assignments"),
    _words("assume can_grant_assignee can_change_ownership delete update read read_assignments"),
)
TAG: Final = Level(
    "tag-definition",
    "Tag",
    "tag",
    principals_pb2.OBJECT_KIND_TAG,
    ("ownership", "apply"),
    _words("read update delete apply remove read_attachments read_grants"),
)
IN_WAREHOUSE: Final = (NAMESPACE, TABLE, VIEW, GENERIC_TABLE)
GRANTED: Final = (SERVER, PROJECT, WAREHOUSE, *IN_WAREHOUSE, TAG)
"""What the grants API knows of; roles have members instead."""
BY_KIND: Final[Mapping[int, Level]] = {level.kind: level for level in (*GRANTED, ROLE)}


def resource_of(named: grants_pb2.ObjectName) -> dict[str, str]:
    """An object as a reply names it."""
    level = BY_KIND[named.kind]
    found = {"type": level.noun}
    if level is PROJECT:
        found["project-id"] = named.project_id
    if named.warehouse_id:
        found["warehouse-id"] = named.warehouse_id
    if named.id:
        found[f"{level.noun}-id"] = named.id
    return found


# A role's name shows to everybody who knows its id: there is no relation behind it.
EVERYBODYS: Final = frozenset({"read_metadata"})
_OTHERWISE: Final[Mapping[str, str]] = {
    "read_grants": "read_assignments",
    "modify_storage": "update_storage",
    "modify_storage_credential": "update_storage_credential",
    "can_grant_assignee": "grant_assignee",
    "can_change_ownership": "change_ownership",
    "manage_role_assignments": "grant_assignee",
    "read_role_assignments": "read_assignments",
    "remove": "apply",
}


def relation_of(word: str) -> str:
    """The model's name for what the API says."""
    return _OTHERWISE.get(word, word)


def said(words: Sequence[str], allowed: Sequence[str]) -> list[str]:
    """Those of a vocabulary's words whose actions are allowed, in its order."""
    found = {*allowed}
    return [word for word in words if relation_of(word) in found or word in EVERYBODYS]
