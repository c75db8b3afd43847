"""Where the gateway is put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import Any, Final

from lakeward_gateway import health, pages
from lakeward_gateway.asgi import Application
from lakeward_gateway.body import Bodies
from lakeward_gateway.callers import Callers
from lakeward_gateway.coalescing import coalesced_loads
from lakeward_gateway.connections import Connections
from lakeward_gateway.context import Contexts
from lakeward_gateway.cors import Cors
from lakeward_gateway.dialects.iceberg.errors import RENDERED
from lakeward_gateway.dialects.iceberg.operations import iceberg_operations
from lakeward_gateway.dialects.management.operations import management_operations
from lakeward_gateway.forwarded import Links, Proxies
from lakeward_gateway.memory import BodyMemory
from lakeward_gateway.openapi import openapi_document
from lakeward_gateway.operation import Operation
from lakeward_gateway.peers import Peers, Stubs
from lakeward_gateway.settings import GatewaySettings
from lakeward_servicekit.rpc import RemoteChannel
from lakeward_servicekit.system import request_id

# Requests under way at once: beyond them 429.
_MAX_IN_FLIGHT: Final = 2048
_ID_FORMATS: Final = {"prefix": "uuid", "tabular-id": "uuid", "warehouse_id": "uuid"}


@asynccontextmanager
async def gateway(
    settings: GatewaySettings,
    *,
    peers: Peers,
    readiness: health.Readiness,
    max_in_flight: int = _MAX_IN_FLIGHT,
) -> AsyncIterator[Application]:
    """The gateway as an ASGI application.

    Args:
        settings: see there.
        peers: channels to the services behind it, to pods or into this process.
        readiness: asks the services whether they can serve; for /health.
        max_in_flight: requests under way at once.
    """
    server = settings.server
    stubs = _stubs(peers)
    iceberg = iceberg_operations(stubs, prefix_template=server.prefix_template)
    management = management_operations(stubs)
    operations: list[Operation] = [*iceberg, *management]
    operations += health.operations(readiness, maintenance=server.maintenance_mode, renderings=RENDERED)
    if server.serve_swagger_ui:
        operations += pages.operations(
            _documents(iceberg, management), version=metadata.version("lakeward-gateway"), renderings=RENDERED
        )
    proxies = Proxies(server.trusted_proxies, heed_forwarded=server.use_x_forwarded_headers)
    links = Links(base_uri=server.base_uri, proxies=proxies)
    yield Application(
        operations,
        renderings=RENDERED,
        contexts=Contexts(links=links, new_id=request_id),
        bodies=Bodies(
            limit=server.max_request_body_size,
            memory=BodyMemory(total=server.body_memory, largest=server.max_request_body_size),
            callers=Callers(stubs.server),
            proxies=proxies,
        ),
        connections=Connections(
            total=server.max_connections, per_client=server.max_connections_per_client, proxies=proxies
        ),
        cors=Cors(server.allow_origin) if server.allow_origin else None,
        max_time=server.max_request_time,
        max_in_flight=max_in_flight,
        new_id=request_id,
    )


def _stubs(peers: Peers) -> Stubs:
    stubs = Stubs(peers)
    if isinstance(peers.catalog, RemoteChannel):
        return Stubs(peers, load_table=coalesced_loads(stubs.tables))
    return stubs


def openapi_documents(stubs: Stubs) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    """What makes the OpenAPI document of each API, by its name.

    Args:
        stubs: of no matter what; nothing is called.
    """
    return _documents(iceberg_operations(stubs, prefix_template="{warehouse_id}"), management_operations(stubs))


def _documents(
    iceberg: Sequence[Operation], management: Sequence[Operation]
) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    version = metadata.version("lakeward-gateway")
    document = partial(openapi_document, version=version, formats=_ID_FORMATS)
    return {
        "catalog": partial(document, iceberg, title="Lakeward Iceberg REST"),
        "management": partial(document, management, title="Lakeward management"),
    }
