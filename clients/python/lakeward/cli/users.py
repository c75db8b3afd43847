"""Whom the server knows."""

from __future__ import annotations

import click

from lakeward.cli.lake import Lake, speaks

_COLUMNS = {"NAME": "name", "ID": "id", "EMAIL": "email", "KIND": "user-type"}


@click.group()
def users() -> None:
    """Look after users. USER_ID is like oidc~ada."""


@users.command("list")
@click.option("--name", help="Only those whose name begins so.")
@speaks
def listed(lake: Lake, name: str | None) -> None:
    """List the users that you may see."""
    lake.output.rows(lake.client.management.users.list(name=name), _COLUMNS)


@users.command()
@click.argument("text")
@speaks
def search(lake: Lake, text: str) -> None:
    """Find users whose name is like TEXT."""
    lake.output.rows(lake.client.management.users.search(text), {"NAME": "name", "ID": "id", "EMAIL": "email"})


@users.command()
@click.argument("user_id")
@click.argument("name")
@click.option("--email")
@click.option("--application", is_flag=True, help="It is no person.")
@click.option("--update", is_flag=True, help="Change who is there already.")
@speaks
def create(lake: Lake, user_id: str, name: str, email: str | None, *, application: bool, update: bool) -> None:
    """Make somebody known before they first call."""
    made = lake.client.management.users.create(user_id, name, email=email, application=application, update=update)
    lake.output.done(f"{made.name} is known as {made.id}.", id=made.id, name=made.name)


@users.command()
@click.argument("user_id")
@click.confirmation_option(prompt="Delete the user, with all that was granted to it?")
@speaks
def delete(lake: Lake, user_id: str) -> None:
    """Forget one, with all that was granted to it."""
    lake.client.management.users.delete(user_id)
    lake.output.done(f"Deleted {user_id}.", deleted=user_id)
