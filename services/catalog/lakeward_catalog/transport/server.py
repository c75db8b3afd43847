"""ServerService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller, parse_project_id
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.projects import (
    CreateProject,
    ProjectCreations,
    ProjectDeletions,
    ProjectListings,
    ProjectRenames,
    RenameProject,
)
from lakeward_catalog.application.server import Bootstrap, Facts, ServerBootstrap
from lakeward_catalog.domain.model import Project
from lakeward_catalog.transport.callers import presented
from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc
from lakeward_servicekit.authorization.actions import Action


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServerServicer(server_pb2_grpc.ServerServiceServicer):
    """The installation itself. Whoever is authenticated may know what it talks to."""

    doors: Doors
    bootstrap: ServerBootstrap
    facts: Facts
    list_projects: ProjectListings
    create_project: ProjectCreations
    rename_project: ProjectRenames
    delete_project: ProjectDeletions

    async def GetServerInfo(
        self, request: server_pb2.GetServerInfoRequest, caller: Caller
    ) -> server_pb2.GetServerInfoResponse:
        """See the contract."""
        server, facts = await self.doors.servers.server(), self.facts
        return server_pb2.GetServerInfoResponse(
            version=facts.version,
            bootstrapped=server.bootstrapped,
            server_id=str(server.server_id),
            default_project_id=self.doors.default_project or "",
            authz_backend=facts.authz_backend,
            aws_system_identities_enabled=facts.aws_system_identities,
            azure_system_identities_enabled=facts.azure_system_identities,
            gcp_system_identities_enabled=facts.gcp_system_identities,
            queues=sorted(facts.queues),
        )

    async def Bootstrap(self, request: server_pb2.BootstrapRequest, caller: Caller) -> server_pb2.BootstrapResponse:
        """See the contract."""
        command = Bootstrap(accept_terms_of_use=request.accept_terms_of_use, is_operator=request.is_operator)
        await self.bootstrap(command, caller=caller, presented=presented(request.context))
        return server_pb2.BootstrapResponse()

    async def GetProject(self, request: server_pb2.GetProjectRequest, caller: Caller) -> server_pb2.GetProjectResponse:
        """See the contract."""
        project = await self.doors.project(Action.PROJECT_GET_METADATA, caller=caller)
        return server_pb2.GetProjectResponse(project_id=project.project_id, name=project.name)

    async def ListProjects(
        self, request: server_pb2.ListProjectsRequest, caller: Caller
    ) -> server_pb2.ListProjectsResponse:
        """See the contract."""
        found = await self.list_projects(caller=caller)
        return server_pb2.ListProjectsResponse(projects=[_project(each) for each in found])

    async def CreateProject(
        self, request: server_pb2.CreateProjectRequest, caller: Caller
    ) -> server_pb2.CreateProjectResponse:
        """See the contract."""
        project_id = parse_project_id(request.project_id) if request.HasField("project_id") else None
        project = await self.create_project(CreateProject(request.name, project_id), caller=caller)
        return server_pb2.CreateProjectResponse(project=_project(project))

    async def RenameProject(
        self, request: server_pb2.RenameProjectRequest, caller: Caller
    ) -> server_pb2.RenameProjectResponse:
        """See the contract."""
        project = await self.rename_project(RenameProject(request.name), caller=caller)
        return server_pb2.RenameProjectResponse(project=_project(project))

    async def DeleteProject(
        self, request: server_pb2.DeleteProjectRequest, caller: Caller
    ) -> server_pb2.DeleteProjectResponse:
        """See the contract."""
        await self.delete_project(caller=caller)
        return server_pb2.DeleteProjectResponse()


def _project(project: Project) -> server_pb2.Project:
    return server_pb2.Project(project_id=project.project_id, name=project.name)
