"""The server itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.management import documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2

_bootstrap_decoder: Final = msgspec.json.Decoder(documents.BootstrapRequest)


async def get_info(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """What this server is."""
    info = await server.GetServerInfo(server_pb2.GetServerInfoRequest(context=request.context))
    return json_response(
        documents.ServerInfo(
            version=info.version,
            lakekeeper_version=info.version,
            bootstrapped=info.bootstrapped,
            server_id=info.server_id,
            default_project_id=info.default_project_id or None,
            authz_backend=info.authz_backend,
            aws_system_identities_enabled=info.aws_system_identities_enabled,
            azure_system_identities_enabled=info.azure_system_identities_enabled,
            gcp_system_identities_enabled=info.gcp_system_identities_enabled,
            queues=list(info.queues),
            license_status=documents.LicenseStatus(),
        )
    )


async def bootstrap(request: Request, *, server: server_pb2_grpc.ServerServiceAsyncStub) -> Response:
    """Open the server for use."""
    document = await parsed(_bootstrap_decoder, request.body)
    await server.Bootstrap(
        server_pb2.BootstrapRequest(
            context=request.context,
            accept_terms_of_use=document.accept_terms_of_use,
            is_operator=document.is_operator,
        )
    )
    return NO_CONTENT


def in_project(context: context_pb2.RequestContext, project: str | None) -> context_pb2.RequestContext:
    """The context with the project that an older form of a call names; it counts before the header's."""
    if not project or not project.strip():
        return context
    changed = context_pb2.RequestContext()
    changed.CopyFrom(context)
    changed.project_id = project.strip()
    return changed


def operations(server: server_pb2_grpc.ServerServiceAsyncStub) -> Sequence[Operation]:
    """Information and bootstrap."""
    return (
        Operation(
            id="get_server_info",
            method="GET",
            path="/management/v1/info",
            summary="What this server is.",
            handler=partial(get_info, server=server),
            answers={200: Answer("The server.", "ServerInfo", documents.ServerInfo)},
            renderings=RENDERED,
            tag="server",
        ),
        Operation(
            id="bootstrap",
            method="POST",
            path="/management/v1/bootstrap",
            summary="Open the server for use, once; the caller becomes its first administrator.",
            handler=partial(bootstrap, server=server),
            body=Body("BootstrapRequest", documents.BootstrapRequest),
            answers={204: Answer("It is open.")},
            renderings=RENDERED,
            tag="server",
        ),
    )
