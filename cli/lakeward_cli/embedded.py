"""`lakeward up`: the whole catalog from Python packages, on one machine, with its data kept between starts."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

from lakeward_cli import people
from lakeward_cli.composing import one_process
from lakeward_cli.furnishing import Host, furnish
from lakeward_cli.homes import SETTINGS, keep, kept
from lakeward_cli.settings import EverySetting
from lakeward_cli.snippets import Person, shown, shown_to_people
from lakeward_components import databases
from lakeward_components.child import SELF, launched
from lakeward_components.embedded import Components, Wanted, components, first_to_end
from lakeward_components.errors import ComponentMisconfigured
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_servicekit.observing import observed
from lakeward_servicekit.process import loaded, told_to_stop
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend
from lakeward_servicekit.settings.loading import load

_log = logging.getLogger(__name__)

_DATABASE: Final = "lakeward"
_TOPIC: Final = "lakeward"
_KEYS: Final = "keys.json"
_PROVIDER: Final = "OPENID_PROVIDER_URI"
_BACKEND: Final = "LAKEKEEPER__AUTHZ_BACKEND"
_DECIDES: Final = {_BACKEND: "builtin"}
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - how a listener on all addresses is reached


async def up(home: Path, environ: Mapping[str, str], *, secure: bool = False) -> None:
    """Start components, services and what a first visitor needs; print how to connect; end all of it when told to.

    Args:
        home: where state is kept; made where it is missing.
        environ: settings, which win over what this mode chooses.
        secure: ask callers who they are, with people of our own.

    Raises:
        FolderInUse: another process works in `home`.
        ComponentError: a component can't be had, or ended by itself; or what is asked for can't be had together.
        SettingsError: with everything that is wrong.
        SystemExit: the schemas could not be migrated.
    """
    wanted = secured(home, environ) if secure else Wanted()
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(components(home, wanted=wanted, environment=environ))
        if not await databases.exists(parts.postgres, _DATABASE):
            await databases.create(parts.postgres, _DATABASE)
        ours = chosen(parts, home)
        whole = {**ours, **environ}
        settings = loaded(EverySetting, whole)
        decides = {_BACKEND: settings.authz.deciding.authorization.backend.value}
        keep(
            home / SETTINGS, {**ours, **decides}
        )  # only its owner may read it; what the environment says is not copied
        await stack.enter_async_context(
            observed(settings.observability, service="all", version=version("lakeward-server"))
        )
        await _migrate(whole)
        composition = await stack.enter_async_context(one_process(settings))
        tokens = {name: await people.token(home, name) for name in people.PEOPLE} if secure else {}
        host = Host(f"Bearer {tokens[people.ADMIN]}", guests()) if secure else None
        warehouse = await furnish(composition.peers, parts.s3, host=host)
        server = settings.gateway.server
        listener = bound_socket(server.bind_ip, server.listen_port)
        port = await stack.enter_async_context(serve_http(composition.application, listener=listener))
        url = f"http://{_EVERYWHERE.get(server.bind_ip, server.bind_ip)}:{port}"
        if secure and warehouse is not None:
            known = [Person(name, what, tokens[name]) for name, what in people.PEOPLE.items()]
            click.echo(shown_to_people(url=url, warehouse=warehouse, home=home, people=known))
        else:
            click.echo(shown(url=url, warehouse=warehouse, home=home))
        await first_to_end(told_to_stop(), parts.watch())
        click.echo("stopping")


async def _migrate(environ: Mapping[str, str]) -> None:
    """`lakeward migrate`, as a process that ends: what it imports would stay in this one, and is a fifth of what it holds.

    Raises:
        SystemExit: with its status; it has said why.
    """
    migrate = [sys.executable, "-m", "lakeward_cli", "migrate"]
    process = await asyncio.create_subprocess_exec(
        *launched(migrate, death_signal=signal.SIGTERM, identity=SELF), env=dict(environ), start_new_session=True
    )
    if status := await process.wait():
        raise SystemExit(status)


def secured(home: Path, environ: Mapping[str, str]) -> Wanted:
    """What asking callers who they are needs beside the rest.

    Raises:
        ComponentMisconfigured: the environment says something else.
        SettingsError: the engine it names is none.
    """
    given = next((name for name in environ if name.upper().partition("__")[2] == _PROVIDER), None)
    if given is not None:
        raise ComponentMisconfigured(f"{given} is set, and --secure brings an identity provider of its own; unset one")
    backend = load(AuthorizationSettings, {**_DECIDES, **environ}).settings.backend
    if backend is AuthzBackend.ALLOW_ALL:
        raise ComponentMisconfigured(
            "AUTHZ_BACKEND is allowall, by which everybody may do everything; --secure takes builtin or openfga"
        )
    return Wanted(directory=people.directory(home), openfga=backend is AuthzBackend.OPENFGA)


def guests() -> Mapping[str, tuple[str, ...]]:
    """By user id, what people are given on the warehouse."""
    return {f"{people.PROVIDER}~{name}": tuple(given) for name, given in people.PRIVILEGES.items()}


def chosen(parts: Components, home: Path) -> dict[str, str]:
    """What this mode sets where the environment does not."""
    topic = (
        {} if not parts.nats.url else {"LAKEKEEPER__NATS_ADDRESS": _address(parts), "LAKEKEEPER__NATS_TOPIC": _TOPIC}
    )
    if parts.nats.user:
        topic |= {"LAKEKEEPER__NATS_USER": parts.nats.user, "LAKEKEEPER__NATS_PASSWORD": parts.nats.password}
    return {
        "LAKEKEEPER__BIND_IP": "127.0.0.1",
        "LAKEKEEPER__LISTEN_PORT": "8181",
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": parts.postgres.url_of(_DATABASE),
        "LAKEWARD__ENCRYPTION_KEYS": encryption_keys(home),
        **topic,
        **_asking(parts),
    }


def _asking(parts: Components) -> dict[str, str]:
    """What says who callers are, and what they may do."""
    if parts.oidc is None:
        return {}
    asking = {
        **_DECIDES,
        "LAKEKEEPER__OPENID_PROVIDER_URI": parts.oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": parts.oidc.audience,
    }
    if parts.openfga is not None:
        asking |= {"LAKEKEEPER__OPENFGA__ENDPOINT": parts.openfga.url}
        if parts.openfga.api_key:
            asking |= {"LAKEKEEPER__OPENFGA__API_KEY": parts.openfga.api_key}
    return asking


def _address(parts: Components) -> str:
    return f"nats://{parts.nats.host}:{parts.nats.port}"


def encryption_keys(home: Path) -> str:
    """The key ring of this home's secrets, made at its first start; only its owner may read it."""
    ring = kept(home / _KEYS, lambda: {"home": base64.b64encode(os.urandom(32)).decode()})
    return ",".join(f"{key_id}:{key}" for key_id, key in ring.items())
