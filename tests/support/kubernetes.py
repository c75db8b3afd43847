"""A real Kubernetes API server over a real etcd, with service accounts; no kubelet, no controllers, no nodes."""

from __future__ import annotations

import base64
import secrets
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lakeward_components import child, folder, ports
from lakeward_components.ports import LOOPBACK
from lakeward_servicekit import tls
from tests.support.certificates import Authority, Pair
from tests.support.kubernetes_build import API_SERVER, ETCD

# As clusters have it that never chose another.
ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
NAMESPACE: Final = "default"
_READY_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """An account in `NAMESPACE`."""

    name: str
    uid: str

    @property
    def username(self) -> str:
        """As the API server calls it."""
        return f"system:serviceaccount:{NAMESPACE}:{self.name}"


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """An API server that answers.

    Attributes:
        address: "https://host:port".
        ca_file: what its certificate is verified with.
        http: as an administrator.
        signing_key: PEM of the key that service accounts' tokens are signed with.
    """

    address: str
    ca_file: Path
    http: httpx.AsyncClient = field(repr=False)
    signing_key: str = field(repr=False)

    async def account(self, name: str) -> ServiceAccount:
        """Make an account."""
        made = await self._post(f"{self._accounts}", {"metadata": {"name": name}})
        return ServiceAccount(name, made["metadata"]["uid"])

    async def remove(self, account: ServiceAccount) -> None:
        """Delete an account, and with it every token of it."""
        (await self.http.delete(f"{self._accounts}/{account.name}")).raise_for_status()

    async def let_review(self, account: ServiceAccount) -> None:
        """Bind an account to system:auth-delegator, as a chart does."""
        subject = {"kind": "ServiceAccount", "name": account.name, "namespace": NAMESPACE}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"}
        binding = {"metadata": {"name": account.name}, "subjects": [subject], "roleRef": role}
        await self._post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)

    async def token(self, account: ServiceAccount, *audiences: str, seconds: int = 3600) -> str:
        """A token as the kubelet projects it into a pod."""
        spec = {"audiences": list(audiences), "expirationSeconds": seconds}
        made = await self._post(f"{self._accounts}/{account.name}/token", {"spec": spec})
        return str(made["status"]["token"])

    async def legacy_token(self, account: ServiceAccount) -> str:
        """A token without end or audience in a Secret, as the controllers of old clusters made it."""
        secret = f"{account.name}-token"
        claims = {
            "iss": "kubernetes/serviceaccount",
            "sub": account.username,
            "kubernetes.io/serviceaccount/namespace": NAMESPACE,
            "kubernetes.io/serviceaccount/secret.name": secret,
            "kubernetes.io/serviceaccount/service-account.name": account.name,
            "kubernetes.io/serviceaccount/service-account.uid": account.uid,
        }
        token = jwt.encode(claims, self.signing_key, algorithm="RS256")
        annotations = {
            "kubernetes.io/service-account.name": account.name,
            "kubernetes.io/service-account.uid": account.uid,
        }
        kept = {
            "metadata": {"name": secret, "annotations": annotations},
            "type": "kubernetes.io/service-account-token",
            "data": {"token": base64.b64encode(token.encode()).decode()},
        }
        await self._post(f"/api/v1/namespaces/{NAMESPACE}/secrets", kept)
        return token

    @property
    def _accounts(self) -> str:
        return f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"

    async def _post(self, path: str, document: Mapping[str, object]) -> dict[str, Any]:
        reply = await self.http.post(path, json=document)
        assert reply.is_success, f"{path} answers {reply.status_code}: {reply.text}"
        answer: dict[str, Any] = reply.json()
        return answer


@asynccontextmanager
async def running(path: Path, *, programs: Path) -> AsyncIterator[Kubernetes]:
    """An API server in an empty folder, until the block ends.

    Args:
        path: for all that it writes.
        programs: folder with both programs.
    """
    authority = Authority(path / "authority")
    served, signing = authority.issue("apiserver"), _signing_key(path / "service-accounts.key")
    admin = secrets.token_urlsafe(24)
    tokens = path / "tokens.csv"
    tokens.touch(mode=0o600)
    tokens.write_text(f'{admin},admin,admin,"system:masters"\n', encoding="utf-8")
    async with AsyncExitStack() as stack:
        store = await _etcd(stack, path / "etcd", programs / ETCD)
        port = ports.take(given=None, last=None)
        address = f"https://{LOOPBACK}:{port}"
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=address,
                verify=tls.client_context(ca_file=str(authority.certificate)),
                headers={"authorization": f"Bearer {admin}"},
                timeout=30,
            )
        )
        held = await folder.hold(path / "apiserver")
        command = _api_server(
            programs / API_SERVER, port=port, store=store, served=served, signing=signing, admins=tokens
        )
        server = child.spawn(API_SERVER, command, folder=held)
        stack.push_async_callback(server.stop, signal.SIGTERM, seconds=_STOP_SECONDS)

        async def ready() -> bool:
            try:
                return (await http.get("/readyz")).is_success
            except httpx.TransportError:
                return False

        await server.until(ready, seconds=_READY_SECONDS)
        yield Kubernetes(address, authority.certificate, http, signing.read_text(encoding="ascii"))


def _signing_key(file: Path) -> Path:
    """A key in the one form that the API server takes for signing and for verifying alike."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    file.touch(mode=0o600)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    return file


async def _etcd(stack: AsyncExitStack, path: Path, program: Path) -> str:
    """The address of an etcd that answers."""
    client, peer = (f"http://{LOOPBACK}:{ports.take(given=None, last=None)}" for _ in range(2))
    held = await folder.hold(path)
    command: Sequence[str | Path] = [
        program,
        *("--data-dir", path / "data"),
        *("--listen-client-urls", client),
        *("--advertise-client-urls", client),
        *("--listen-peer-urls", peer),
        *("--initial-advertise-peer-urls", peer),
        *("--initial-cluster", f"default={peer}"),
        "--unsafe-no-fsync",
    ]
    server = child.spawn(ETCD, command, folder=held)
    stack.push_async_callback(server.stop, signal.SIGTERM, seconds=_STOP_SECONDS)

    async def ready() -> bool:
        try:
            async with httpx.AsyncClient() as http:
                return (await http.get(f"{client}/health")).is_success
        except httpx.TransportError:
            return False

    await server.until(ready, seconds=_READY_SECONDS)
    return client


def _api_server(
    program: Path, *, port: int, store: str, served: Pair, signing: Path, admins: Path
) -> Sequence[str | Path]:
    return [
        program,
        f"--etcd-servers={store}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={served.certificate}",
        f"--tls-private-key-file={served.key}",
        f"--service-account-issuer={ISSUER}",
        f"--service-account-key-file={signing}",
        f"--service-account-signing-key-file={signing}",
        f"--api-audiences={ISSUER}",
        f"--token-auth-file={admins}",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
    ]
