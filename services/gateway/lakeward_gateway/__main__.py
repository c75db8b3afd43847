"""`python -m lakeward_gateway`: the gateway in a process of its own, which meets the services over gRPC."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Final

from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.health import Probe
from lakeward_gateway.peers import Peers
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_gateway.settings import Alone
from lakeward_servicekit.joining import PATIENCE, Joined
from lakeward_servicekit.process import loaded, run, told_to_stop
from lakeward_servicekit.rpc import Channel, is_serving

_log: Final = logging.getLogger(__name__)


async def serve(environ: Mapping[str, str]) -> None:
    """Serve until told to stop."""
    settings = loaded(Alone, environ)
    joined = Joined("gateway", settings.joints)
    server = settings.service.server
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(joined.observed())
        authz = await stack.enter_async_context(joined.channel("authz"))
        catalog = await stack.enter_async_context(joined.channel("catalog"))
        vending = await stack.enter_async_context(joined.channel("vending"))

        async def readiness() -> Sequence[Probe]:
            # authz is asked by the catalog, which can't serve without it
            return [await _probe("catalog", catalog), await _probe("vending", vending)]

        peers = Peers(authz=authz, catalog=catalog, vending=vending)
        application = await stack.enter_async_context(gateway(settings.service, peers=peers, readiness=readiness))
        listener = bound_socket(server.bind_ip, server.listen_port)
        port = await stack.enter_async_context(serve_http(application, listener=listener))
        _log.info("serving", extra={"bind_ip": server.bind_ip, "port": port})
        await told_to_stop()


async def _probe(service: str, channel: Channel) -> Probe:
    """How a peer says that it is."""
    return Probe(service, "grpc", await is_serving(channel, seconds=PATIENCE), datetime.now(UTC))


if __name__ == "__main__":
    run(serve(os.environ))
