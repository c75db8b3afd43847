"""An OIDC provider on one machine: nanoidp, with clients for each way in which engines ask for tokens.

It speaks no TLS, so it is for loopback alone. Its management API, which signs tokens for anybody, asks nobody's name unless its
directory has a secret for it: without one it is for tests.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from lakeward_components import binaries, child, folder, ports
from lakeward_components.child import Started
from lakeward_components.environment import Component
from lakeward_components.errors import ComponentUnavailable
from lakeward_components.folder import HeldFolder
from lakeward_components.http import request
from lakeward_components.ports import LOOPBACK

AUDIENCE: Final = "lakehouse"
SCOPES: Final = ("openid", "profile", "email", "offline_access", "lakekeeper")
_READY_SECONDS: Final = 60.0
_TOKEN_SECONDS: Final = 10.0
_HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Client:
    """An application that may ask for tokens.

    Attributes:
        id: the `client_id`, and the subject of its own tokens.
        secret: empty for a public client.
        method: how it shows the secret: `client_secret_basic`, `client_secret_post` or `none`.
        grant: what it is for.
    """

    id: str
    secret: str = field(repr=False)
    method: str
    grant: str


@dataclass(frozen=True, slots=True)
class User:
    """A person.

    Attributes:
        name: the subject of its tokens.
        groups: claim `groups` of its access tokens.
        roles: claim `roles` of its access tokens.
        password: "" for the name.
    """

    name: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Directory:
    """Whom a provider knows.

    Attributes:
        clients: who may ask for tokens.
        users: for whom.
        management_secret: without it nothing can be changed, and no token had but by password; "" asks nobody for one.
        token_minutes: how long tokens last.
    """

    clients: tuple[Client, ...]
    users: tuple[User, ...]
    management_secret: str = field(default="", repr=False)
    token_minutes: int = 60


# Engines differ: Spark and PyIceberg send the secret in the body, DuckDB in a header; a client has one way.
SPARK: Final = Client("spark", "spark-secret", "client_secret_post", "client_credentials")
TRINO: Final = Client("trino", "trino-secret", "client_secret_post", "client_credentials")
DUCKDB: Final = Client("duckdb", "duckdb-secret", "client_secret_basic", "client_credentials")
SERVICE: Final = Client("service", "service-secret", "client_secret_basic", "client_credentials")
CONSOLE: Final = Client("ui", "", "none", "authorization_code")
COMMAND_LINE: Final = Client("cli", "", "none", "device_code")
CLIENTS: Final = (SPARK, TRINO, DUCKDB, SERVICE, CONSOLE, COMMAND_LINE)

ALICE: Final = User("alice", groups=("data-eng", "admins"), roles=("analyst",))
BOB: Final = User("bob", groups=("readers",), roles=("viewer",))
USERS: Final = (ALICE, BOB)
EVERYBODY: Final = Directory(CLIENTS, USERS)


@dataclass(frozen=True, slots=True)
class OidcProvider(Started):
    """A provider that answers.

    Attributes:
        issuer: `http://host:port`, without a closing slash.
        audience: of tokens that name no resource.
        keys: folder with `rsa_private.pem`, which it signs with, and `kid.txt`, which names that; None when it isn't our child.
    """

    issuer: str
    audience: str = AUDIENCE
    keys: Path | None = None

    @property
    def token_endpoint(self) -> str:
        """Where tokens are asked for."""
        return f"{self.issuer}/token"

    @property
    def jwks_uri(self) -> str:
        """Where the public keys are."""
        return f"{self.issuer}/.well-known/jwks.json"


@asynccontextmanager
async def running(
    path: Path, *, port: int | None = None, redirect_uris: Sequence[str] = (), programs: Path | None = None
) -> AsyncIterator[OidcProvider]:
    """`start`, and `stop` at the end."""
    provider = await start(path, port=port, redirect_uris=redirect_uris, programs=programs)
    try:
        yield provider
    finally:
        await provider.stop()


async def start(
    path: Path,
    *,
    directory: Directory = EVERYBODY,
    port: int | None = None,
    redirect_uris: Sequence[str] = (),
    programs: Path | None = None,
) -> OidcProvider:
    """Start the provider of a folder; its signing keys are those of the last run.

    A second issuer is a second folder.

    Args:
        path: the component's own folder.
        directory: whom it knows.
        port: of loopback, must be free; None takes the last one, or another when that is taken.
        redirect_uris: of the console's client; its authorization code goes to one of these alone.
        programs: folder with `nanoidp`; None finds it.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.OIDC)
    held = await folder.hold(path)
    try:
        return await _start(held, directory, port=port, redirect_uris=redirect_uris, program=programs / "nanoidp")
    except BaseException:
        held.release()
        raise


async def _start(
    held: HeldFolder, directory: Directory, *, port: int | None, redirect_uris: Sequence[str], program: Path
) -> OidcProvider:
    remembered = held.remembered()
    session_secret = str(remembered.get("session_secret") or secrets.token_urlsafe(24))
    chosen = ports.take(given=port, last=remembered.get("port"))
    held.remember({**remembered, "session_secret": session_secret, "port": chosen})
    issuer = _issuer(chosen)
    configuration = held.path / "configuration"
    configuration.mkdir(mode=0o700, exist_ok=True)
    settings = _settings(issuer, directory, port=chosen, redirect_uris=redirect_uris, session_secret=session_secret)
    # JSON is YAML.
    held.write("configuration/settings.yaml", json.dumps(settings, indent=1))
    held.write("configuration/users.yaml", json.dumps(_people(directory), indent=1))
    server = child.spawn("nanoidp", [program, "--config", configuration, "--strict-config"], folder=held)
    try:
        await server.until(lambda: _ready(issuer), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=Started.STOP_SECONDS)
        raise
    return OidcProvider(issuer, keys=held.path / "keys", _server=server)


def issuer_of(path: Path) -> str | None:
    """The issuer of the provider that works in a folder, or did last; None where none ever did.

    Raises:
        ComponentFailed: what was remembered there can't be read.
    """
    port = folder.remembered(path).get("port")
    return None if port is None else _issuer(int(port))


async def token(issuer: str, client: Client, user: User) -> str:
    """An access token for a person, by their password; the client shows its secret in the body.

    Raises:
        ComponentUnavailable: the provider does not answer, or gives none; the message says why.
    """
    form = {
        "grant_type": "password",
        "client_id": client.id,
        "client_secret": client.secret,
        "username": user.name,
        "password": user.password or user.name,
        "scope": "openid profile email",
    }
    reply = await request(
        "POST",
        f"{issuer}/token",
        headers={"content-type": "application/x-www-form-urlencoded"},
        body=urlencode(form).encode("ascii"),
        seconds=_TOKEN_SECONDS,
    )
    if reply.status == 0:
        raise ComponentUnavailable(f"nothing answers at {issuer}, which gives tokens; start it first")
    if reply.status != _HTTP_OK:
        raise ComponentUnavailable(f"{issuer} gives {user.name!r} no token: it answers {reply.status}")
    return str(json.loads(reply.body)["access_token"])


async def _ready(issuer: str) -> bool:
    reply = await request("GET", f"{issuer}/.well-known/openid-configuration")
    return reply.status == _HTTP_OK


def _issuer(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _settings(
    issuer: str, directory: Directory, *, port: int, redirect_uris: Sequence[str], session_secret: str
) -> dict[str, Any]:
    secret = directory.management_secret
    guard = {"management_secret": secret, "require_ui_login": True} if secret else {}
    return {
        "config_version": 1,
        "server": {"host": LOOPBACK, "port": port},
        "oauth": {
            "issuer": issuer,
            "audience": AUDIENCE,
            "token_expiry_minutes": directory.token_minutes,
            "refresh_token_expiry_minutes": 120,
            "refresh_token_rotation": True,
            "scope_enforcement": True,
            "scopes_supported": list(SCOPES),
            "clients": [_client(client, redirect_uris=redirect_uris) for client in directory.clients],
        },
        "device_flow": {"code_expiry_seconds": 60, "polling_interval": 1},
        "jwt": {"algorithm": "RS256", "keys_dir": "./keys", "max_previous_keys": 2},
        "authority_prefixes": {"roles": "", "groups": "", "identity_class": "", "entitlements": ""},
        "logging": {"level": "WARNING", "verbose_logging": False},
        "session": {"secret_key": session_secret, **guard},
    }


def _client(client: Client, *, redirect_uris: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {"client_id": client.id, "token_endpoint_auth_method": client.method}
    if client.secret:
        settings["client_secret"] = client.secret
    if client.grant == "authorization_code" and redirect_uris:
        settings["redirect_uris"] = list(redirect_uris)
    return settings


def _people(directory: Directory) -> dict[str, Any]:
    return {
        "config_version": 1,
        "users": {
            user.name: {
                "password": user.password or user.name,
                "email": f"{user.name}@example.org",
                "roles": list(user.roles),
                "groups": list(user.groups),
                "tenant": "default",
            }
            for user in directory.users
        },
    }
