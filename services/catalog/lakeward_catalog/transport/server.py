"""ServerService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.server import Bootstrap, Facts
from lakeward_catalog.domain.model import Project, ProjectId, Server
from lakeward_catalog.transport.callers import presented
from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServerUseCases:
    """What ServerService does, each with its roles filled."""

    get_server: Callable[..., Awaitable[Server]]
    bootstrap: Callable[..., Awaitable[None]]
    get_project: Callable[..., Awaitable[Project]]


class ServerServicer(server_pb2_grpc.ServerServiceServicer):
    """The installation itself."""

    def __init__(self, use_cases: ServerUseCases, *, facts: Facts, default_project: ProjectId | None) -> None:
        """Serve the use cases; `facts` and `default_project` come from settings."""
        self._do = use_cases
        self._facts = facts
        self._default_project = default_project

    async def GetServerInfo(
        self, request: server_pb2.GetServerInfoRequest, caller: Caller
    ) -> server_pb2.GetServerInfoResponse:
        """See the contract."""
        server, facts = await self._do.get_server(), self._facts
        return server_pb2.GetServerInfoResponse(
            version=facts.version,
            bootstrapped=server.bootstrapped,
            server_id=str(server.server_id),
            default_project_id=self._default_project or "",
            authz_backend=facts.authz_backend,
            aws_system_identities_enabled=facts.aws_system_identities,
            azure_system_identities_enabled=facts.azure_system_identities,
            gcp_system_identities_enabled=facts.gcp_system_identities,
            queues=sorted(facts.queues),
        )

    async def Bootstrap(self, request: server_pb2.BootstrapRequest, caller: Caller) -> server_pb2.BootstrapResponse:
        """See the contract."""
        command = Bootstrap(accept_terms_of_use=request.accept_terms_of_use, is_operator=request.is_operator)
        await self._do.bootstrap(command, caller=caller, presented=presented(request.context))
        return server_pb2.BootstrapResponse()

    async def GetProject(self, request: server_pb2.GetProjectRequest, caller: Caller) -> server_pb2.GetProjectResponse:
        """See the contract."""
        project = await self._do.get_project(caller=caller)
        return server_pb2.GetProjectResponse(project_id=project.project_id, name=project.name)
