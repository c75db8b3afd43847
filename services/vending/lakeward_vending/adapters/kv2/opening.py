"""A vault from what the settings say of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from lakeward_servicekit.settings.problems import Problem, SettingsError
from lakeward_servicekit.tls import TlsSetupError, client_context, shared_context
from lakeward_vending.adapters.kv2.logins import AppRole, Kubernetes, Token, UserPass
from lakeward_vending.adapters.kv2.place import Place
from lakeward_vending.adapters.kv2.session import Session, client
from lakeward_vending.adapters.kv2.vault import Kv2Vault

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

    from lakeward_vending.adapters.kv2.logins import Login
    from lakeward_vending.settings import Kv2Settings

T = TypeVar("T")


@asynccontextmanager
async def opened(settings: Kv2Settings) -> AsyncIterator[Kv2Vault]:
    """The vault, until the block ends. Nobody is asked yet: a store that is away is no reason not to start.

    Raises:
        SettingsError: the CA file can't be used.
    """
    url, mount = _given(settings.kv2_url), _given(settings.kv2_secret_mount)
    seconds, namespace = settings.kv2_timeout.total_seconds(), settings.kv2_namespace
    async with client(url, seconds=seconds, namespace=namespace, verify=_trusted(settings)) as http:
        session = Session(http, login_of(settings))
        keeping = asyncio.create_task(session.keep())
        try:
            yield Kv2Vault(session, Place.parse(mount))
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


def login_of(settings: Kv2Settings) -> Login:
    """The login that is set."""
    mount = settings.kv2_login_mount or settings.kv2_login
    match settings.kv2_login:
        case "userpass":
            return UserPass(mount, _given(settings.kv2_user), _given(settings.kv2_password))
        case "approle":
            return AppRole(mount, _given(settings.kv2_role_id), _given(settings.kv2_secret_id))
        case "kubernetes":
            return Kubernetes(mount, _given(settings.kv2_kubernetes_role), settings.kv2_kubernetes_token_path)
        case "token":
            return Token(settings.kv2_token, settings.kv2_token_path)


def _trusted(settings: Kv2Settings) -> ssl.SSLContext:
    try:
        if settings.kv2_ca_file is None:
            return shared_context()
        return client_context(ca_file=str(settings.kv2_ca_file))
    except TlsSetupError as wrong:
        raise SettingsError([Problem("LAKEWARD__KV2__CA_FILE", str(wrong))]) from wrong


def _given(value: T | None) -> T:
    assert value is not None, "settings demand it"
    return value
