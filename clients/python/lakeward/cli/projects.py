"""Tenants."""

from __future__ import annotations

import click

from lakeward.cli.lake import Lake, speaks

_COLUMNS = {"NAME": "project-name", "ID": "project-id"}


@click.group()
def projects() -> None:
    """Look after tenants."""


@projects.command("list")
@speaks
def listed(lake: Lake) -> None:
    """List the projects that you may see."""
    lake.output.rows(lake.client.management.projects.list(), _COLUMNS)


@projects.command()
@click.argument("name")
@click.option("--id", "project_id", help="Its id; made where none is given.")
@speaks
def create(lake: Lake, name: str, project_id: str | None) -> None:
    """Make a project called NAME."""
    made = lake.client.management.projects.create(name, project_id=project_id)
    lake.output.done(f"Made project {name}: {made}", **{"project-id": made, "project-name": name})


@projects.command()
@click.argument("project_id")
@click.argument("name")
@speaks
def rename(lake: Lake, project_id: str, name: str) -> None:
    """Call the project PROJECT_ID NAME."""
    lake.client.management.projects.rename(project_id, name)
    lake.output.done(f"Project {project_id} is called {name}.", **{"project-id": project_id, "project-name": name})


@projects.command()
@click.argument("project_id")
@click.confirmation_option(prompt="Delete the project?")
@speaks
def delete(lake: Lake, project_id: str) -> None:
    """Delete the project PROJECT_ID, which must have no warehouses."""
    lake.client.management.projects.delete(project_id)
    lake.output.done(f"Deleted project {project_id}.", deleted=project_id)
