"""What may be done to an object, in the words of the catalog's API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.errors import INSPECTED
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import PRINCIPAL, queried
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Operation
from lakeward_protocol.authz.v1 import grants_pb2, grants_pb2_grpc

_TAG: Final = "authorization"
_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"
_PLACES: Final[Mapping[Level, str]] = {
    levels.SERVER: "/management/v1/server",
    levels.PROJECT: "/management/v1/project",
    levels.WAREHOUSE: _WAREHOUSE,
    **{level: f"{_WAREHOUSE}/{level.noun}/{{{level.operation}_id}}" for level in levels.IN_WAREHOUSE},
    levels.ROLE: "/management/v1/role/{role_id}",
    levels.TAG: "/management/v1/tag-definition/{tag_definition_id}",
}
# Looked for in the selected project alone, as everything else about them.
_OF_A_PROJECT: Final = frozenset({levels.ROLE, levels.TAG})


async def get_actions(request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level) -> Response:
    """What the caller, or another, may do to an object that is there for them."""
    response = await grants.GetAllowedActions(
        grants_pb2.GetAllowedActionsRequest(
            context=request.context,
            object=level.named(*request.arguments, of_this_project=level in _OF_A_PROJECT),
            grantee=queried(request.query),
        )
    )
    said = levels.said(level.catalog, response.actions)
    return json_response({"allowed-actions": [{"action": word} for word in said]})


def operations(grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Sequence[Operation]:
    """The actions of every kind of object."""
    return [
        Operation(
            id=f"get_{level.operation}_actions",
            method="GET",
            path=f"{path}/actions",
            summary=f"What may be done to a {level.noun.replace('-', ' ')}, by the caller, or by another user or role.",
            handler=partial(get_actions, grants=grants, level=level),
            query=PRINCIPAL,
            answers={
                200: Answer("What is allowed.", f"GetLakekeeper{level.title}ActionsResponse", _schema(level.catalog))
            },
            renderings=INSPECTED,
            tag=_TAG,
        )
        for level, path in _PLACES.items()
    ]


def _schema(words: Sequence[str]) -> Mapping[str, Any]:
    action = {"type": "object", "required": ["action"], "properties": {"action": {"enum": [*words]}}}
    return {
        "type": "object",
        "required": ["allowed-actions"],
        "properties": {"allowed-actions": {"type": "array", "items": action}},
    }
