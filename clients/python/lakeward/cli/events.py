"""What changes in a warehouse, of a project or of the server, as it changes, and what changed before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import click
from typing_extensions import Unpack

from lakeward._sync.events import Events
from lakeward.cli.lake import Lake, speaks
from lakeward.events import BEGINNING, NOW, Event, FilePosition, Service

_FROM = '"beginning", which is what is there and then what changed; "now"; or the position of an event.'
_SERVICES = ("catalog", "authz", "vending")


class _Stream(TypedDict):
    warehouse: str | None
    of_project: bool
    server: bool
    service: Service | None


@click.group()
def events() -> None:
    """Follow what changes. WAREHOUSE is a name or an id; without one, say --of-project or --server."""


def _selected(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which events it shows."""
    only = click.option("--kind", multiple=True, help="Only what is about these, as table; several times for several.")
    keep = click.option(
        "--position-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Keep in this file how far it came, and go on from there.",
    )
    project = click.option(
        "--of-project", is_flag=True, help="Of the project itself; not of what is in its warehouses."
    )
    server = click.option("--server", is_flag=True, help="Of the server itself; not of what is in its projects.")
    service = click.option(
        "--service",
        type=click.Choice(_SERVICES),
        help="With those: the catalog's, authz's (users, roles, grants), or vending's (credentials).  [default: catalog]",
    )
    warehouse = click.argument("warehouse", required=False)
    return warehouse(project(server(service(only(keep(command))))))


@events.command()
@click.option("--from", "after", default=NOW, show_default=True, help=_FROM)
@_selected
@speaks
def tail(
    lake: Lake, *, after: str, kind: tuple[str, ...], position_file: Path | None, **stream: Unpack[_Stream]
) -> None:
    """Show events as they come, until it is interrupted."""
    _show(lake, _events(lake, **stream), after=after, kinds=kind, kept=position_file, follow=True)


@events.command()
@click.option("--from", "after", default=BEGINNING, show_default=True, help=_FROM)
@_selected
@speaks
def replay(
    lake: Lake, *, after: str, kind: tuple[str, ...], position_file: Path | None, **stream: Unpack[_Stream]
) -> None:
    """Show the events that there are, up to the newest one."""
    _show(lake, _events(lake, **stream), after=after, kinds=kind, kept=position_file, follow=False)


def _events(lake: Lake, *, warehouse: str | None, of_project: bool, server: bool, service: Service | None) -> Events:
    if (warehouse is not None) + of_project + server != 1:
        raise click.UsageError("name one: a WAREHOUSE, --of-project, or --server")
    if warehouse is not None:
        if service is not None:
            raise click.UsageError(
                "--service goes with --of-project or --server: a warehouse's events are the catalog's"
            )
        return lake.client.warehouse(warehouse).events
    return (lake.client.project_events if of_project else lake.client.server_events)(service=service or "catalog")


def _show(lake: Lake, events: Events, *, after: str, kinds: tuple[str, ...], kept: Path | None, follow: bool) -> None:
    position = after if kept is None else FilePosition(kept, first=after)
    for event in events.subscribe(position, follow=follow):
        if kinds and event.kind not in kinds:
            continue
        if lake.output.as_json:
            lake.output.document(
                {
                    "position": event.position,
                    "sequence": event.sequence,
                    "snapshot": event.snapshot,
                    "kind": event.kind,
                    "verb": event.verb,
                    "event": event.cloud_event,
                }
            )
        else:
            lake.output.names([_line(event)])


def _line(event: Event) -> str:
    number = "snapshot" if event.snapshot else str(event.sequence)
    who = event.principal or "-"
    return f"{number:>8}  {event.time:%Y-%m-%d %H:%M:%S}  {event.kind}.{event.verb}  {event.subject}  {who}"
