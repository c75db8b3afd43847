"""What changes in a warehouse, as it changes, and what changed before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.events import BEGINNING, NOW, Event, FilePosition

_FROM = '"beginning", which is what is there and then what changed; "now"; or the position of an event.'


@click.group()
def events() -> None:
    """Follow what changes. WAREHOUSE is a name or an id."""


def _selected(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which events it shows."""
    only = click.option("--kind", multiple=True, help="Only what is about these, as table; several times for several.")
    keep = click.option(
        "--position-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Keep in this file how far it came, and go on from there.",
    )
    return only(keep(command))


@events.command()
@click.argument("warehouse")
@click.option("--from", "after", default=NOW, show_default=True, help=_FROM)
@_selected
@speaks
def tail(lake: Lake, warehouse: str, *, after: str, kind: tuple[str, ...], position_file: Path | None) -> None:
    """Show events as they come, until it is interrupted."""
    _show(lake, warehouse, after=after, kinds=kind, kept=position_file, follow=True)


@events.command()
@click.argument("warehouse")
@click.option("--from", "after", default=BEGINNING, show_default=True, help=_FROM)
@_selected
@speaks
def replay(lake: Lake, warehouse: str, *, after: str, kind: tuple[str, ...], position_file: Path | None) -> None:
    """Show the events that there are, up to the newest one."""
    _show(lake, warehouse, after=after, kinds=kind, kept=position_file, follow=False)


def _show(lake: Lake, warehouse: str, *, after: str, kinds: tuple[str, ...], kept: Path | None, follow: bool) -> None:
    position = after if kept is None else FilePosition(kept, first=after)
    for event in lake.client.warehouse(warehouse).events.subscribe(position, follow=follow):
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
