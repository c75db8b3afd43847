"""Where the gateway is put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import Any, Final

from lakeward_gateway import health, pages
from lakeward_gateway.asgi import Application
from lakeward_gateway.body import Bodies
from lakeward_gateway.callers import Callers
from lakeward_gateway.coalescing import coalesced_generic_loads, coalesced_loads
from lakeward_gateway.connections import Connections
from lakeward_gateway.context import Contexts
from lakeward_gateway.cors import Cors
from lakeward_gateway.counting import Counts, flush
from lakeward_gateway.dialects.generic.operations import documented, generic_operations
from lakeward_gateway.dialects.iceberg.errors import RENDERED
from lakeward_gateway.dialects.iceberg.operations import iceberg_operations
from lakeward_gateway.dialects.management.operations import management_operations
from lakeward_gateway.errors import ErrorStyle
from lakeward_gateway.forwarded import Links, Proxies
from lakeward_gateway.memory import BodyMemory
from lakeward_gateway.openapi import openapi_document
from lakeward_gateway.operation import PROJECT_ID, Operation
from lakeward_gateway.peers import Peers, Stubs
from lakeward_gateway.settings import GatewaySettings
from lakeward_servicekit.rpc import RemoteChannel
from lakeward_servicekit.starts import Starts
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
    generic = generic_operations(stubs)
    iceberg = iceberg_operations(stubs, prefix_template=server.prefix_template, beside=documented(generic))
    management = management_operations(stubs)
    operations: list[Operation] = [*iceberg, *generic, *management]
    error_styles: dict[bytes, ErrorStyle] = {}
    if settings.scim.enabled:
        # Imported here: who serves no SCIM needs neither its models nor those' libraries.
        from lakeward_gateway.dialects.scim import errors as scim_errors  # noqa: PLC0415
        from lakeward_gateway.dialects.scim.operations import scim_operations  # noqa: PLC0415

        operations += scim_operations(stubs.provisioning)
        error_styles[scim_errors.PREFIX] = scim_errors.STYLE
    operations += health.operations(readiness, maintenance=server.maintenance_mode, renderings=RENDERED)
    if server.serve_swagger_ui:
        operations += pages.operations(
            _documents(iceberg, generic, management), version=metadata.version("lakeward-gateway"), renderings=RENDERED
        )
    proxies = Proxies(server.trusted_proxies, heed_forwarded=server.use_x_forwarded_headers)
    links = Links(base_uri=server.base_uri, proxies=proxies)
    counts, starts = Counts(), Starts()
    application = Application(
        operations,
        renderings=RENDERED,
        contexts=Contexts(links=links, new_id=request_id, proxies=proxies),
        bodies=Bodies(
            limit=server.max_request_body_size,
            memory=BodyMemory(total=server.body_memory, largest=server.max_request_body_size),
            callers=Callers(stubs.server),
            proxies=proxies,
            starts=starts,
        ),
        connections=Connections(
            total=server.max_connections, per_client=server.max_connections_per_client, proxies=proxies
        ),
        starts=starts,
        cors=Cors(server.allow_origin) if server.allow_origin else None,
        max_time=server.max_request_time,
        max_in_flight=max_in_flight,
        new_id=request_id,
        counts=counts,
        error_styles=error_styles,
    )
    every = server.endpoint_stat_flush_interval
    flushing = asyncio.create_task(flush(counts, stubs.statistics, operations=operations, every=every))
    try:
        yield application
    finally:
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)


def _stubs(peers: Peers) -> Stubs:
    stubs = Stubs(peers)
    if isinstance(peers.catalog, RemoteChannel):
        return Stubs(
            peers,
            load_table=coalesced_loads(stubs.tables),
            load_generic_table=coalesced_generic_loads(stubs.generic_tables),
        )
    return stubs


class _Nowhere:
    """A channel that is never called."""

    def unary_unary(self, method: str, *args: object, **kwargs: object) -> object:
        del args, kwargs
        return method

    unary_stream = unary_unary


def openapi_documents() -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    """What makes the OpenAPI document of each API, by its name; no gateway has to run for it."""
    nowhere: Any = _Nowhere()
    stubs = Stubs(Peers(authz=nowhere, catalog=nowhere, vending=nowhere))
    iceberg = iceberg_operations(stubs, prefix_template="{warehouse_id}")
    return _documents(iceberg, generic_operations(stubs), management_operations(stubs))


def _documents(
    iceberg: Sequence[Operation], generic: Sequence[Operation], management: Sequence[Operation]
) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    version = metadata.version("lakeward-gateway")
    document = partial(openapi_document, version=version, formats=_ID_FORMATS)
    return {
        "catalog": partial(document, iceberg, title="Lakeward Iceberg REST"),
        "generic-table": partial(document, generic, title="Lakeward generic tables"),
        "management": partial(document, management, title="Lakeward management", headers=(PROJECT_ID,)),
    }
