"""How a process that hosts one service meets the others: channels out, a listener in, and proof of who is who."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.joints import Joints
from lakeward_servicekit.observing import observed
from lakeward_servicekit.process import told_to_stop
from lakeward_servicekit.rpc import Channel, ChannelSecurity, Host, ServerSecurity, connect, is_serving
from lakeward_servicekit.settings.problems import Problem, SettingsError
from lakeward_servicekit.settings.services import TlsSettings
from lakeward_servicekit.workload import WorkloadIdentity, WorkloadVerifier, private_key_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PRIVATE_KEY: Final = "LAKEWARD__WORKLOAD__PRIVATE_KEY"
_PEERS: Final = "LAKEWARD__WORKLOAD__PEERS"
PATIENCE: Final = 2.0
"""Seconds that a peer is given to say how it is."""
_log: Final = logging.getLogger(__name__)


class Joined:
    """One service's joints, with everything that they need read and checked."""

    def __init__(self, service: str, joints: Joints) -> None:
        """Read keys and certificates.

        Raises:
            SettingsError: neither a workload key nor mutual TLS is configured, so no peer could tell who calls.
        """
        self._service = service
        self._joints = joints
        self._identity = self._proof()

    def _proof(self) -> WorkloadIdentity | None:
        workload, tls = self._joints.workload, self._joints.tls
        if workload.private_key is not None:
            return WorkloadIdentity(self._service, private_key_of(workload.private_key.get_secret_value()))
        if tls.serves_tls and tls.client_ca_file is not None:
            return None  # the certificate proves it
        raise SettingsError(
            [
                Problem(
                    _PRIVATE_KEY,
                    "is missing, and there is no mutual TLS either: peers could not tell which service calls; "
                    "make a key with `openssl genpkey -algorithm ed25519`",
                )
            ]
        )

    def observed(self) -> AbstractAsyncContextManager[None]:
        """Say how this process is until the block ends."""
        release = version(f"lakeward-{self._service}")
        return observed(self._joints.observability, service=self._service, version=release)

    def private_key(self) -> Ed25519PrivateKey:
        """The workload key, for what is signed with it.

        Raises:
            SettingsError: there is none.
        """
        key = self._joints.workload.private_key
        if key is None:
            raise SettingsError([Problem(_PRIVATE_KEY, "is missing; the catalog signs permits with it")])
        return private_key_of(key.get_secret_value())

    def public_key_of(self, peer: str) -> bytes:
        """A peer's public key.

        Raises:
            SettingsError: none is configured.
        """
        key = self._joints.workload.peer_keys.get(peer)
        if key is None:
            raise SettingsError([Problem(_PEERS, f"has no key for {peer}; add {peer}:<its public key in base64>")])
        return key

    def workloads(self) -> WorkloadVerifier:
        """Recognises callers."""
        return WorkloadVerifier(self._service, self._joints.workload.peer_keys)

    def server_security(self) -> ServerSecurity | None:
        """TLS of our listener; None: cleartext."""
        tls = self._joints.tls
        if tls.cert_file is None or tls.key_file is None:
            return None
        client_ca = None if tls.client_ca_file is None else tls.client_ca_file.read_bytes()
        return ServerSecurity(tls.cert_file.read_bytes(), tls.key_file.read_bytes(), client_ca)

    @asynccontextmanager
    async def channel(self, peer: str) -> AsyncIterator[Channel]:
        """A channel to a peer."""
        address: str = getattr(self._joints.peers, peer)
        token = None if self._identity is None else self._identity.token_for
        async with connect(address, service=peer, security=_channel_security(self._joints.tls), token=token) as channel:
            yield channel


def _channel_security(tls: TlsSettings) -> ChannelSecurity | None:
    if tls.ca_file is None:
        return None
    if tls.cert_file is None or tls.key_file is None:
        return ChannelSecurity(tls.ca_file.read_bytes())
    return ChannelSecurity(tls.ca_file.read_bytes(), tls.cert_file.read_bytes(), tls.key_file.read_bytes())


async def ask(service: str, channel: Channel) -> None:
    """Ask a peer that a host can't serve without; for `Host.add_probe`.

    Raises:
        Refusal: SERVICE_UNAVAILABLE.
    """
    if not await is_serving(channel, seconds=PATIENCE):
        raise Refusal(Reason.REASON_SERVICE_UNAVAILABLE, f"{service} does not serve at the moment", service=service)


async def serve_grpc(host: Host, listen: str, joined: Joined) -> None:
    """Serve a service over gRPC until told to stop.

    Args:
        host: the service.
        listen: `host:port`.
        joined: its joints.
    """
    async with host.serve(listen, security=joined.server_security(), workloads=joined.workloads()) as port:
        _log.info("serving", extra={"service": host.name, "listen": listen, "port": port})
        await told_to_stop()
