"""All services in one process, joined by reference. Nothing else of Lakeward knows that they are."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_authz.bootstrap import authz
from lakeward_catalog.bootstrap import catalog
from lakeward_cli.settings import EverySetting
from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.health import Probe
from lakeward_gateway.peers import Peers
from lakeward_servicekit.permits import PermitVerifier, Seal, SealingSigner
from lakeward_servicekit.rpc import Caller, Host
from lakeward_vending.bootstrap import vending


@dataclasses.dataclass(frozen=True, slots=True)
class Composition:
    """Services that run.

    Attributes:
        application: the gateway, of ASGI.
        peers: the services behind it, as the gateway reaches them.
    """

    application: Any
    peers: Peers


@asynccontextmanager
async def one_process(settings: EverySetting) -> AsyncIterator[Composition]:
    """The gateway over services of this process, until the block ends.

    Catalog's key for permits is made here and leaves with the process: vending, which checks them, is in it too.
    """
    seal = Seal()
    signer = SealingSigner(Ed25519PrivateKey.generate(), seal)
    async with AsyncExitStack() as stack:
        deciding = await stack.enter_async_context(authz(settings.authz))
        storing = await stack.enter_async_context(
            vending(
                settings.vending,
                authz=deciding.channel(caller=Caller.CALLER_VENDING),
                verifier=PermitVerifier([], seal=seal),
                remote=False,
            )
        )
        cataloguing = await stack.enter_async_context(
            catalog(
                settings.catalog,
                authz=deciding.channel(caller=Caller.CALLER_CATALOG),
                vending=storing.channel(caller=Caller.CALLER_CATALOG),
                signer=signer,
                remote=False,
            )
        )
        peers = Peers(
            authz=deciding.channel(caller=Caller.CALLER_GATEWAY),
            catalog=cataloguing.channel(caller=Caller.CALLER_GATEWAY),
            vending=storing.channel(caller=Caller.CALLER_GATEWAY),
        )
        hosts = (deciding, storing, cataloguing)

        async def readiness() -> Sequence[Probe]:
            return [probe for host in hosts for probe in await probes_of(host)]

        application = await stack.enter_async_context(gateway(settings.gateway, peers=peers, readiness=readiness))
        yield Composition(application, peers)


async def probes_of(host: Host) -> Sequence[Probe]:
    """How a host of this process is."""
    found = await host.probe()
    now = datetime.now(UTC)
    return [Probe(host.name, name, healthy, now) for name, healthy in found.items()]
