"""Vaults: one in memory, and engines of a real OpenBao with somebody who may use them."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx

from lakeward_components.openbao import OpenBaoServer
from lakeward_servicekit.settings.loading import load
from lakeward_vending.adapters.kv2.opening import opened
from lakeward_vending.adapters.kv2.vault import Kv2Vault
from lakeward_vending.application.refusals import SecretStoreUnavailable
from lakeward_vending.domain.credentials import Credential
from lakeward_vending.settings import SecretSettings

PASSWORD = "hush-hush-login"
_POLICY = """
path "{mount}/data/*" {{ capabilities = ["create", "read", "update"] }}
path "{mount}/metadata/*" {{ capabilities = ["read", "delete"] }}
"""


class FakeVault:
    """A `Vault` in memory, with the real one's rules.

    Attributes:
        held: what lies in it.
        away: whether it can't be reached.
        before: called before each call does anything, with its name; what it raises, the call raises.
    """

    def __init__(self, before: Callable[[str], None] = lambda _: None) -> None:
        self.held: dict[UUID, Credential] = {}
        self.away = False
        self.before = before

    async def get(self, secret_id: UUID) -> Credential | None:
        self._begin("get")
        return self.held.get(secret_id)

    async def put(self, secret_id: UUID, credential: Credential) -> None:
        self._begin("put")
        self.held[secret_id] = credential

    async def delete(self, secret_id: UUID) -> None:
        self._begin("delete")
        self.held.pop(secret_id, None)

    def _begin(self, name: str) -> None:
        if self.away:
            raise SecretStoreUnavailable("the secret store is away", store="fake")
        self.before(name)


@dataclasses.dataclass(frozen=True)
class Engine:
    """A KV v2 engine of a server, and a user who may do what vending does and no more.

    Attributes:
        root: asks as somebody who may do everything.
        user: by userpass; the password is `PASSWORD`.
    """

    url: str
    mount: str
    user: str
    root: httpx.AsyncClient

    def settings(self, **changes: str) -> SecretSettings:
        """As vending is told of it; `changes` by the part of the name after KV2__."""
        own = {"LOGIN", "LOGIN_MOUNT", "ROLE_ID", "SECRET_ID", "KUBERNETES_ROLE", "KUBERNETES_TOKEN_PATH", "CA_FILE"}
        own |= {"TOKEN", "TOKEN_PATH", "TIMEOUT"}
        said = {"URL": self.url, "USER": self.user, "PASSWORD": PASSWORD, "SECRET_MOUNT": self.mount, **changes}
        variables = {f"{'LAKEWARD' if name in own else 'LAKEKEEPER'}__KV2__{name}": text for name, text in said.items()}
        return load(SecretSettings, {"LAKEKEEPER__SECRET_BACKEND": "kv2", **variables}).settings

    @asynccontextmanager
    async def vault(self, **changes: str) -> AsyncIterator[Kv2Vault]:
        """The vault that vending would open."""
        async with opened(self.settings(**changes)) as vault:
            yield vault

    async def do(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask as root for what must work; the reply's document."""
        response = await self.root.request(method, f"/v1/{path}", json=body)
        assert response.is_success, response.text
        return response.json() if response.content else {}

    async def keys(self, folder: str = "secret") -> list[str]:
        """What lies in a folder of the engine."""
        response = await self.root.request("LIST", f"/v1/{self.mount}/metadata/{folder}")
        return [] if response.status_code == httpx.codes.NOT_FOUND else response.json()["data"]["keys"]


@asynccontextmanager
async def engine(server: OpenBaoServer, **options: str) -> AsyncIterator[Engine]:
    """An engine of one's own; `options` are its mount's."""
    mount = f"kv-{secrets.token_hex(4)}"
    verify: Any = True
    if server.ca_file is not None:
        import ssl

        verify = ssl.create_default_context(cafile=str(server.ca_file))
    headers = {"x-vault-token": server.token}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, verify=verify) as root:
        made = Engine(server.url, mount, f"user-{mount}", root)
        await made.do("POST", f"sys/mounts/{mount}", {"type": "kv", "options": {"version": "2"}})
        async with asyncio.timeout(30):
            while not (
                await root.get(f"/v1/{mount}/config")
            ).is_success:  # the server makes a new engine ready behind its answer
                await asyncio.sleep(0.01)
        if options:
            await made.do("POST", f"{mount}/config", options)
        await made.do("POST", f"sys/policies/acl/{mount}", {"policy": _POLICY.format(mount=mount)})
        if "userpass/" not in (await made.do("GET", "sys/auth"))["data"]:
            await made.do("POST", "sys/auth/userpass", {"type": "userpass"})
        await made.do(
            "POST", f"auth/userpass/users/{made.user}", {"password": PASSWORD, "token_policies": [made.mount]}
        )
        yield made
        await made.do("DELETE", f"sys/mounts/{mount}")
