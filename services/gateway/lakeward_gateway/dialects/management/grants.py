"""Grants: what was given on each kind of object, by whatever decides; and what can be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

import msgspec

from lakeward_gateway.dialects.management import levels, paging
from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.errors import APPLIED, INSPECTED, RENDERED
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import PRINCIPAL, UserOrRole, grantee_of, queried, shown
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.authz.v1 import grants_pb2, grants_pb2_grpc

_TAG: Final = "grant"
_PAGED: Final = (*PRINCIPAL, *paging.PARAMETERS)


class GrantEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A grant to give or to take."""

    principal: UserOrRole
    privilege: Annotated[str, msgspec.Meta(extra_json_schema={"minLength": 1, "maxLength": 256})]


class ApplyGrantsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Grants to give and to take, all or none; 1 to 100 together."""

    writes: list[GrantEntry] = []
    deletes: list[GrantEntry] = []


class GrantResource(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What a grant is on: its kind, and the ids that name one of that kind."""

    type: Literal["server", "project", "warehouse", "namespace", "table", "view", "generic-table", "tag-definition"]
    project_id: str | None = None
    warehouse_id: str | None = None
    namespace_id: str | None = None
    table_id: str | None = None
    view_id: str | None = None
    generic_table_id: str | None = None
    tag_definition_id: str | None = None


class GrantResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A grant."""

    principal: UserOrRole
    resource: GrantResource
    privilege: str
    recognized: bool
    created_at: str | None


class ListGrantsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Grants; a page without a token is the last one."""

    grants: list[GrantResponse]
    next_page_token: str | None


class PrivilegeDescriptor(msgspec.Struct, frozen=True, rename="kebab"):
    """Something that can be given."""

    name: str
    display_name: str
    description: str | None
    category: str | None
    resource_type: str


class GrantablePrivilege(msgspec.Struct, frozen=True):
    """A privilege, and whether the principal may give and take it."""

    privilege: PrivilegeDescriptor
    allowed: bool


class ResourceGrantablePrivilegesResponse(msgspec.Struct, frozen=True):
    """Every privilege of an object's kind."""

    privileges: list[GrantablePrivilege]


class GrantablePrivilegesResponse(msgspec.Struct, frozen=True):
    """Every privilege there is, by kind of object."""

    privileges: dict[str, list[PrivilegeDescriptor]]


_apply: Final = msgspec.json.Decoder(ApplyGrantsRequest)


async def list_grants(request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level) -> Response:
    """What was given on an object."""
    query = request.query
    response = await grants.ListGrants(
        grants_pb2.ListGrantsRequest(
            context=request.context, object=_named(level, request), grantee=queried(query), page=paging.page_of(query)
        )
    )
    return _listed(response.grants, response.next_page_token)


async def list_grants_of_principal(request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Response:
    """What was given to one principal in the selected project and on all that is in it."""
    query = request.query
    response = await grants.ListGrantsOfPrincipal(
        grants_pb2.ListGrantsOfPrincipalRequest(
            context=request.context, grantee=queried(query) or grants_pb2.Grantee(), page=paging.page_of(query)
        )
    )
    return _listed(response.grants, response.next_page_token)


async def apply_grants(request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level) -> Response:
    """Give and take; what is so already is passed over."""
    document = await parsed(_apply, request.body)
    await grants.ChangeGrants(
        grants_pb2.ChangeGrantsRequest(
            context=request.context,
            object=_named(level, request),
            writes=map(_entry, document.writes),
            deletes=map(_entry, document.deletes),
        )
    )
    return NO_CONTENT


async def grantable_privileges(
    request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub, level: Level
) -> Response:
    """What a principal may give on an object."""
    response = await grants.GetGrantablePrivileges(
        grants_pb2.GetGrantablePrivilegesRequest(
            context=request.context, object=_named(level, request), grantee=queried(request.query)
        )
    )
    return json_response(
        ResourceGrantablePrivilegesResponse(
            [GrantablePrivilege(_described(each.privilege), each.allowed) for each in response.privileges]
        )
    )


async def every_privilege(request: Request, *, grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Response:
    """What can be given at all."""
    response = await grants.ListPrivileges(grants_pb2.ListPrivilegesRequest(context=request.context))
    found: dict[str, list[PrivilegeDescriptor]] = {level.noun: [] for level in levels.GRANTED}
    for privilege in response.privileges:
        if (level := levels.BY_KIND[privilege.kind]) in levels.GRANTED:
            found[level.noun].append(_described(privilege))
    return json_response(GrantablePrivilegesResponse(found))


def _named(level: Level, request: Request) -> grants_pb2.ObjectName:
    # what is in a project is there in its own alone; the server is in none
    return level.named(*request.arguments, of_this_project=level not in {levels.SERVER, levels.PROJECT})


def _entry(entry: GrantEntry) -> grants_pb2.GrantEntry:
    return grants_pb2.GrantEntry(grantee=grantee_of(entry.principal), privilege=entry.privilege)


def _listed(found: Iterable[grants_pb2.Grant], next_page_token: str) -> Response:
    return json_response(ListGrantsResponse([_shown(grant) for grant in found], next_page_token or None))


def _shown(grant: grants_pb2.Grant) -> GrantResponse:
    return GrantResponse(
        principal=shown(grant.grantee),
        resource=msgspec.convert(levels.resource_of(grant.object), GrantResource),
        privilege=grant.privilege,
        recognized=grant.recognized,
        created_at=time_text(grant.created_at),
    )


def _described(privilege: grants_pb2.Privilege) -> PrivilegeDescriptor:
    return PrivilegeDescriptor(
        name=privilege.name,
        display_name=privilege.display_name,
        description=privilege.description or None,
        category=privilege.category or None,
        resource_type=levels.BY_KIND[privilege.kind].noun,
    )


def operations(grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on grants."""
    found: list[Operation] = [
        Operation(
            id="list_grants",
            method="GET",
            path="/management/v1/grants",
            summary="What was given to one user or role in the selected project and on all that is in it.",
            handler=partial(list_grants_of_principal, grants=grants),
            query=_PAGED,
            answers={200: Answer("Grants, by object.", "ListGrantsResponse", ListGrantsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_grantable_privileges",
            method="GET",
            path="/management/v1/grants/grantable-privileges",
            summary="Everything that can be given, by kind of object.",
            handler=partial(every_privilege, grants=grants),
            answers={200: Answer("The privileges.", "GrantablePrivilegesResponse", GrantablePrivilegesResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    ]
    for level, path in _PLACES.items():
        found += _of(level, path, grants)
    return found


_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"
_PLACES: Final[Mapping[Level, str]] = {
    levels.SERVER: "/management/v1/server",
    levels.PROJECT: "/management/v1/project",
    levels.WAREHOUSE: _WAREHOUSE,
    **{level: f"{_WAREHOUSE}/{level.noun}/{{{level.operation}_id}}" for level in levels.IN_WAREHOUSE},
    levels.TAG: "/management/v1/tag-definition/{tag_definition_id}",
}


def _of(level: Level, path: str, grants: grants_pb2_grpc.GrantServiceAsyncStub) -> Sequence[Operation]:
    said = level.noun.replace("-", " ")
    allowed = Answer(
        "Every privilege, and whether.", "ResourceGrantablePrivilegesResponse", ResourceGrantablePrivilegesResponse
    )
    return (
        Operation(
            id=f"list_{level.operation}_grants",
            method="GET",
            path=f"{path}/grants",
            summary=f"What was given on a {said}: everything, or to one user or role alone.",
            handler=partial(list_grants, grants=grants, level=level),
            query=_PAGED,
            answers={200: Answer("Grants, by user and role.", "ListGrantsResponse", ListGrantsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id=f"apply_{level.operation}_grants",
            method="POST",
            path=f"{path}/grants",
            summary=f"Give and take on a {said}, all or none; what is so already is passed over.",
            handler=partial(apply_grants, grants=grants, level=level),
            body=Body("ApplyGrantsRequest", ApplyGrantsRequest),
            answers={204: Answer("It is so.")},
            renderings=APPLIED,
            tag=_TAG,
        ),
        Operation(
            id=f"get_{level.operation}_grantable_privileges",
            method="GET",
            path=f"{path}/grants/grantable-privileges",
            summary=f"What may be given on a {said}, by the caller, or by another user or role.",
            handler=partial(grantable_privileges, grants=grants, level=level),
            query=PRINCIPAL,
            answers={200: allowed},
            renderings=INSPECTED,
            tag=_TAG,
        ),
    )
