"""`lakeward healthcheck`, for container engines."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import click

from lakeward_gateway.settings import PublicSettings
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.postgres import PostgresSettings

_PATIENCE: Final = 5.0
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not bound


async def check(environ: Mapping[str, str], *, server: bool, database: bool) -> int:
    """0 where what was asked is well, else 1."""
    problems = []
    if server and (problem := await _server(loaded(PublicSettings, environ))):
        problems.append(problem)
    if database and (problem := await _database(loaded(PostgresSettings, environ))):
        problems.append(problem)
    for problem in problems:
        click.echo(f"lakeward: {problem}", err=True)
    return 1 if problems else 0


async def _server(settings: PublicSettings) -> str:
    host = _EVERYWHERE.get(settings.bind_ip, settings.bind_ip)
    where = f"{host}:{settings.listen_port}"
    try:
        async with asyncio.timeout(_PATIENCE):
            reader, writer = await asyncio.open_connection(host, settings.listen_port)
            writer.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            status = (await reader.readline()).split(b" ")
            writer.close()
    except (OSError, TimeoutError):
        return f"nothing answers at {where}"
    return "" if len(status) > 1 and status[1] == b"200" else f"the server at {where} says that it can't serve"


async def _database(settings: PostgresSettings) -> str:
    try:
        async with open_pool(settings.write_url, size=1, name="lakeward healthcheck") as pool:
            await pool.ping()
    except Refusal as refusal:
        return refusal.message
    return ""
