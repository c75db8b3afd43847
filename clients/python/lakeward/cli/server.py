"""The server, and who calls it."""

from __future__ import annotations

import click

from lakeward.cli.lake import Lake, speaks


@click.command()
@speaks
def info(lake: Lake) -> None:
    """Show what the server is."""
    lake.output.one(lake.client.management.info())


@click.command()
@speaks
def whoami(lake: Lake) -> None:
    """Show whom the server takes you for."""
    lake.output.one(lake.client.management.whoami())


@click.command()
@speaks
def bootstrap(lake: Lake) -> None:
    """Open a new server for use; you become its first administrator."""
    lake.client.management.bootstrap()
    lake.output.done("The server is open; you are its administrator.", bootstrapped=True)
