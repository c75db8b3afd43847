"""Roles, and who is in them: what is asked of authz for a request, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from lakeward_gateway.dialects.management import directory_documents as documents
from lakeward_gateway.dialects.management.listing import page_of
from lakeward_gateway.dialects.management.server import in_project
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.query import Query, Text, Texts
from lakeward_protocol.authz.v1 import roles_pb2, roles_pb2_grpc
from lakeward_servicekit.errors import invalid_field

PROJECT: Final = Text("projectId", "The project; the header x-project-id says the same.", deprecated=True)
ROLE_IDS: Final = Texts("roleIds", "Roles of one of these ids alone.")
PROVIDER_IDS: Final = Texts("providerIds", "Roles of one of these providers alone.")
SOURCE_IDS: Final = Texts("sourceIds", "Roles of one of these source ids alone.")
MEMBER_TYPE: Final = Text("type", "Members of this kind alone: user or role.")
_KINDS: Final = {"user": roles_pb2.ROLE_MEMBER_KIND_USER, "role": roles_pb2.ROLE_MEMBER_KIND_ROLE}
_create_decoder: Final = msgspec.json.Decoder(documents.CreateRoleRequest)
_update_decoder: Final = msgspec.json.Decoder(documents.UpdateRoleRequest)
_source_decoder: Final = msgspec.json.Decoder(documents.UpdateRoleSourceSystemRequest)
_search_decoder: Final = msgspec.json.Decoder(documents.SearchRoleRequest)
_members_decoder: Final = msgspec.json.Decoder(documents.AddRoleMembersRequest)


async def create_role(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Make a role."""
    document = await parsed(_create_decoder, request.body)
    response = await roles.CreateRole(
        roles_pb2.CreateRoleRequest(
            context=in_project(request.context, document.project_id),
            name=document.name,
            description=document.description,
            provider_id=document.provider_id,
            source_id=document.source_id,
        )
    )
    return json_response(documents.role_document(response.role), status=201)


async def list_roles(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """A page of roles."""
    query = request.query
    page = await roles.ListRoles(
        roles_pb2.ListRolesRequest(
            context=in_project(request.context, PROJECT.read(query)),
            page=page_of(query),
            role_ids=ROLE_IDS.read(query),
            provider_ids=PROVIDER_IDS.read(query),
            source_ids=SOURCE_IDS.read(query),
        )
    )
    found = [documents.role_document(role) for role in page.roles]
    return json_response(documents.ListRolesResponse(found, page.next_page_token or None))


async def search_roles(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Roles like a text."""
    document = await parsed(_search_decoder, request.body)
    context = in_project(request.context, document.project_id)
    response = await roles.SearchRoles(roles_pb2.SearchRolesRequest(context=context, search=document.search))
    return json_response(documents.SearchRoleResponse([documents.role_document(role) for role in response.roles]))


async def get_role(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """One role."""
    (role_id,) = request.arguments
    response = await roles.GetRole(roles_pb2.GetRoleRequest(context=request.context, role_id=role_id))
    return json_response(documents.role_document(response.role))


async def get_role_metadata(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """What a role of any project is called."""
    (role_id,) = request.arguments
    response = await roles.GetRoleMetadata(roles_pb2.GetRoleMetadataRequest(context=request.context, role_id=role_id))
    return json_response(documents.role_metadata(response.role))


async def update_role(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Give a role another name and description."""
    (role_id,) = request.arguments
    document = await parsed(_update_decoder, request.body)
    response = await roles.UpdateRole(
        roles_pb2.UpdateRoleRequest(
            context=request.context, role_id=role_id, name=document.name, description=document.description
        )
    )
    return json_response(documents.role_document(response.role))


async def update_role_source(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Bind a role to a provider's name of it."""
    (role_id,) = request.arguments
    document = await parsed(_source_decoder, request.body)
    response = await roles.UpdateRoleSource(
        roles_pb2.UpdateRoleSourceRequest(
            context=request.context,
            role_id=role_id,
            provider_id=document.provider_id,
            source_id=document.source_id,
        )
    )
    return json_response(documents.role_document(response.role))


async def delete_role(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Delete a role."""
    (role_id,) = request.arguments
    await roles.DeleteRole(roles_pb2.DeleteRoleRequest(context=request.context, role_id=role_id))
    return NO_CONTENT


async def add_role_members(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Put members into a role."""
    (role_id,) = request.arguments
    document = await parsed(_members_decoder, request.body)
    members = [documents.member_ref(ref) for ref in document.members]
    response = await roles.AddRoleMembers(
        roles_pb2.AddRoleMembersRequest(context=request.context, role_id=role_id, members=members)
    )
    added = [documents.member_ref_document(ref) for ref in response.members]
    return json_response(documents.AddRoleMembersResponse(added))


async def remove_role_member(request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub) -> Response:
    """Take a member out of a role."""
    role_id, kind, member_id = request.arguments
    member = roles_pb2.RoleMemberRef(kind=_kind("member_type", kind), id=member_id)
    await roles.RemoveRoleMember(
        roles_pb2.RemoveRoleMemberRequest(context=request.context, role_id=role_id, member=member)
    )
    return NO_CONTENT


async def list_role_members(
    request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub, transitive: bool
) -> Response:
    """Who is in a role."""
    (role_id,) = request.arguments
    query = request.query
    page = await roles.ListRoleMembers(
        roles_pb2.ListRoleMembersRequest(
            context=request.context,
            role_id=role_id,
            page=page_of(query),
            kind=_wanted(query),
            transitive=transitive,
        )
    )
    found = [documents.role_member(member) for member in page.members]
    return json_response(documents.ListRoleMembersResponse(found, page.next_page_token or None))


async def list_roles_of_role(
    request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub, transitive: bool
) -> Response:
    """In which roles a role is."""
    (role_id,) = request.arguments
    page = await roles.ListRolesOfRole(
        roles_pb2.ListRolesOfRoleRequest(
            context=request.context, role_id=role_id, page=page_of(request.query), transitive=transitive
        )
    )
    return _memberships(page.roles, page.next_page_token)


async def list_roles_of_user(
    request: Request, *, roles: roles_pb2_grpc.RoleServiceAsyncStub, transitive: bool
) -> Response:
    """In which roles a user is."""
    (user_id,) = request.arguments
    page = await roles.ListRolesOfUser(
        roles_pb2.ListRolesOfUserRequest(
            context=request.context, user_id=user_id, page=page_of(request.query), transitive=transitive
        )
    )
    return _memberships(page.roles, page.next_page_token)


def _memberships(roles: Sequence[roles_pb2.Role], next_page_token: str) -> Response:
    found = [documents.role_membership(role) for role in roles]
    return json_response(documents.ListRoleMembershipsResponse(found, next_page_token or None))


def _wanted(query: Query) -> roles_pb2.RoleMemberKind.ValueType:
    value = MEMBER_TYPE.read(query)
    return roles_pb2.ROLE_MEMBER_KIND_UNSPECIFIED if value is None else _kind(MEMBER_TYPE.name, value)


def _kind(name: str, value: str) -> roles_pb2.RoleMemberKind.ValueType:
    kind = _KINDS.get(value)
    if kind is None:
        raise invalid_field(name, value, "user or role")
    return kind
