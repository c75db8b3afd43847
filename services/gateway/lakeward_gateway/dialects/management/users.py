"""Users: paths, bodies and replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.management import directory_documents as documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.dialects.management.listing import PARAMETERS, page_of
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_gateway.query import Text
from lakeward_protocol.authz.v1 import users_pb2, users_pb2_grpc
from lakeward_servicekit.errors import invalid_field

_TAG: Final = "user"
_USERS: Final = "/management/v1/user"
_USER: Final = f"{_USERS}/{{user_id}}"
NAME: Final = Text("name", "Those whose name has this in it, whatever the case.")
BY_USER: Final = Text("principalUser", "Whose right is asked about; without it and principalRole, the caller's own.")
BY_ROLE: Final = Text("principalRole", "The role whose right is asked about, by its id.")
_create_decoder: Final = msgspec.json.Decoder(documents.CreateUserRequest)
_update_decoder: Final = msgspec.json.Decoder(documents.UpdateUserRequest)
_search_decoder: Final = msgspec.json.Decoder(documents.SearchUserRequest)


async def create_user(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """Record a user."""
    document = await parsed(_create_decoder, request.body)
    response = await users.CreateUser(
        users_pb2.CreateUserRequest(
            context=request.context,
            user_id=document.id,
            name=document.name,
            email=document.email,
            type=documents.USER_TYPES[document.user_type],
            update_if_exists=document.update_if_exists,
        )
    )
    return json_response(documents.user_document(response.user), status=201 if response.created else 200)


async def list_users(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """A page of users."""
    query = request.query
    asked = users_pb2.ListUsersRequest(context=request.context, page=page_of(query), name=NAME.read(query))
    page = await users.ListUsers(asked)
    found = [documents.user_document(user) for user in page.users]
    return json_response(documents.ListUsersResponse(found, page.next_page_token or None))


async def search_users(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """Users like a text."""
    document = await parsed(_search_decoder, request.body)
    response = await users.SearchUsers(users_pb2.SearchUsersRequest(context=request.context, search=document.search))
    return json_response(documents.SearchUserResponse([documents.found_user(user) for user in response.users]))


async def whoami(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """The caller."""
    response = await users.WhoAmI(users_pb2.WhoAmIRequest(context=request.context))
    user = msgspec.structs.asdict(documents.user_document(response.user))
    return json_response(documents.WhoamiResponse(**user, is_instance_admin=response.instance_administrator))


async def get_user(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """One user."""
    (user_id,) = request.arguments
    response = await users.GetUser(users_pb2.GetUserRequest(context=request.context, user_id=user_id))
    return json_response(documents.user_document(response.user))


async def update_user(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """Replace what is known of a user."""
    (user_id,) = request.arguments
    document = await parsed(_update_decoder, request.body)
    await users.UpdateUser(
        users_pb2.UpdateUserRequest(
            context=request.context,
            user_id=user_id,
            name=document.name,
            email=document.email,
            type=documents.USER_TYPES[document.user_type],
        )
    )
    return Response(200)


async def delete_user(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """Delete a user, and take its rights."""
    (user_id,) = request.arguments
    await users.DeleteUser(users_pb2.DeleteUserRequest(context=request.context, user_id=user_id))
    return NO_CONTENT


async def get_user_actions(request: Request, *, users: users_pb2_grpc.UserServiceAsyncStub) -> Response:
    """What may be done to a user."""
    (user_id,) = request.arguments
    query = request.query
    by_user, by_role = BY_USER.read(query), BY_ROLE.read(query)
    if by_user is not None and by_role is not None:
        raise invalid_field(BY_ROLE.name, by_role, f"left out where {BY_USER.name} is given")
    asked = users_pb2.GetUserActionsRequest(context=request.context, user_id=user_id)
    if by_user is not None:
        asked.principal_user = by_user
    if by_role is not None:
        asked.principal_role = by_role
    response = await users.GetUserActions(asked)
    return json_response({"allowed-actions": [{"action": action} for action in response.actions]})


def operations(users: users_pb2_grpc.UserServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on users; the roles that one is in are beside the other operations on roles."""
    return (*_reading(users), *_changing(users))


def _reading(users: users_pb2_grpc.UserServiceAsyncStub) -> Sequence[Operation]:
    shown = Answer("The user.", "User", documents.User)
    return (
        Operation(
            id="list_user",
            method="GET",
            path=_USERS,
            summary="Users, by id.",
            handler=partial(list_users, users=users),
            query=(NAME, *PARAMETERS),
            answers={200: Answer("Users.", "ListUsersResponse", documents.ListUsersResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="search_user",
            method="POST",
            path="/management/v1/search/user",
            summary="At most ten users that are most like a text, by id, name or e-mail address.",
            handler=partial(search_users, users=users),
            body=Body("SearchUserRequest", documents.SearchUserRequest),
            answers={200: Answer("Users.", "SearchUserResponse", documents.SearchUserResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="whoami",
            method="GET",
            path="/management/v1/whoami",
            summary="The caller, whatever role it assumes.",
            handler=partial(whoami, users=users),
            answers={200: Answer("The caller.", "WhoamiResponse", documents.WhoamiResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_user",
            method="GET",
            path=_USER,
            summary="One user.",
            handler=partial(get_user, users=users),
            answers={200: shown},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_user_actions",
            method="GET",
            path=f"{_USER}/actions",
            summary="What may be done to a user, by the caller or by another principal.",
            handler=partial(get_user_actions, users=users),
            query=(BY_USER, BY_ROLE),
            answers={200: Answer("Actions.", "GetUserActionsResponse", documents.GetUserActionsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _changing(users: users_pb2_grpc.UserServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="create_user",
            method="POST",
            path=_USERS,
            summary="Record the caller, or another user.",
            handler=partial(create_user, users=users),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateUserRequest", documents.CreateUserRequest),
            answers={
                200: Answer("It was there, and is changed.", "User", documents.User),
                201: Answer("It is recorded.", "User", documents.User),
            },
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_user",
            method="PUT",
            path=_USER,
            summary="Replace what is known of a user.",
            handler=partial(update_user, users=users),
            body=Body("UpdateUserRequest", documents.UpdateUserRequest),
            answers={200: Answer("It is changed.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="delete_user",
            method="DELETE",
            path=_USER,
            summary="Delete a user, and take all its rights.",
            handler=partial(delete_user, users=users),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
