"""Rights as upstream's OpenFGA edition shows them: assignments of relations, what may be done about them, and managed access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.errors import APPLIED, INSPECTED, RENDERED
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import PRINCIPAL, UserOrRole, grantee_of, queried, shown
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.query import Query, Texts
from lakeward_protocol.authz.v1 import grants_pb2, grants_pb2_grpc
from lakeward_servicekit.errors import invalid_field

_TAG: Final = "permissions"
_PERMISSIONS: Final = "/management/v1/permissions"
_RELATIONS: Final = Texts(
    "relations", "Relations to show; without it, all. Given as often as needed, or joined by commas."
)
_UUID: Final = {"type": "string", "format": "uuid"}


class Assignment(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A relation that a user or a role has."""

    type: str
    user: str | None = None
    role: str | None = None


class UpdateAssignments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Relations to give and to take, all or none."""

    writes: list[Assignment] = []
    deletes: list[Assignment] = []


class SetManagedAccessRequest(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """Whether owners of what is inside are to be kept from granting."""

    managed_access: bool


class GetWarehouseAuthPropertiesResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Whether access is managed."""

    managed_access: bool


class GetNamespaceAuthPropertiesResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Whether access is managed here, and whether it is here or above."""

    managed_access: bool
    managed_access_inherited: bool


_updates: Final = msgspec.json.Decoder(UpdateAssignments)
_managed: Final = msgspec.json.Decoder(SetManagedAccessRequest)


async def list_assignments(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level
) -> Response:
    """Who has which relation to an object."""
    response = await grants.ListGrants(
        grants_pb2.ListGrantsRequest(
            context=request.context,
            object=level.named(*request.arguments),
            privileges=_relations(request.query, level),
        )
    )
    document: dict[str, Any] = {
        "assignments": [_assignment(grant) for grant in response.grants if grant.privilege in level.privileges]
    }
    if level is levels.PROJECT:
        document["project-id"] = response.project_id
    return json_response(document)


async def update_assignments(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level
) -> Response:
    """Give and take relations; what is given, or gone, already is refused."""
    document = await parsed(_updates, request.body)
    await grants.ChangeGrants(
        grants_pb2.ChangeGrantsRequest(
            context=request.context,
            object=level.named(*request.arguments),
            writes=map(_entry, document.writes),
            deletes=map(_entry, document.deletes),
            exact=True,
        )
    )
    return NO_CONTENT


async def allowed_actions(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level, words: Sequence[str]
) -> Response:
    """What a principal may do, in the words of an endpoint; nothing, on what is not there for it."""
    response = await grants.GetAllowedActions(
        grants_pb2.GetAllowedActionsRequest(
            context=request.context,
            object=level.named(*request.arguments),
            grantee=queried(request.query),
            absent_is_nothing=True,
        )
    )
    return json_response({"allowed-actions": levels.said(words, response.actions)})


async def get_managed_access(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level
) -> Response:
    """Whether access is managed."""
    found = await grants.GetManagedAccess(
        grants_pb2.GetManagedAccessRequest(context=request.context, object=level.named(*request.arguments))
    )
    if level is levels.WAREHOUSE:
        return json_response(GetWarehouseAuthPropertiesResponse(found.managed))
    return json_response(GetNamespaceAuthPropertiesResponse(found.managed, found.inherited))


async def set_managed_access(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level
) -> Response:
    """Let access be managed, or no longer."""
    document = await parsed(_managed, request.body)
    await grants.SetManagedAccess(
        grants_pb2.SetManagedAccessRequest(
            context=request.context, object=level.named(*request.arguments), managed=document.managed_access
        )
    )
    return Response(200)


def _relations(query: Query, level: Level) -> Sequence[str]:
    named = [word.strip() for text in _RELATIONS.read(query) for word in text.split(",")]
    for word in named:
        if word not in level.privileges:
            raise invalid_field(_RELATIONS.name, word, f"one of {', '.join(level.privileges)}")
    return named


def _assignment(grant: grants_pb2.Grant) -> Assignment:
    principal = shown(grant.grantee)
    return Assignment(grant.privilege, principal.user, principal.role)


def _entry(assignment: Assignment) -> grants_pb2.GrantEntry:
    grantee = grantee_of(UserOrRole(assignment.user, assignment.role))
    return grants_pb2.GrantEntry(grantee=grantee, privilege=assignment.type)


def operations(grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Sequence[Operation]:
    """Every operation below /permissions, but the check."""
    found: list[Operation] = []
    for level, path, suffix in _PLACES:
        found += _assignments(level, path, suffix, grants)
        found += _actions(level, path, suffix, grants)
    for level in (levels.WAREHOUSE, levels.NAMESPACE):
        found += _managed_access(level, grants)
    return found


def _tabular(level: Level) -> str:
    return f"{_PERMISSIONS}/warehouse/{{warehouse_id}}/{level.noun}/{{{level.operation}_id}}"


_BY_ID: Final = "_by_id"
# Below which path the operations of each level are, and what the ids of their operations end in. Tabulars can be named by their
# own ids alone, too.
_PLACES: Final[Sequence[tuple[Level, str, str]]] = (
    (levels.SERVER, f"{_PERMISSIONS}/server", ""),
    (levels.PROJECT, f"{_PERMISSIONS}/project", ""),
    (levels.PROJECT, f"{_PERMISSIONS}/project/{{project_id}}", _BY_ID),
    (levels.WAREHOUSE, f"{_PERMISSIONS}/warehouse/{{warehouse_id}}", _BY_ID),
    (levels.NAMESPACE, f"{_PERMISSIONS}/namespace/{{namespace_id}}", _BY_ID),
    *((level, _tabular(level), _BY_ID) for level in (levels.TABLE, levels.VIEW, levels.GENERIC_TABLE)),
    *(
        (level, f"{_PERMISSIONS}/{level.noun}/{{{level.operation}_id}}", "_by_id_alone")
        for level in (levels.TABLE, levels.VIEW, levels.GENERIC_TABLE)
    ),
    (levels.ROLE, f"{_PERMISSIONS}/role/{{role_id}}", _BY_ID),
    (levels.TAG, f"{_PERMISSIONS}/tag/{{tag_definition_id}}", _BY_ID),
)


def _assignments(
    level: Level, path: str, suffix: str, grants: grants_pb2_grpc.GrantServiceAsyncStub
) -> Sequence[Operation]:
    answered = f"Get{level.title}AssignmentsResponse"
    taken = f"Update{level.title}AssignmentsRequest"
    said = level.noun.replace("-", " ")
    return (
        Operation(
            id=f"get_{level.operation}_assignments{suffix}",
            method="GET",
            path=f"{path}/assignments",
            summary=f"Who has which relation to a {said}.",
            handler=partial(list_assignments, grants=grants, level=level),
            query=(_RELATIONS,),
            answers={200: Answer("The assignments.", answered, _assignments_schema(level))},
            renderings=RENDERED,
            tag=_TAG,
            deprecated=level is levels.PROJECT and suffix == _BY_ID,
        ),
        Operation(
            id=f"update_{level.operation}_assignments{suffix}",
            method="POST",
            path=f"{path}/assignments",
            summary=f"Give and take relations to a {said}, all or none.",
            handler=partial(update_assignments, grants=grants, level=level),
            body=Body(taken, _update_schema(level)),
            answers={204: Answer("They are given and taken.")},
            renderings=APPLIED,
            tag=_TAG,
        ),
    )


def _actions(
    level: Level, path: str, suffix: str, grants: grants_pb2_grpc.GrantServiceAsyncStub
) -> Sequence[Operation]:
    found: list[Operation] = []
    by_project_id = level is levels.PROJECT and suffix == _BY_ID
    said = level.noun.replace("-", " ")
    if level.authorizer and not by_project_id:
        found.append(
            Operation(
                id=f"get_authorizer_{level.operation}_actions{'' if suffix == _BY_ID else suffix}",
                method="GET",
                path=f"{path}/authorizer-actions",
                summary=f"What a user or a role may do about the grants of a {said}.",
                handler=partial(allowed_actions, grants=grants, level=level, words=level.authorizer),
                query=PRINCIPAL,
                answers={200: _actions_answer(f"GetOpenFGA{level.title}ActionsResponse", level.authorizer)},
                renderings=INSPECTED,
                tag=_TAG,
            )
        )
    if level.access and level is not levels.GENERIC_TABLE and suffix in {"", _BY_ID}:
        found.append(
            Operation(
                id=f"get_{level.operation}_access{suffix}",
                method="GET",
                path=f"{path}/access",
                summary=f"What a user or a role may do to a {said}; the actions endpoints say it in their own words.",
                handler=partial(allowed_actions, grants=grants, level=level, words=level.access),
                query=PRINCIPAL,
                answers={200: _actions_answer(f"Get{level.title}AccessResponse", level.access)},
                renderings=INSPECTED,
                tag=_TAG,
                deprecated=True,
            )
        )
    return found


def _managed_access(level: Level, grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Sequence[Operation]:
    path = f"{_PERMISSIONS}/{level.noun}/{{{level.operation}_id}}"
    answered = GetWarehouseAuthPropertiesResponse if level is levels.WAREHOUSE else GetNamespaceAuthPropertiesResponse
    return (
        Operation(
            id=f"get_{level.operation}_by_id",
            method="GET",
            path=path,
            summary=f"Whether owners of what is in a {level.noun} are kept from granting.",
            handler=partial(get_managed_access, grants=grants, level=level),
            answers={200: Answer("Whether they are.", answered.__name__, answered)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id=f"set_{level.operation}_managed_access",
            method="POST",
            path=f"{path}/managed-access",
            summary=f"Keep owners of what is in a {level.noun} from granting, or no longer.",
            handler=partial(set_managed_access, grants=grants, level=level),
            body=Body("SetManagedAccessRequest", SetManagedAccessRequest),
            answers={200: Answer("It is so.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _assignment_schema(level: Level) -> Mapping[str, Any]:
    return {
        "type": "object",
        "description": "A relation; exactly one of `user` and `role` is given.",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {"type": {"enum": [*level.privileges]}, "user": {"type": "string"}, "role": _UUID},
    }


def _assignments_schema(level: Level) -> Mapping[str, Any]:
    properties: dict[str, Any] = {"assignments": {"type": "array", "items": _assignment_schema(level)}}
    if level is levels.PROJECT:
        properties["project-id"] = {"type": "string"}
    return {"type": "object", "required": [*properties], "properties": properties}


def _update_schema(level: Level) -> Mapping[str, Any]:
    entries = {"type": "array", "items": _assignment_schema(level), "maxItems": 100}
    return {"type": "object", "additionalProperties": False, "properties": {"writes": entries, "deletes": entries}}


def _actions_answer(name: str, words: Sequence[str]) -> Answer:
    items = {"type": "array", "items": {"enum": [*words]}}
    schema = {"type": "object", "required": ["allowed-actions"], "properties": {"allowed-actions": items}}
    return Answer("What is allowed.", name, schema)
