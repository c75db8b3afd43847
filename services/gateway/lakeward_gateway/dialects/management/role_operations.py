"""The operations on roles: paths, parameters, bodies and replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.management import directory_documents as documents
from lakeward_gateway.dialects.management import roles
from lakeward_gateway.dialects.management.errors import IN_PROJECT, RENDERED
from lakeward_gateway.dialects.management.listing import PARAMETERS
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.authz.v1 import roles_pb2_grpc

_TAG: Final = "role"
_ROLES: Final = "/management/v1/role"
_ROLE: Final = f"{_ROLES}/{{role_id}}"
_SHOWN: Final = Answer("The role.", "Role", documents.Role)
_MEMBERS: Final = {200: Answer("Members.", "ListRoleMembersResponse", documents.ListRoleMembersResponse)}
_MEMBERSHIPS: Final = {200: Answer("Roles.", "ListRoleMembershipsResponse", documents.ListRoleMembershipsResponse)}


def operations(stub: roles_pb2_grpc.RoleServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on roles, and those that tell in which ones a user is."""
    return (*_finding(stub), *_changing(stub), *_members(stub), *_memberships(stub))


def _finding(stub: roles_pb2_grpc.RoleServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="list_roles",
            method="GET",
            path=_ROLES,
            summary="Roles of the selected project, in the order in which they were made.",
            handler=partial(roles.list_roles, roles=stub),
            query=(roles.ROLE_IDS, roles.SOURCE_IDS, roles.PROVIDER_IDS, roles.PROJECT, *PARAMETERS),
            answers={200: Answer("Roles.", "ListRolesResponse", documents.ListRolesResponse)},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="search_role",
            method="POST",
            path="/management/v1/search/role",
            summary="At most ten roles of the selected project that are most like a text, by id, source id or name.",
            handler=partial(roles.search_roles, roles=stub),
            body=Body("SearchRoleRequest", documents.SearchRoleRequest),
            answers={200: Answer("Roles.", "SearchRoleResponse", documents.SearchRoleResponse)},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="get_role",
            method="GET",
            path=_ROLE,
            summary="One role of the selected project.",
            handler=partial(roles.get_role, roles=stub),
            answers={200: _SHOWN},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="get_role_metadata",
            method="GET",
            path=f"{_ROLE}/metadata",
            summary="What a role of any project is called.",
            handler=partial(roles.get_role_metadata, roles=stub),
            answers={200: Answer("The role.", "RoleMetadata", documents.RoleMetadata)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _changing(stub: roles_pb2_grpc.RoleServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="create_role",
            method="POST",
            path=_ROLES,
            summary="Make a role in the selected project; the caller owns it.",
            handler=partial(roles.create_role, roles=stub),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateRoleRequest", documents.CreateRoleRequest),
            answers={201: _SHOWN},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="update_role",
            method="POST",
            path=_ROLE,
            summary="Give a role another name and description.",
            handler=partial(roles.update_role, roles=stub),
            body=Body("UpdateRoleRequest", documents.UpdateRoleRequest),
            answers={200: _SHOWN},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="update_role_source_system",
            method="PUT",
            path=f"{_ROLE}/source-system",
            summary="Bind a role to what a provider calls it.",
            handler=partial(roles.update_role_source, roles=stub),
            body=Body("UpdateRoleSourceSystemRequest", documents.UpdateRoleSourceSystemRequest),
            answers={200: _SHOWN},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="delete_role",
            method="DELETE",
            path=_ROLE,
            summary="Delete a role, with what was granted to it and on it.",
            handler=partial(roles.delete_role, roles=stub),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
    )


def _members(stub: roles_pb2_grpc.RoleServiceAsyncStub) -> Sequence[Operation]:
    listing = partial(roles.list_role_members, roles=stub)
    return (
        Operation(
            id="list_role_members",
            method="GET",
            path=f"{_ROLE}/members",
            summary="Who is in a role: roles first, each kind by id.",
            handler=partial(listing, transitive=False),
            query=(roles.MEMBER_TYPE, *PARAMETERS),
            answers=_MEMBERS,
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="list_role_transitive_members",
            method="GET",
            path=f"{_ROLE}/members/transitive",
            summary="Who is in a role, or in one that is in it.",
            handler=partial(listing, transitive=True),
            query=(roles.MEMBER_TYPE, *PARAMETERS),
            answers=_MEMBERS,
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="add_role_members",
            method="POST",
            path=f"{_ROLE}/members",
            summary="Put users and roles into a role, all or none.",
            handler=partial(roles.add_role_members, roles=stub),
            body=Body("AddRoleMembersRequest", documents.AddRoleMembersRequest),
            answers={200: Answer("They are in it.", "AddRoleMembersResponse", documents.AddRoleMembersResponse)},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="remove_role_member",
            method="DELETE",
            path=f"{_ROLE}/members/{{member_type}}/{{member_id}}",
            summary="Take a user or a role out of a role.",
            handler=partial(roles.remove_role_member, roles=stub),
            answers={204: Answer("It is not in it.")},
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
    )


def _memberships(stub: roles_pb2_grpc.RoleServiceAsyncStub) -> Sequence[Operation]:
    of_role = partial(roles.list_roles_of_role, roles=stub)
    of_user = partial(roles.list_roles_of_user, roles=stub)
    return (
        Operation(
            id="list_role_member_of",
            method="GET",
            path=f"{_ROLE}/member-of",
            summary="In which roles a role is.",
            handler=partial(of_role, transitive=False),
            query=PARAMETERS,
            answers=_MEMBERSHIPS,
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="list_role_transitive_member_of",
            method="GET",
            path=f"{_ROLE}/member-of/transitive",
            summary="In which roles a role is, by itself or by being in another.",
            handler=partial(of_role, transitive=True),
            query=PARAMETERS,
            answers=_MEMBERSHIPS,
            renderings=IN_PROJECT,
            tag=_TAG,
        ),
        Operation(
            id="list_user_roles",
            method="GET",
            path="/management/v1/user/{user_id}/roles",
            summary="In which roles of the selected project a user is.",
            handler=partial(of_user, transitive=False),
            query=PARAMETERS,
            answers=_MEMBERSHIPS,
            renderings=IN_PROJECT,
            tag="user",
        ),
        Operation(
            id="list_user_transitive_roles",
            method="GET",
            path="/management/v1/user/{user_id}/roles/transitive",
            summary="In which roles of the selected project a user is, by itself or by being in another.",
            handler=partial(of_user, transitive=True),
            query=PARAMETERS,
            answers=_MEMBERSHIPS,
            renderings=IN_PROJECT,
            tag="user",
        ),
    )
