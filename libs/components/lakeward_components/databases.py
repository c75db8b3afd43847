"""Databases of a running Postgres: made and dropped, one for whoever must not see another's rows."""

from __future__ import annotations

import re
from typing import Final

import asyncpg

from lakeward_components.errors import ComponentMisconfigured
from lakeward_components.postgres import PostgresServer

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_ANSWER_SECONDS: Final = 5.0


async def create(server: PostgresServer, name: str, *, template: str | None = None) -> str:
    """Make a database, which must not exist.

    Args:
        server: its user may create databases.
        name: lower case letters, digits and underscores, at most 63.
        template: a database without sessions, copied with its rows; None makes an empty one.

    Returns:
        Its URL, over TCP.

    Raises:
        ComponentMisconfigured: not such a name.
        asyncpg.DuplicateDatabaseError: it exists.
    """
    # Copying the template's files costs a fraction of writing it through the log, for small ones.
    source = "template0" if template is None else _checked(template)
    await _execute(server, f"create database {_checked(name)} template {source} strategy file_copy")
    return server.url_of(name)


async def drop(server: PostgresServer, name: str) -> None:
    """Drop a database and end the sessions in it; one that is not there is fine."""
    await _execute(server, f"drop database if exists {_checked(name)} with (force)")


async def exists(server: PostgresServer, name: str) -> bool:
    """Whether the database is there."""
    connection = await asyncpg.connect(server.url)
    try:
        return await connection.fetchval("select 1 from pg_database where datname = $1", name) is not None
    finally:
        await connection.close()


async def answers(server: PostgresServer) -> bool:
    """Whether a session can be had."""
    try:
        connection = await asyncpg.connect(server.url, timeout=_ANSWER_SECONDS)
    except (OSError, TimeoutError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


async def _execute(server: PostgresServer, statement: str) -> None:
    connection = await asyncpg.connect(server.url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _checked(name: str) -> str:
    # Names can't be parameters of these statements, so only such come in as need no quotes.
    if _NAME.fullmatch(name) is None:
        raise ComponentMisconfigured(
            f"{name!r} is no database name: lower case letters, digits, underscores; at most 63"
        )
    return name
