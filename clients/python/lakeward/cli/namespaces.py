"""Namespaces of a warehouse."""

from __future__ import annotations

import click

from lakeward.cli.lake import Lake, speaks


@click.group()
def namespaces() -> None:
    """Look after namespaces. WAREHOUSE is a name or an id, NAMESPACE like sales.eu."""


@namespaces.command("list")
@click.argument("warehouse")
@click.argument("parent", required=False)
@speaks
def listed(lake: Lake, warehouse: str, parent: str | None) -> None:
    """List the namespaces right below PARENT, else the first level."""
    lake.output.names(".".join(found) for found in lake.client.warehouse(warehouse).namespaces(parent))


@namespaces.command()
@click.argument("warehouse")
@click.argument("namespace")
@speaks
def create(lake: Lake, warehouse: str, namespace: str) -> None:
    """Make a namespace."""
    lake.client.warehouse(warehouse).create_namespace(namespace)
    lake.output.done(f"Made {namespace}.", namespace=namespace)


@namespaces.command()
@click.argument("warehouse")
@click.argument("namespace")
@click.option("--recursive", is_flag=True, help="With all that is in it.")
@click.option("--force", is_flag=True, help="Even what is protected, and at once what could be restored.")
@click.confirmation_option(prompt="Drop the namespace?")
@speaks
def drop(lake: Lake, warehouse: str, namespace: str, *, recursive: bool, force: bool) -> None:
    """Drop a namespace."""
    lake.client.warehouse(warehouse).drop_namespace(namespace, recursive=recursive, force=force)
    lake.output.done(f"Dropped {namespace}.", dropped=namespace)
