"""Who may do what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.cli.places import inside, place_of

_COLUMNS = {"PRIVILEGE": "privilege", "TO": "principal", "SINCE": "created-at"}


@click.group()
def grants() -> None:
    """Give rights, take them away, and see who has which: on the server, a project, a warehouse, or what is in one.

    On the project, where nothing is said.
    """


def _on(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("--server", is_flag=True, help="On the server itself.")(inside(command))


@grants.command("list")
@_on
@speaks
def listed(lake: Lake, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """List who was given what, right there."""
    lake.output.rows(lake.client.management.grants(place_of(**on)).list(), _COLUMNS)


@grants.command()
@click.argument("privilege")
@click.argument("principal")
@_on
@speaks
def give(lake: Lake, privilege: str, principal: str, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """Give PRIVILEGE to PRINCIPAL: a user's id as oidc~ada, or role:NAME."""
    lake.client.management.grants(place_of(**on)).give(privilege, **_who(lake, principal))
    lake.output.done(f"{principal} has {privilege}.", given=privilege)


@grants.command()
@click.argument("privilege")
@click.argument("principal")
@_on
@speaks
def take(lake: Lake, privilege: str, principal: str, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """Take PRIVILEGE from PRINCIPAL: a user's id as oidc~ada, or role:NAME."""
    lake.client.management.grants(place_of(**on)).take(privilege, **_who(lake, principal))
    lake.output.done(f"{principal} does not have {privilege} any more.", taken=privilege)


def _who(lake: Lake, principal: str) -> Mapping[str, str]:
    kind, _, name = principal.partition(":")
    return {"role": lake.client.management.roles.get(name).id} if kind == "role" and name else {"user": principal}
