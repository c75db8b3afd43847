"""UserService: users as people manage them."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.user_directory import (
    CreateUser,
    InspectUser,
    ListUsers,
    SelfLookups,
    UpdateUser,
    UserCreations,
    UserDeletions,
    UserInspections,
    UserListings,
    UserLookups,
    UserSearches,
    UserUpdates,
)
from lakeward_authz.application.users import User
from lakeward_authz.domain.profiles import UserKind
from lakeward_authz.domain.user_ids import parse_user_id
from lakeward_authz.transport.decode import role_id_of
from lakeward_protocol.authz.v1 import users_pb2 as pb
from lakeward_protocol.authz.v1 import users_pb2_grpc
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc.pages import page_of

_KINDS: Final = {pb.USER_TYPE_HUMAN: UserKind.HUMAN, pb.USER_TYPE_APPLICATION: UserKind.APPLICATION}
TYPES: Final = {kind: value for value, kind in _KINDS.items()}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UserServicer(users_pb2_grpc.UserServiceServicer):
    """Manages users."""

    create_user: UserCreations
    get_user: UserLookups
    who_am_i: SelfLookups
    list_users: UserListings
    search_users: UserSearches
    update_user: UserUpdates
    delete_user: UserDeletions
    get_user_actions: UserInspections

    async def CreateUser(self, request: pb.CreateUserRequest, caller: Caller) -> pb.CreateUserResponse:
        """See the contract."""
        command = CreateUser(
            user_id=parse_user_id(request.user_id) if request.HasField("user_id") else None,
            name=request.name if request.HasField("name") else None,
            email=request.email if request.HasField("email") else None,
            kind=_kind(request.type),
            update_if_exists=request.update_if_exists,
        )
        saved = await self.create_user(command, caller=caller)
        return pb.CreateUserResponse(user=message(saved.user), created=saved.created)

    async def GetUser(self, request: pb.GetUserRequest, caller: Caller) -> pb.GetUserResponse:
        """See the contract."""
        return pb.GetUserResponse(user=message(await self.get_user(parse_user_id(request.user_id), caller=caller)))

    async def WhoAmI(self, request: pb.WhoAmIRequest, caller: Caller) -> pb.WhoAmIResponse:
        """See the contract."""
        del request
        itself = await self.who_am_i(caller=caller)
        return pb.WhoAmIResponse(user=message(itself.user), instance_administrator=itself.instance_administrator)

    async def ListUsers(self, request: pb.ListUsersRequest, caller: Caller) -> pb.ListUsersResponse:
        """See the contract."""
        name = request.name if request.HasField("name") else None
        page = await self.list_users(ListUsers(page_of(request), name), caller=caller)
        return pb.ListUsersResponse(users=map(message, page.entries), next_page_token=page.next_token)

    async def SearchUsers(self, request: pb.SearchUsersRequest, caller: Caller) -> pb.SearchUsersResponse:
        """See the contract."""
        return pb.SearchUsersResponse(users=map(message, await self.search_users(request.search, caller=caller)))

    async def UpdateUser(self, request: pb.UpdateUserRequest, caller: Caller) -> pb.UpdateUserResponse:
        """See the contract."""
        email = request.email if request.HasField("email") else None
        command = UpdateUser(parse_user_id(request.user_id), request.name, email, _kind(request.type))
        return pb.UpdateUserResponse(user=message(await self.update_user(command, caller=caller)))

    async def DeleteUser(self, request: pb.DeleteUserRequest, caller: Caller) -> pb.DeleteUserResponse:
        """See the contract."""
        await self.delete_user(parse_user_id(request.user_id), caller=caller)
        return pb.DeleteUserResponse()

    async def GetUserActions(self, request: pb.GetUserActionsRequest, caller: Caller) -> pb.GetUserActionsResponse:
        """See the contract."""
        user_id = parse_user_id(request.user_id)
        match request.WhichOneof("principal"):
            case "principal_user":
                command = InspectUser(user_id, parse_user_id(request.principal_user))
            case "principal_role":
                command = InspectUser(user_id, role_id_of(request.principal_role))
            case _:
                command = InspectUser(user_id)
        return pb.GetUserActionsResponse(actions=await self.get_user_actions(command, caller=caller))


def message(user: User) -> pb.User:
    """A user as it travels."""
    profile = user.profile
    made = pb.User(
        user_id=user.user_id,
        name=profile.name,
        email=profile.email,
        type=TYPES[profile.kind],
        updated_with=user.updated_with,
    )
    made.created_at.FromDatetime(user.created_at)
    if user.updated_at is not None:
        made.updated_at.FromDatetime(user.updated_at)
    return made


def _kind(value: pb.UserType.ValueType) -> UserKind | None:
    if value == pb.USER_TYPE_UNSPECIFIED:
        return None
    kind = _KINDS.get(value)
    if kind is None:
        raise invalid_field("type", value, "human or application")
    return kind
