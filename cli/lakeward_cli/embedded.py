"""`lakeward up`: the whole catalog from Python packages, on one machine, with its data kept between starts."""

from __future__ import annotations

import base64
import json
import logging
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import click

from lakeward_cli.composing import one_process
from lakeward_cli.furnishing import furnish
from lakeward_cli.migrating import migrate_all
from lakeward_cli.settings import EverySetting
from lakeward_cli.snippets import shown
from lakeward_components import databases
from lakeward_components.embedded import Components, components, first_to_end
from lakeward_gateway.server import bound_socket
from lakeward_gateway.server import serve as serve_http
from lakeward_servicekit.process import loaded, told_to_stop

_log = logging.getLogger(__name__)

_DATABASE: Final = "lakeward"
_TOPIC: Final = "lakeward"
_KEYS: Final = "keys.json"
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - how a listener on all addresses is reached


async def up(home: Path, environ: Mapping[str, str]) -> None:
    """Start components, services and what a first visitor needs; print how to connect; end all of it when told to.

    Args:
        home: where state is kept; made where it is missing.
        environ: settings, which win over what this mode chooses.

    Raises:
        FolderInUse: another process works in `home`.
        ComponentError: a component can't be had, or ended by itself.
        SettingsError: with everything that is wrong.
    """
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(components(home, environment=environ))
        if not await databases.exists(parts.postgres, _DATABASE):
            await databases.create(parts.postgres, _DATABASE)
        settings = loaded(EverySetting, {**chosen(parts, home), **environ})
        await migrate_all(settings.catalog.postgres, settings.authz.deciding)
        composition = await stack.enter_async_context(one_process(settings))
        warehouse = await furnish(composition.peers, parts.s3)
        server = settings.gateway.server
        listener = bound_socket(server.bind_ip, server.listen_port)
        port = await stack.enter_async_context(serve_http(composition.application, listener=listener))
        url = f"http://{_EVERYWHERE.get(server.bind_ip, server.bind_ip)}:{port}"
        click.echo(shown(url=url, warehouse=warehouse, home=home))
        await first_to_end(told_to_stop(), parts.watch())
        click.echo("stopping")


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
    }


def _address(parts: Components) -> str:
    return f"nats://{parts.nats.host}:{parts.nats.port}"


def encryption_keys(home: Path) -> str:
    """The key ring of this home's secrets, made at its first start; only its owner may read it."""
    path = home / _KEYS
    if not path.exists():
        ring = {"home": base64.b64encode(os.urandom(32)).decode()}
        scratch = path.with_suffix(".new")
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(ring, file)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    return ",".join(f"{key_id}:{key}" for key_id, key in json.loads(path.read_text()).items())
