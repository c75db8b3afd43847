"""RoleService: roles, and who is in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.members import (
    AddMembers,
    ListMembers,
    ListRolesOfRole,
    ListRolesOfUser,
    Member,
    MemberAdditions,
    MemberKind,
    MemberListings,
    MemberRemovals,
    MemberUser,
    RemoveMember,
    RoleMembershipListings,
    UserMembershipListings,
)
from lakeward_authz.application.role_store import RoleFilter
from lakeward_authz.application.roles import (
    BindRole,
    CreateRole,
    DescribeRole,
    ListRoles,
    RoleBindings,
    RoleCreations,
    RoleDeletions,
    RoleDescriptions,
    RoleListings,
    RoleMetadataLookups,
    RoleSearches,
)
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.domain.roles import Role
from lakeward_authz.domain.user_ids import parse_user_id
from lakeward_authz.transport.decode import role_id_of
from lakeward_authz.transport.users import TYPES
from lakeward_protocol.authz.v1 import roles_pb2 as pb
from lakeward_protocol.authz.v1 import roles_pb2_grpc
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc.pages import page_of

_MOST_FILTERED: Final = 1000
_KINDS: Final = {pb.ROLE_MEMBER_KIND_USER: MemberKind.USER, pb.ROLE_MEMBER_KIND_ROLE: MemberKind.ROLE}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoleServicer(roles_pb2_grpc.RoleServiceServicer):
    """Manages roles."""

    doors: DirectoryDoors
    create_role: RoleCreations
    get_role_metadata: RoleMetadataLookups
    list_roles: RoleListings
    search_roles: RoleSearches
    update_role: RoleDescriptions
    update_role_source: RoleBindings
    delete_role: RoleDeletions
    add_role_members: MemberAdditions
    remove_role_member: MemberRemovals
    list_role_members: MemberListings
    list_roles_of_role: RoleMembershipListings
    list_roles_of_user: UserMembershipListings

    async def CreateRole(self, request: pb.CreateRoleRequest, caller: Caller) -> pb.CreateRoleResponse:
        """See the contract."""
        command = CreateRole(
            request.name,
            request.description if request.HasField("description") else None,
            request.provider_id if request.HasField("provider_id") else None,
            request.source_id if request.HasField("source_id") else None,
        )
        return pb.CreateRoleResponse(role=message(await self.create_role(command, caller=caller)))

    async def GetRole(self, request: pb.GetRoleRequest, caller: Caller) -> pb.GetRoleResponse:
        """See the contract."""
        role = await self.doors.role(role_id_of(request.role_id), Action.ROLE_READ, caller=caller)
        return pb.GetRoleResponse(role=message(role))

    async def GetRoleMetadata(self, request: pb.GetRoleMetadataRequest, caller: Caller) -> pb.GetRoleMetadataResponse:
        """See the contract."""
        role = await self.get_role_metadata(role_id_of(request.role_id), caller=caller)
        return pb.GetRoleMetadataResponse(
            role=pb.Role(
                role_id=str(role.role_id),
                project_id=role.project_id,
                name=role.name,
                provider_id=role.ident.provider_id,
                source_id=role.ident.source_id,
            )
        )

    async def ListRoles(self, request: pb.ListRolesRequest, caller: Caller) -> pb.ListRolesResponse:
        """See the contract."""
        wanted = RoleFilter(
            tuple(role_id_of(each) for each in _filtered("role_ids", request.role_ids)),
            tuple(_filtered("provider_ids", request.provider_ids)),
            tuple(_filtered("source_ids", request.source_ids)),
        )
        page = await self.list_roles(ListRoles(page_of(request), wanted), caller=caller)
        return pb.ListRolesResponse(roles=map(message, page.entries), next_page_token=page.next_token)

    async def SearchRoles(self, request: pb.SearchRolesRequest, caller: Caller) -> pb.SearchRolesResponse:
        """See the contract."""
        return pb.SearchRolesResponse(roles=map(message, await self.search_roles(request.search, caller=caller)))

    async def UpdateRole(self, request: pb.UpdateRoleRequest, caller: Caller) -> pb.UpdateRoleResponse:
        """See the contract."""
        description = request.description if request.HasField("description") else None
        command = DescribeRole(role_id_of(request.role_id), request.name, description)
        return pb.UpdateRoleResponse(role=message(await self.update_role(command, caller=caller)))

    async def UpdateRoleSource(
        self, request: pb.UpdateRoleSourceRequest, caller: Caller
    ) -> pb.UpdateRoleSourceResponse:
        """See the contract."""
        command = BindRole(role_id_of(request.role_id), request.provider_id, request.source_id)
        return pb.UpdateRoleSourceResponse(role=message(await self.update_role_source(command, caller=caller)))

    async def DeleteRole(self, request: pb.DeleteRoleRequest, caller: Caller) -> pb.DeleteRoleResponse:
        """See the contract."""
        await self.delete_role(role_id_of(request.role_id), caller=caller)
        return pb.DeleteRoleResponse()

    async def AddRoleMembers(self, request: pb.AddRoleMembersRequest, caller: Caller) -> pb.AddRoleMembersResponse:
        """See the contract."""
        command = AddMembers(role_id_of(request.role_id), tuple(map(_subject, request.members)))
        added = await self.add_role_members(command, caller=caller)
        return pb.AddRoleMembersResponse(members=map(_ref, added))

    async def RemoveRoleMember(
        self, request: pb.RemoveRoleMemberRequest, caller: Caller
    ) -> pb.RemoveRoleMemberResponse:
        """See the contract."""
        command = RemoveMember(role_id_of(request.role_id), _subject(request.member))
        await self.remove_role_member(command, caller=caller)
        return pb.RemoveRoleMemberResponse()

    async def ListRoleMembers(self, request: pb.ListRoleMembersRequest, caller: Caller) -> pb.ListRoleMembersResponse:
        """See the contract."""
        kind = None if request.kind == pb.ROLE_MEMBER_KIND_UNSPECIFIED else _member_kind(request.kind)
        command = ListMembers(role_id_of(request.role_id), page_of(request), kind, request.transitive)
        page = await self.list_role_members(command, caller=caller)
        return pb.ListRoleMembersResponse(members=map(_member, page.entries), next_page_token=page.next_token)

    async def ListRolesOfRole(self, request: pb.ListRolesOfRoleRequest, caller: Caller) -> pb.ListRolesOfRoleResponse:
        """See the contract."""
        command = ListRolesOfRole(role_id_of(request.role_id), page_of(request), request.transitive)
        page = await self.list_roles_of_role(command, caller=caller)
        return pb.ListRolesOfRoleResponse(roles=map(message, page.entries), next_page_token=page.next_token)

    async def ListRolesOfUser(self, request: pb.ListRolesOfUserRequest, caller: Caller) -> pb.ListRolesOfUserResponse:
        """See the contract."""
        command = ListRolesOfUser(parse_user_id(request.user_id), page_of(request), request.transitive)
        page = await self.list_roles_of_user(command, caller=caller)
        return pb.ListRolesOfUserResponse(roles=map(message, page.entries), next_page_token=page.next_token)


def message(role: Role) -> pb.Role:
    """A role as it travels."""
    made = pb.Role(
        role_id=str(role.role_id),
        project_id=role.project_id,
        name=role.name,
        description=role.description,
        provider_id=role.ident.provider_id,
        source_id=role.ident.source_id,
    )
    made.created_at.FromDatetime(role.created_at)
    if role.updated_at is not None:
        made.updated_at.FromDatetime(role.updated_at)
    return made


def _member(member: Member) -> pb.RoleMember:
    if not isinstance(member, MemberUser):
        return pb.RoleMember(role=message(member))
    user = pb.RoleMemberUser(user_id=member.user_id)
    if (profile := member.profile) is not None:
        user = pb.RoleMemberUser(
            user_id=member.user_id, name=profile.name, email=profile.email, type=TYPES[profile.kind]
        )
    return pb.RoleMember(user=user)


def _member_kind(value: pb.RoleMemberKind.ValueType) -> MemberKind:
    kind = _KINDS.get(value)
    if kind is None:
        raise invalid_field("kind", value, "user or role")
    return kind


def _subject(ref: pb.RoleMemberRef) -> Subject:
    match _member_kind(ref.kind):
        case MemberKind.USER:
            return user_subject(parse_user_id(ref.id))
        case MemberKind.ROLE:
            return role_subject(role_id_of(ref.id))


def _ref(subject: Subject) -> pb.RoleMemberRef:
    kind = pb.ROLE_MEMBER_KIND_ROLE if subject.startswith(MemberKind.ROLE.value) else pb.ROLE_MEMBER_KIND_USER
    return pb.RoleMemberRef(kind=kind, id=subject.partition(":")[2])


def _filtered(field: str, values: Sequence[str]) -> Sequence[str]:
    if len(values) > _MOST_FILTERED:
        raise invalid_field(field, f"{len(values)} values", f"at most {_MOST_FILTERED}")
    return values
