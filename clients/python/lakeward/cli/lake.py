"""What commands that speak with a server share: which server, as whom, and how they end."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from lakeward import Client, profiles
from lakeward.auth import StaticToken
from lakeward.cli.output import Output, plain
from lakeward.errors import (
    AuthError,
    ConfigurationError,
    ConflictError,
    ForbiddenError,
    LakewardError,
    NotFoundError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
)

LOCAL = "http://127.0.0.1:8181"
"""Where `lakeward up` serves."""

# Scripts tell by these what happened; docs/clients/command.md lists them.
_STATUSES: Sequence[tuple[type[LakewardError], int]] = (
    (ConfigurationError, 2),
    (NotFoundError, 3),
    (ForbiddenError, 4),
    (UnauthorizedError, 4),
    (AuthError, 4),
    (ConflictError, 5),
    (UnreachableError, 69),
    (UnavailableError, 69),
    (LakewardError, 1),
)


@dataclass(frozen=True)
class Lake:
    """What a command works with.

    Attributes:
        client: of the server.
        output: where results go.
    """

    client: Client
    output: Output


def speaks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which server is meant, and a `Lake` as its first argument."""

    @click.option("--profile", envvar="LAKEWARD_PROFILE", help="A server by the name that `lakeward profiles` gave it.")
    @click.option("--url", envvar="LAKEWARD_URL", help=f"Of the server; {LOCAL} where nothing else is said.")
    @click.option("--token", envvar="LAKEWARD_TOKEN", help="Who calls; better given as LAKEWARD_TOKEN or by a profile.")
    @click.option(
        "--project", envvar="LAKEWARD_PROJECT", help="Id of the project; the server's default where none is said."
    )
    @click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for scripts.")
    @functools.wraps(command)
    def run(
        *arguments: Any,  # noqa: ANN401 - a command's own
        profile: str | None,
        url: str | None,
        token: str | None,
        project: str | None,
        as_json: bool,
        **options: Any,  # noqa: ANN401 - the same
    ) -> None:
        try:
            with _client(profile, url, token, project) as client:
                command(Lake(client, Output(as_json=as_json)), *arguments, **options)
        except LakewardError as error:
            end(error)

    return run


def end(error: LakewardError) -> NoReturn:
    """Say what went wrong, and exit with the status that stands for it."""
    click.echo(f"Error: {plain(error)}", err=True)
    sys.exit(next(status for kind, status in _STATUSES if isinstance(error, kind)))


def _client(profile: str | None, url: str | None, token: str | None, project: str | None) -> Client:
    # Somebody who says a URL means that server, and not the profile's token there.
    found = None if url else profiles.find(profile)
    auth = StaticToken(token) if token else None
    if found is None:
        return Client(url or LOCAL, auth=auth, project=project)
    return Client(found.url, auth=auth or found.auth, project=project or found.project)


__all__ = ["LOCAL", "Lake", "end", "speaks"]
