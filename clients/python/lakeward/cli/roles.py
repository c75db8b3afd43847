"""Groups of users and of other roles."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeward.cli.lake import Lake, speaks

_COLUMNS = {"NAME": "name", "ID": "id", "FROM": "provider-id", "DESCRIPTION": "description"}


@click.group()
def roles() -> None:
    """Look after roles. ROLE is an id, or a name that only one has."""


@roles.command("list")
@speaks
def listed(lake: Lake) -> None:
    """List the project's roles that you may see."""
    lake.output.rows(lake.client.management.roles.list(), _COLUMNS)


@roles.command()
@click.argument("name")
@click.option("--description")
@speaks
def create(lake: Lake, name: str, description: str | None) -> None:
    """Make a role called NAME."""
    made = lake.client.management.roles.create(name, description=description)
    lake.output.done(f"Made role {made.name}: {made.id}", id=made.id, name=made.name)


@roles.command()
@click.argument("role")
@click.confirmation_option(prompt="Delete the role, with all that was granted to it?")
@speaks
def delete(lake: Lake, role: str) -> None:
    """Delete one, with all that was granted to it."""
    lake.client.management.roles.delete(role)
    lake.output.done(f"Deleted {role}.", deleted=role)


@roles.command()
@click.argument("role")
@speaks
def members(lake: Lake, role: str) -> None:
    """List who is in it directly."""
    lake.output.rows(lake.client.management.roles.members(role), {"KIND": "type", "NAME": "name", "ID": "id"})


@roles.command()
@click.argument("role")
@click.option("--user", "users", multiple=True, help="A user's id, as oidc~ada.")
@click.option("--role", "members", multiple=True, help="Another role.")
@speaks
def add(lake: Lake, role: str, users: Sequence[str], members: Sequence[str]) -> None:
    """Put users and roles into it."""
    if not users and not members:
        raise click.UsageError("say whom: --user oidc~ada, or --role NAME")
    lake.client.management.roles.add(role, users=users, roles=members)
    lake.output.done(f"{role} has {len(users) + len(members)} more.", added=[*users, *members])


@roles.command()
@click.argument("role")
@click.option("--user", "users", multiple=True, help="A user's id, as oidc~ada.")
@click.option("--role", "members", multiple=True, help="Another role.")
@speaks
def remove(lake: Lake, role: str, users: Sequence[str], members: Sequence[str]) -> None:
    """Take users and roles out of it."""
    if not users and not members:
        raise click.UsageError("say whom: --user oidc~ada, or --role NAME")
    for user in users:
        lake.client.management.roles.remove(role, user=user)
    for member in members:
        lake.client.management.roles.remove(role, member=member)
    lake.output.done(f"{role} has {len(users) + len(members)} less.", removed=[*users, *members])
