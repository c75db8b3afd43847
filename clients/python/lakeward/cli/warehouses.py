"""Where tables live."""

from __future__ import annotations

from typing import IO

import click

from lakeward.cli.files import document
from lakeward.cli.lake import Lake, speaks
from lakeward.errors import ConfigurationError
from lakeward.management.models import Contracts

_COLUMNS = {"NAME": "name", "ID": "id", "STATUS": "status", "PROTECTED": "protected"}
_CONTRACTS = {"NAME": "name", "NAMESPACE": "namespace", "RULES": "rules", "CHECKERS": "checkers"}
_FILE = click.File("r", encoding="utf-8")


@click.group()
def warehouses() -> None:
    """Look after warehouses. WAREHOUSE is a name or an id."""


@warehouses.command("list")
@click.option("--active", is_flag=True, help="Only those that can be used.")
@speaks
def listed(lake: Lake, *, active: bool) -> None:
    """List the project's warehouses that you may see."""
    lake.output.rows(lake.client.management.warehouses.list(inactive=not active), _COLUMNS)


@warehouses.command()
@click.argument("warehouse")
@speaks
def show(lake: Lake, warehouse: str) -> None:
    """Show one."""
    lake.output.one(lake.client.management.warehouses.get(warehouse))


@warehouses.command()
@click.argument("name")
@click.option(
    "--file", "file", type=_FILE, required=True, help="JSON with storage-profile, storage-credential, ...; - reads it."
)
@speaks
def create(lake: Lake, name: str, file: IO[str]) -> None:
    """Make a warehouse called NAME, as the file describes it."""
    told = dict(document(file))
    told.pop("warehouse-name", None)
    unknown = sorted(told.keys() - {"storage-profile", "storage-credential", "delete-profile"})
    if unknown or "storage-profile" not in told:
        wrong = f"has {', '.join(unknown)}" if unknown else "has no storage-profile"
        raise ConfigurationError(
            f"{file.name} {wrong}; it should have storage-profile, and may have storage-credential and delete-profile"
        )
    made = lake.client.management.warehouses.create(
        name, told["storage-profile"], told.get("storage-credential"), delete_profile=told.get("delete-profile")
    )
    lake.output.done(f"Made warehouse {made.name}: {made.id}", id=made.id, name=made.name)


@warehouses.command()
@click.argument("warehouse")
@click.option(
    "--file", "file", type=_FILE, help="JSON with contracts, which take the place of all there are; - reads it."
)
@speaks
def contracts(lake: Lake, warehouse: str, file: IO[str] | None) -> None:
    """Show what a warehouse promises of its tables, or promise what a file says."""
    management = lake.client.management
    warehouse_id = management.warehouses.id_of(warehouse)
    if file is None:
        lake.output.rows(management.operations.get_warehouse_contracts(warehouse_id).contracts, _CONTRACTS)
        return
    kept = management.operations.set_warehouse_contracts(warehouse_id, Contracts.model_validate(document(file)))
    lake.output.done(
        f"{warehouse} keeps {len(kept.contracts)} contracts.", contracts=[each.name for each in kept.contracts]
    )


@warehouses.command()
@click.argument("warehouse")
@click.argument("name")
@speaks
def rename(lake: Lake, warehouse: str, name: str) -> None:
    """Call a warehouse NAME."""
    lake.client.management.warehouses.rename(warehouse, name)
    lake.output.done(f"{warehouse} is called {name}.", name=name)


@warehouses.command()
@click.argument("warehouse")
@speaks
def activate(lake: Lake, warehouse: str) -> None:
    """Let it be used again."""
    lake.client.management.warehouses.activate(warehouse)
    lake.output.done(f"{warehouse} can be used.", status="active")


@warehouses.command()
@click.argument("warehouse")
@speaks
def deactivate(lake: Lake, warehouse: str) -> None:
    """Let nobody use it; nothing in it is lost."""
    lake.client.management.warehouses.deactivate(warehouse)
    lake.output.done(f"{warehouse} can't be used.", status="inactive")


@warehouses.command()
@click.argument("warehouse")
@click.option("--off", is_flag=True, help="No longer.")
@speaks
def protect(lake: Lake, warehouse: str, *, off: bool) -> None:
    """Keep it from being deleted."""
    lake.client.management.warehouses.protect(warehouse, protected=not off)
    lake.output.done(f"{warehouse} is {'not ' if off else ''}protected.", protected=not off)


@warehouses.command()
@click.argument("warehouse")
@click.option("--file", "file", type=_FILE, required=True, help="JSON with the new credential; - reads it.")
@speaks
def credential(lake: Lake, warehouse: str, file: IO[str]) -> None:
    """Use another credential for the store, from the next request on."""
    lake.client.management.warehouses.set_credential(warehouse, document(file))
    lake.output.done(f"{warehouse} uses its new credential.", updated=True)


@warehouses.command()
@click.argument("warehouse")
@click.option(
    "--soft", type=click.IntRange(min=0), metavar="SECONDS", help="What is dropped can be restored for so long."
)
@click.option("--hard", is_flag=True, help="Drops are final.")
@speaks
def drops(lake: Lake, warehouse: str, soft: int | None, *, hard: bool) -> None:
    """Say whether, and for how long, what is dropped can be restored."""
    if hard == (soft is not None):
        raise ConfigurationError("say either --soft SECONDS or --hard")
    profile = {"type": "hard"} if hard else {"type": "soft", "expiration-seconds": soft}
    lake.client.management.warehouses.set_delete_profile(warehouse, profile)
    lake.output.done(
        f"Drops from {warehouse} are {'final' if hard else f'kept for {soft} s'}.", **{"delete-profile": profile}
    )


@warehouses.command()
@click.argument("warehouse")
@click.option("--force", is_flag=True, help="Even a protected one.")
@click.confirmation_option(prompt="Delete the warehouse?")
@speaks
def delete(lake: Lake, warehouse: str, *, force: bool) -> None:
    """Delete one, which must be empty."""
    lake.client.management.warehouses.delete(warehouse, force=force)
    lake.output.done(f"Deleted {warehouse}.", deleted=warehouse)


@warehouses.command()
@click.argument("warehouse")
@speaks
def statistics(lake: Lake, warehouse: str) -> None:
    """Show how much it had, hour by hour."""
    columns = {"TIME": "timestamp", "TABLES": "number-of-tables", "VIEWS": "number-of-views"}
    lake.output.rows(lake.client.management.warehouses.statistics(warehouse), columns)


@warehouses.command()
@click.argument("warehouse")
@click.argument("text")
@speaks
def search(lake: Lake, warehouse: str, text: str) -> None:
    """Find tables and views by a name that is like TEXT."""
    columns = {"NAMESPACE": "namespace-name", "NAME": "tabular-name", "DISTANCE": "distance"}
    lake.output.rows(lake.client.management.warehouses.search(warehouse, text), columns)
