"""Projects: paths, bodies and replies. Which one is said by the header x-project-id, in older forms by the path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.management import documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.dialects.management.server import in_project
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2

_TAG: Final = "project"
_PROJECT: Final = "/management/v1/project"
_create_decoder: Final = msgspec.json.Decoder(documents.CreateProjectRequest)
_rename_decoder: Final = msgspec.json.Decoder(documents.RenameProjectRequest)


async def get_project(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """The selected project, or the one that the path names."""
    project = await server.GetProject(server_pb2.GetProjectRequest(context=_selected(request)))
    return json_response(documents.GetProjectResponse(project_id=project.project_id, project_name=project.name))


async def list_projects(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """The projects that the caller may see."""
    response = await server.ListProjects(server_pb2.ListProjectsRequest(context=request.context))
    return json_response(
        documents.ListProjectsResponse(
            [documents.GetProjectResponse(each.project_id, each.name) for each in response.projects]
        )
    )


async def create_project(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """Make a project."""
    document = await parsed(_create_decoder, request.body)
    response = await server.CreateProject(
        server_pb2.CreateProjectRequest(
            context=request.context, name=document.project_name, project_id=document.project_id
        )
    )
    return json_response(documents.CreateProjectResponse(response.project.project_id), status=201)


async def rename_project(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """Give a project another name."""
    document = await parsed(_rename_decoder, request.body)
    await server.RenameProject(server_pb2.RenameProjectRequest(context=_selected(request), name=document.new_name))
    return Response(200)


async def delete_project(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """Delete an empty project."""
    await server.DeleteProject(server_pb2.DeleteProjectRequest(context=_selected(request)))
    return NO_CONTENT


def _selected(request: Request) -> context_pb2.RequestContext:
    return in_project(request.context, request.arguments[0] if request.arguments else None)


def operations(server: server_pb2_grpc.ServerServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on projects that is served."""
    return (*_reading(server), *_changing(server))


def _reading(server: server_pb2_grpc.ServerServiceAsyncStub) -> Sequence[Operation]:
    project = Answer("The project.", "GetProjectResponse", documents.GetProjectResponse)
    reading = partial(get_project, server=server)
    return (
        Operation(
            id="list_projects",
            method="GET",
            path="/management/v1/project-list",
            summary="The projects that the caller may see, by name.",
            handler=partial(list_projects, server=server),
            answers={200: Answer("Projects.", "ListProjectsResponse", documents.ListProjectsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_project",
            method="GET",
            path=_PROJECT,
            summary="The selected project, else the default one.",
            handler=reading,
            answers={200: project},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="get_default_project_deprecated",
            method="GET",
            path="/management/v1/default-project",
            summary="As GET /management/v1/project, at its older path.",
            handler=reading,
            answers={200: project},
            renderings=RENDERED,
            tag=_TAG,
            deprecated=True,
        ),
        Operation(
            id="get_project_by_id_deprecated",
            method="GET",
            path=f"{_PROJECT}/{{project_id}}",
            summary="A project by its id; the header x-project-id says the same.",
            handler=reading,
            answers={200: project},
            renderings=RENDERED,
            tag=_TAG,
            deprecated=True,
        ),
    )


def _changing(server: server_pb2_grpc.ServerServiceAsyncStub) -> Sequence[Operation]:
    deleting = partial(delete_project, server=server)
    renaming = partial(rename_project, server=server)
    rename = Body("RenameProjectRequest", documents.RenameProjectRequest)
    return (
        Operation(
            id="create_project",
            method="POST",
            path=_PROJECT,
            summary="Make a project.",
            handler=partial(create_project, server=server),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateProjectRequest", documents.CreateProjectRequest),
            answers={201: Answer("It is made.", "CreateProjectResponse", documents.CreateProjectResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="rename_project",
            method="POST",
            path=f"{_PROJECT}/rename",
            summary="Give the selected project, else the default one, another name.",
            handler=renaming,
            body=rename,
            answers={200: Answer("It has the name.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="rename_project_by_id_deprecated",
            method="POST",
            path=f"{_PROJECT}/{{project_id}}/rename",
            summary="Give a project another name; the header x-project-id says the same as the path.",
            handler=renaming,
            body=rename,
            answers={200: Answer("It has the name.")},
            renderings=RENDERED,
            tag=_TAG,
            deprecated=True,
        ),
        Operation(
            id="delete_project",
            method="DELETE",
            path=_PROJECT,
            summary="Delete the selected project, else the default one; it must be empty.",
            handler=deleting,
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="delete_project_by_id_deprecated",
            method="DELETE",
            path=f"{_PROJECT}/{{project_id}}",
            summary="Delete an empty project; the header x-project-id says the same as the path.",
            handler=deleting,
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
            deprecated=True,
        ),
    )
