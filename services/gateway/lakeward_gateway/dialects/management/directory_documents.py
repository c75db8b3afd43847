"""Bodies about users and roles, in the management API's spelling."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from lakeward_gateway.dialects.management.documents import time_text
from lakeward_protocol.authz.v1 import roles_pb2, users_pb2

UserType: TypeAlias = Literal["human", "application"]

USER_TYPES: Final[dict[UserType | None, users_pb2.UserType.ValueType]] = {
    None: users_pb2.USER_TYPE_UNSPECIFIED,
    "human": users_pb2.USER_TYPE_HUMAN,
    "application": users_pb2.USER_TYPE_APPLICATION,
}
_TYPE_NAMES: Final[dict[users_pb2.UserType.ValueType, UserType]] = {
    users_pb2.USER_TYPE_HUMAN: "human",
    users_pb2.USER_TYPE_APPLICATION: "application",
}


class CreateUserRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A user to record; without an id the caller, and what is left out is then the token's."""

    id: str | None = None
    name: str | None = None
    email: str | None = None
    user_type: UserType | None = None
    update_if_exists: bool = False


class UpdateUserRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What is to be known of a user; an address that is left out is none."""

    name: str
    user_type: UserType
    email: str | None = None


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """A user."""

    id: str
    name: str
    email: str | None
    user_type: UserType
    last_updated_with: str
    created_at: str
    updated_at: str | None


class WhoamiResponse(User, frozen=True, rename="kebab"):
    """The caller."""

    is_instance_admin: bool


class ListUsersResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Users."""

    users: list[User]
    next_page_token: str | None


class SearchUserRequest(msgspec.Struct, frozen=True):
    """What is looked for; the first 64 characters count."""

    search: str


class SearchUser(msgspec.Struct, frozen=True, rename="kebab"):
    """A user that was found."""

    id: str
    name: str
    email: str | None
    user_type: UserType


class SearchUserResponse(msgspec.Struct, frozen=True):
    """Users that were found, the likest first."""

    users: list[SearchUser]


class UserAction(msgspec.Struct, frozen=True):
    """Something that may be done to a user."""

    action: Literal["read", "update", "delete", "read_role_assignments"]


class GetUserActionsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """What may be done to a user."""

    allowed_actions: list[UserAction]


class CreateRoleRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A role to make. `project-id` is the header x-project-id in an older place."""

    name: str
    description: str | None = None
    provider_id: str | None = None
    source_id: str | None = None
    project_id: str | None = None


class UpdateRoleRequest(msgspec.Struct, frozen=True):
    """What a role is to be called; a description that is left out is none."""

    name: str
    description: str | None = None


class UpdateRoleSourceSystemRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What a provider calls a role."""

    provider_id: str
    source_id: str


class Role(msgspec.Struct, frozen=True, rename="kebab"):
    """A role."""

    id: str
    ident: str
    provider_id: str
    source_id: str
    name: str
    description: str | None
    project_id: str
    created_at: str
    updated_at: str | None


class RoleMetadata(msgspec.Struct, frozen=True, rename="kebab"):
    """What a role is called."""

    id: str
    ident: str
    provider_id: str
    source_id: str
    name: str
    project_id: str


class ListRolesResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Roles."""

    roles: list[Role]
    next_page_token: str | None


class SearchRoleRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What is looked for. `project-id` is the header x-project-id in an older place."""

    search: str
    project_id: str | None = None


class SearchRoleResponse(msgspec.Struct, frozen=True):
    """Roles that were found, the likest first."""

    roles: list[Role]


class RoleMembership(msgspec.Struct, frozen=True):
    """A role that somebody is in."""

    id: str
    ident: str
    name: str


class ListRoleMembershipsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Roles that somebody is in."""

    roles: list[RoleMembership]
    next_page_token: str | None


class RoleMemberRefUser(msgspec.Struct, frozen=True, tag_field="type", tag="user"):
    """A user, by id."""

    id: str


class RoleMemberRefRole(msgspec.Struct, frozen=True, tag_field="type", tag="role"):
    """A role, by id."""

    id: Annotated[str, msgspec.Meta(extra_json_schema={"format": "uuid"})]


RoleMemberRef: TypeAlias = RoleMemberRefUser | RoleMemberRefRole


class AddRoleMembersRequest(msgspec.Struct, frozen=True):
    """Who is to be in a role."""

    members: list[RoleMemberRef]


class AddRoleMembersResponse(msgspec.Struct, frozen=True):
    """Who was asked for, and is in it now."""

    members: list[RoleMemberRef]


class RoleMemberUser(msgspec.Struct, frozen=True, rename="kebab", tag_field="type", tag="user"):
    """A user in a role; null is what nobody knows."""

    id: str
    name: str | None
    email: str | None
    user_type: UserType | None


class RoleMemberRole(msgspec.Struct, frozen=True, tag_field="type", tag="role"):
    """A role in a role."""

    id: str
    ident: str
    name: str


class ListRoleMembersResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Who is in a role."""

    members: list[RoleMemberUser | RoleMemberRole]
    next_page_token: str | None


def user_document(user: users_pb2.User) -> User:
    """A user as the public API shows it."""
    return User(
        id=user.user_id,
        name=_name(user),
        email=user.email if user.HasField("email") else None,
        user_type=_TYPE_NAMES[user.type],
        last_updated_with=user.updated_with,
        created_at=time_text(user.created_at),
        updated_at=time_text(user.updated_at) if user.HasField("updated_at") else None,
    )


def found_user(user: users_pb2.User) -> SearchUser:
    """A user that was found."""
    email = user.email if user.HasField("email") else None
    return SearchUser(user.user_id, _name(user), email, _TYPE_NAMES[user.type])


def _name(user: users_pb2.User) -> str:
    return user.name if user.HasField("name") else f"Nameless User with id {user.user_id}"


def role_document(role: roles_pb2.Role) -> Role:
    """A role as the public API shows it."""
    return Role(
        id=role.role_id,
        ident=_ident(role),
        provider_id=role.provider_id,
        source_id=role.source_id,
        name=role.name,
        description=role.description if role.HasField("description") else None,
        project_id=role.project_id,
        created_at=time_text(role.created_at),
        updated_at=time_text(role.updated_at) if role.HasField("updated_at") else None,
    )


def role_metadata(role: roles_pb2.Role) -> RoleMetadata:
    """What a role is called."""
    return RoleMetadata(role.role_id, _ident(role), role.provider_id, role.source_id, role.name, role.project_id)


def role_membership(role: roles_pb2.Role) -> RoleMembership:
    """A role that somebody is in."""
    return RoleMembership(role.role_id, _ident(role), role.name)


def role_member(member: roles_pb2.RoleMember) -> RoleMemberUser | RoleMemberRole:
    """Who is in a role."""
    if member.WhichOneof("member") == "role":
        return RoleMemberRole(member.role.role_id, _ident(member.role), member.role.name)
    user = member.user
    return RoleMemberUser(
        id=user.user_id,
        name=user.name if user.HasField("name") else None,
        email=user.email if user.HasField("email") else None,
        user_type=_TYPE_NAMES.get(user.type),
    )


def member_ref(ref: RoleMemberRef) -> roles_pb2.RoleMemberRef:
    """A member as it travels."""
    kind = roles_pb2.ROLE_MEMBER_KIND_USER if isinstance(ref, RoleMemberRefUser) else roles_pb2.ROLE_MEMBER_KIND_ROLE
    return roles_pb2.RoleMemberRef(kind=kind, id=ref.id)


def member_ref_document(ref: roles_pb2.RoleMemberRef) -> RoleMemberRef:
    """A member as the public API names it."""
    return RoleMemberRefUser(ref.id) if ref.kind == roles_pb2.ROLE_MEMBER_KIND_USER else RoleMemberRefRole(ref.id)


def _ident(role: roles_pb2.Role) -> str:
    return f"{role.provider_id}~{role.source_id}"
