"""Lakeward with a fault between the metadata file's PUT and the compare-and-set of its pointer.

    python -m tests.support.failpoint lakeward|catalog

It is composed as `lakeward serve` composes it, except that the catalog's channel to vending is wrapped; the product has no
failpoint. `FAILPOINT` in the environment names the fault:

    die        kill this process once a file is written
    forget     answer as if the file were written: what the order of PUT and pointer guards against
    unlocked   read an unknown outcome back without waiting for the commit that may be under way
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_authz.bootstrap import authz
from lakeward_catalog.adapters.postgres import tabular_changes
from lakeward_catalog.bootstrap import catalog
from lakeward_catalog.settings import Alone
from lakeward_cli.settings import EverySetting
from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.peers import Peers
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_protocol.vending.v1 import vending_pb2
from lakeward_servicekit.joining import Joined, serve_grpc
from lakeward_servicekit.permits import PermitSigner, PermitVerifier
from lakeward_servicekit.process import loaded, told_to_stop
from lakeward_servicekit.rpc import Caller, Channel
from lakeward_vending.bootstrap import vending

DIE: Final = "die"
FORGET: Final = "forget"
UNLOCKED: Final = "unlocked"
_WRITE: Final = "/lakeward.vending.v1.FileService/WriteFile"


class Faulty:
    """A channel whose writes of files go as the environment says."""

    def __init__(self, channel: Channel, environ: Mapping[str, str]) -> None:
        self._channel = channel
        self._fault = environ["FAILPOINT"]

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        call = self._channel.unary_unary(method, *args, **kwargs)
        if method != _WRITE:
            return call

        async def write(request: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - a stub's own signature
            if self._fault == FORGET:
                return vending_pb2.WriteFileResponse()
            reply = await call(request, timeout=timeout)
            if self._fault == DIE:
                os.kill(os.getpid(), signal.SIGKILL)
            return reply

        return write


async def _lakeward(environ: Mapping[str, str]) -> None:
    settings = loaded(EverySetting, environ)
    signer = PermitSigner(Ed25519PrivateKey.generate())
    async with AsyncExitStack() as stack:
        deciding = await stack.enter_async_context(authz(settings.authz))
        storing = await stack.enter_async_context(
            vending(
                settings.vending,
                authz=deciding.channel(caller=Caller.CALLER_VENDING),
                verifier=PermitVerifier([signer.public_key]),
                remote=False,
            )
        )
        cataloguing = await stack.enter_async_context(
            catalog(
                settings.catalog,
                authz=deciding.channel(caller=Caller.CALLER_CATALOG),
                vending=Faulty(storing.channel(caller=Caller.CALLER_CATALOG), environ),
                signer=signer,
                remote=False,
            )
        )
        peers = Peers(
            catalog=cataloguing.channel(caller=Caller.CALLER_GATEWAY),
            vending=storing.channel(caller=Caller.CALLER_GATEWAY),
        )

        async def readiness() -> Any:
            from lakeward_cli.composing import probes_of

            return [probe for host in (deciding, storing, cataloguing) for probe in await probes_of(host)]

        application = await stack.enter_async_context(gateway(settings.gateway, peers=peers, readiness=readiness))
        server = settings.gateway.server
        listener = bound_socket(server.bind_ip, server.listen_port)
        await stack.enter_async_context(serve_http(application, listener=listener))
        await told_to_stop()


async def _catalog(environ: Mapping[str, str]) -> None:
    settings = loaded(Alone, environ)
    joined = Joined("catalog", settings.joints)
    async with (
        joined.channel("authz") as authz_channel,
        joined.channel("vending") as vending_channel,
        catalog(
            settings.service,
            authz=authz_channel,
            vending=Faulty(vending_channel, environ),
            signer=PermitSigner(joined.private_key()),
            remote=True,
        ) as host,
    ):
        await serve_grpc(host, settings.endpoint.listen, joined)


if __name__ == "__main__":
    if os.environ["FAILPOINT"] == UNLOCKED:
        tabular_changes.CURRENT = tabular_changes.CURRENT.replace(" for share", "")  # type: ignore[misc]
    asyncio.run({"lakeward": _lakeward, "catalog": _catalog}[sys.argv[1]](os.environ))
