"""Tables of other formats than Iceberg's."""

from __future__ import annotations

from typing import Any

import click

from lakeward import GenericTable
from lakeward.cli.lake import Lake, speaks
from lakeward.cli.tables import split
from lakeward.errors import ConfigurationError
from lakeward.management import models

_COLUMNS = {"NAME": "name", "FORMAT": "format", "ID": "id"}


@click.group("generic-tables")
def generic_tables() -> None:
    """Look after tables of other formats, as Lance. WAREHOUSE is a name or an id, TABLE like ai.images.cats."""


@generic_tables.command("list")
@click.argument("warehouse")
@click.argument("namespace")
@speaks
def listed(lake: Lake, warehouse: str, namespace: str) -> None:
    """List a namespace's that you may see."""
    found = lake.client.warehouse(warehouse).generic.list(namespace)
    lake.output.rows(({"name": each.name, "format": each.format, "id": str(each.id)} for each in found), _COLUMNS)


@generic_tables.command()
@click.argument("warehouse")
@click.argument("table")
@speaks
def show(lake: Lake, warehouse: str, table: str) -> None:
    """Show what the catalog keeps of one."""
    lake.output.one(_shown(_load(lake, warehouse, table)))


@generic_tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.option("--format", "kind", required=True, help="As lance; the catalog only keeps it.")
@click.option("--location", help="Where its files are; where the warehouse lays tables out, if nothing is said.")
@click.option("--register", is_flag=True, help="Its files are there: no drop removes them unless that is asked for.")
@click.option("--doc", help="For people.")
@click.option("--property", "properties", multiple=True, help="NAME=VALUE; may be repeated.")
@speaks
def create(  # noqa: PLR0913 - its options, by name
    lake: Lake,
    warehouse: str,
    table: str,
    *,
    kind: str,
    location: str | None,
    register: bool,
    doc: str | None,
    properties: tuple[str, ...],
) -> None:
    """Make one."""
    namespace, name = split(table)
    said: dict[str, Any] = {"format": kind, "doc": doc, "properties": dict(_pair(each) for each in properties)}
    place = lake.client.warehouse(warehouse).generic
    if not register:
        made = place.create(namespace, name, location=location, **said)
    elif location is None:
        raise click.UsageError("say --location, too: where the files are")
    else:
        made = place.register(namespace, name, location=location, **said)
    lake.output.done(f"Made {table} at {made.info.location}.", id=str(made.info.id), location=made.info.location)


@generic_tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.option("--purge", is_flag=True, help="Delete its files, too, once it can't be restored any more.")
@click.option("--force", is_flag=True, help="Even if it is protected, and at once what could be restored.")
@click.confirmation_option(prompt="Drop the table?")
@speaks
def drop(lake: Lake, warehouse: str, table: str, *, purge: bool, force: bool) -> None:
    """Drop one; `lakeward undrop` restores it."""
    lake.client.warehouse(warehouse).generic.drop(*split(table), purge=purge, force=force)
    lake.output.done(f"Dropped {table}.", dropped=table)


@generic_tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.option("--off", is_flag=True, help="Take the protection away.")
@speaks
def protect(lake: Lake, warehouse: str, table: str, *, off: bool) -> None:
    """Keep one from being dropped, or no longer."""
    found = _load(lake, warehouse, table).info.id
    if found is None:
        raise ConfigurationError(f"{table} has no id that it could be protected by")
    management = lake.client.management
    asked = models.SetProtectionRequest(protected=not off)
    management.operations.set_generic_table_protection(management.warehouses.id_of(warehouse), found, asked)
    lake.output.done(f"{table} is {'not ' if off else ''}protected.", protected=not off)


@generic_tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.argument("to")
@speaks
def rename(lake: Lake, warehouse: str, table: str, to: str) -> None:
    """Call one TO, which names its namespace, too."""
    (namespace, name), (into, new) = split(table), split(to)
    lake.client.warehouse(warehouse).generic.rename(namespace, name, new, into=into)
    lake.output.done(f"{table} is called {to}.", renamed=to)


def _load(lake: Lake, warehouse: str, table: str) -> GenericTable:
    return lake.client.warehouse(warehouse).generic.load(*split(table), credentials=False)


def _shown(table: GenericTable) -> dict[str, object]:
    info = table.info
    return {
        "id": str(info.id),
        "format": info.format,
        "location": info.location,
        "doc": info.doc,
        "protected": info.protected,
        "registered": info.registered,
        "schema": info.schema,
        "statistics": info.statistics,
        "properties": dict(info.properties),
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.UsageError(f"{text!r} is no property: say NAME=VALUE")
    return name, value
