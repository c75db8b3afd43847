"""Tables of a warehouse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from lakeward._sync.generic import GenericTable
from lakeward._sync.iceberg import Iceberg
from lakeward.cli.lake import Lake, speaks
from lakeward.errors import ConfigurationError, NotFoundError


def split(name: str) -> tuple[str, str]:
    """Namespace and name of "sales.eu.orders".

    Raises:
        ConfigurationError: it has no namespace.
    """
    namespace, _, table = name.rpartition(".")
    if not namespace or not table:
        raise ConfigurationError(f"{name!r} is no table: say its namespace, too, as in sales.orders")
    return namespace, table


@click.group()
def tables() -> None:
    """Look after tables. WAREHOUSE is a name or an id, TABLE like sales.eu.orders."""


@tables.command("list")
@click.argument("warehouse")
@click.argument("namespace")
@click.option(
    "--kind", type=click.Choice(["table", "view", "generic"]), help="These alone: Iceberg's, or of any format."
)
@speaks
def listed(lake: Lake, warehouse: str, namespace: str, *, kind: str | None) -> None:
    """List what you may see of a namespace's tables and views, of all kinds."""
    found = lake.client.warehouse(warehouse)
    lake.output.rows(_all(found, namespace, kind), {"NAME": "name", "KIND": "kind", "FORMAT": "format"})


def _all(warehouse: Iceberg, namespace: str, kind: str | None) -> Iterator[Mapping[str, Any]]:
    if kind in {None, "table"}:
        for name in warehouse.tables(namespace):
            yield {"name": name, "kind": "table", "format": "iceberg"}
    if kind in {None, "view"}:
        for name in warehouse.views(namespace):
            yield {"name": name, "kind": "view", "format": "iceberg"}
    if kind in {None, "generic"}:
        for found in warehouse.generic.list(namespace):
            yield {"name": found.name, "kind": "generic", "format": found.format, "id": found.id}


@tables.command()
@click.argument("warehouse")
@click.argument("table")
@speaks
def show(lake: Lake, warehouse: str, table: str) -> None:
    """Show a table: where it is, and what is known of what is in it."""
    found = lake.client.warehouse(warehouse)
    namespace, name = split(table)
    try:
        loaded = found.load(namespace, name)
    except NotFoundError as error:
        # A name is one tabular's of any kind; which, the name does not say.
        try:
            lake.output.one(_generic(found.generic.load(namespace, name, credentials=False)))
        except NotFoundError:
            raise error from None
        return
    _show_iceberg(lake, loaded)


def _generic(table: GenericTable) -> Mapping[str, Any]:
    info = table.info
    return {
        "id": info.id,
        "format": info.format,
        "location": info.location,
        "doc": info.doc,
        "schema": info.schema,
        "statistics": info.statistics,
        "protected": info.protected,
        "registered": info.registered,
        "properties": info.properties,
    }


def _show_iceberg(lake: Lake, loaded: Mapping[str, Any]) -> None:
    metadata = loaded["metadata"]
    if lake.output.as_json:
        lake.output.document(metadata)
        return
    current = {schema["schema-id"]: schema for schema in metadata.get("schemas", ())}.get(
        metadata.get("current-schema-id"), {}
    )
    lake.output.one(
        {
            "id": metadata.get("table-uuid"),
            "location": metadata.get("location"),
            "metadata": loaded.get("metadata-location"),
            "format version": metadata.get("format-version"),
            "columns": ", ".join(f"{field['name']} {_kind(field['type'])}" for field in current.get("fields", ())),
            "snapshots": len(metadata.get("snapshots", ())),
            "newest snapshot": metadata.get("current-snapshot-id"),
            "properties": metadata.get("properties", {}),
        }
    )


@tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.option("--purge", is_flag=True, help="Delete its files, too, once it can't be restored any more.")
@click.confirmation_option(prompt="Drop the table?")
@speaks
def drop(lake: Lake, warehouse: str, table: str, *, purge: bool) -> None:
    """Drop a table."""
    lake.client.warehouse(warehouse).drop(*split(table), purge=purge)
    lake.output.done(f"Dropped {table}.", dropped=table)


@tables.command()
@click.argument("warehouse")
@click.argument("table")
@click.argument("to")
@speaks
def rename(lake: Lake, warehouse: str, table: str, to: str) -> None:
    """Call a table TO, which names its namespace, too."""
    namespace, name = split(table)
    into, new = split(to)
    lake.client.warehouse(warehouse).rename(namespace, name, new, into=into)
    lake.output.done(f"{table} is called {to}.", renamed=to)


def _kind(of: object) -> str:
    return of if isinstance(of, str) else str(of["type"]) if isinstance(of, dict) else "unknown"
