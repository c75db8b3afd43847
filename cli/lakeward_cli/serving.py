"""`lakeward serve`: everything in one process, or one service that meets the others over gRPC."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lakeward_cli.signals import told_to_stop
from lakeward_gateway.health import Probe
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.telemetry.logs import configure

if TYPE_CHECKING:
    from lakeward_cli.joining import Joined

_log = logging.getLogger(__name__)
T = TypeVar("T")


def loaded(shape: type[T], environ: Mapping[str, str]) -> T:
    """Settings from the environment, with the log set up and told of every warning.

    Raises:
        SettingsError: with everything that is wrong.
    """
    log = load(LogSettings, environ).settings
    configure(level=log.level, format=log.format, with_source=log.with_source)
    found = load(shape, environ)
    for warning in found.warnings:
        _log.warning("a setting has no effect", extra={"warning": warning})
    return found.settings


async def serve_all(environ: Mapping[str, str], *, fd: int | None = None) -> None:
    """Host all services in this process until told to stop; on a listener that was handed over, where there is one."""
    from lakeward_cli.composing import one_process  # noqa: PLC0415 - only this composition needs every service
    from lakeward_cli.settings import EverySetting  # noqa: PLC0415 - the same

    settings = loaded(EverySetting, environ)
    server = settings.gateway.server
    async with AsyncExitStack() as stack:
        composition = await stack.enter_async_context(one_process(settings))
        listener = bound_socket(server.bind_ip, server.listen_port) if fd is None else socket.socket(fileno=fd)
        port = await stack.enter_async_context(serve_http(composition.application, listener=listener))
        _log.info("serving", extra={"bind_ip": server.bind_ip, "port": port})
        await told_to_stop()


async def serve_one(service: str, environ: Mapping[str, str]) -> None:
    """Host one service in this process until told to stop."""
    await {"catalog": _catalog, "authz": _authz, "vending": _vending, "gateway": _gateway}[service](environ)


async def _authz(environ: Mapping[str, str]) -> None:
    from lakeward_authz.bootstrap import authz  # noqa: PLC0415 - a pod imports what it runs
    from lakeward_cli.joining import Joined  # noqa: PLC0415
    from lakeward_cli.settings import AuthzAlone  # noqa: PLC0415

    settings = loaded(AuthzAlone, environ)
    joined = Joined("authz", settings.joints)
    async with authz(settings.service) as host:
        await _serve_grpc(host, settings.endpoint.listen, joined)


async def _vending(environ: Mapping[str, str]) -> None:
    from lakeward_cli.joining import Joined  # noqa: PLC0415
    from lakeward_cli.settings import VendingAlone  # noqa: PLC0415
    from lakeward_servicekit.permits import PermitVerifier  # noqa: PLC0415
    from lakeward_vending.bootstrap import vending  # noqa: PLC0415

    settings = loaded(VendingAlone, environ)
    joined = Joined("vending", settings.joints)
    verifier = PermitVerifier([joined.public_key_of("catalog")])
    async with (
        joined.channel("authz") as authz,
        vending(settings.service, authz=authz, verifier=verifier, remote=True) as host,
    ):
        await _serve_grpc(host, settings.endpoint.listen, joined)


async def _catalog(environ: Mapping[str, str]) -> None:
    from lakeward_catalog.bootstrap import catalog  # noqa: PLC0415
    from lakeward_cli.joining import Joined, ask  # noqa: PLC0415
    from lakeward_cli.settings import CatalogAlone  # noqa: PLC0415
    from lakeward_servicekit.permits import PermitSigner  # noqa: PLC0415

    settings = loaded(CatalogAlone, environ)
    joined = Joined("catalog", settings.joints)
    signer = PermitSigner(joined.private_key())
    async with (
        joined.channel("authz") as authz,
        joined.channel("vending") as vending,
        catalog(settings.service, authz=authz, vending=vending, signer=signer, remote=True) as host,
    ):
        host.add_probe("authz", partial(ask, "authz", authz))  # vending is the gateway's own to ask
        await _serve_grpc(host, settings.endpoint.listen, joined)


async def _gateway(environ: Mapping[str, str]) -> None:
    from lakeward_cli.joining import Joined, probe_peers  # noqa: PLC0415
    from lakeward_cli.settings import GatewayAlone  # noqa: PLC0415
    from lakeward_gateway.bootstrap import gateway  # noqa: PLC0415
    from lakeward_gateway.peers import Peers  # noqa: PLC0415

    settings = loaded(GatewayAlone, environ)
    joined = Joined("gateway", settings.joints)
    server = settings.service.server
    async with AsyncExitStack() as stack:
        catalog = await stack.enter_async_context(joined.channel("catalog"))
        vending = await stack.enter_async_context(joined.channel("vending"))

        async def readiness() -> Sequence[Probe]:
            return await probe_peers([("catalog", catalog), ("vending", vending)])

        peers = Peers(catalog=catalog, vending=vending)
        application = await stack.enter_async_context(gateway(settings.service, peers=peers, readiness=readiness))
        listener = bound_socket(server.bind_ip, server.listen_port)
        port = await stack.enter_async_context(serve_http(application, listener=listener))
        _log.info("serving", extra={"bind_ip": server.bind_ip, "port": port})
        await told_to_stop()


async def _serve_grpc(host: Host, listen: str, joined: Joined) -> None:
    async with host.serve(listen, security=joined.server_security(), workloads=joined.workloads()) as port:
        _log.info("serving", extra={"service": host.name, "listen": listen, "port": port})
        await told_to_stop()
