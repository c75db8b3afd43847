"""What a warehouse does in the background."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from lakeward.cli.lake import Lake, speaks
from lakeward.cli.output import plain

_COLUMNS = {
    "QUEUE": "queue-name",
    "STATUS": "status",
    "OF": "entity-name",
    "FOR": "scheduled-for",
    "ATTEMPT": "attempt",
    "ID": "task-id",
}
_STATUSES = ("SCHEDULED", "RUNNING", "STOPPING", "SUCCESS", "FAILED", "CANCELLED")
_ENDED = frozenset({"SUCCESS", "FAILED", "CANCELLED"})


@click.group()
def tasks() -> None:
    """Watch and control background work. WAREHOUSE is a name or an id."""


@tasks.command("list")
@click.argument("warehouse")
@click.option("--status", multiple=True, type=click.Choice(_STATUSES, case_sensitive=False), help="Only these.")
@click.option("--queue", multiple=True, help="Only of these queues.")
@speaks
def listed(lake: Lake, warehouse: str, status: Sequence[str], queue: Sequence[str]) -> None:
    """List tasks, the newest first."""
    found = lake.client.management.tasks(warehouse).list(status=list(status) or None, queue=list(queue) or None)
    lake.output.rows(found, _COLUMNS)


@tasks.command()
@click.argument("warehouse")
@click.argument("task_id")
@speaks
def show(lake: Lake, warehouse: str, task_id: str) -> None:
    """Show a task with its attempts."""
    lake.output.one(lake.client.management.tasks(warehouse).get(task_id))


def _control(name: str, about: str, told: str, key: str) -> None:
    """A command that does one thing with tasks.

    Args:
        name: of the command, and of what the client calls so.
        about: what it does.
        told: to people, of how many.
        key: under which scripts are told which.
    """

    @tasks.command(name, help=about)
    @click.argument("warehouse")
    @click.argument("task_ids", nargs=-1, required=True)
    @speaks
    def control(lake: Lake, warehouse: str, task_ids: Sequence[str]) -> None:
        getattr(lake.client.management.tasks(warehouse), name)(*task_ids)
        lake.output.done(told.format(len(task_ids)), **{key: list(task_ids)})


_control("cancel", "Let what has not begun never begin.", "Cancelled {}.", "cancelled")
_control("stop", "Ask what is running to stop.", "Asked {} to stop.", "stopped")
_control("run", "Begin now what waits for its time.", "{} to begin now.", "begun")


@tasks.command()
@click.argument("warehouse")
@click.argument("task_ids", nargs=-1)
@click.option(
    "--interval", default=1.0, show_default=True, type=click.FloatRange(min=0.05), help="Seconds between looks."
)
@speaks
def watch(lake: Lake, warehouse: str, task_ids: Sequence[str], interval: float) -> None:
    """Follow tasks until they have ended: TASK_IDS, else all that have not ended now. Exit 1 where one of them failed."""
    place = lake.client.management.tasks(warehouse)
    waiting = list(task_ids) or [
        str(task.task_id) for task in place.list(status=[status for status in _STATUSES if status not in _ENDED])
    ]
    ended: dict[str, str] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=lake.output.console, disable=lake.output.as_json) as progress:
        bars = {task_id: progress.add_task(task_id, total=1.0) for task_id in waiting}
        while len(ended) < len(bars):
            for task_id in [each for each in bars if each not in ended]:
                task = place.get(task_id)
                name = ".".join(task.entity_name or ())
                told = plain(f"{task.queue_name} {name} {task.status}").replace("[", "\\[")
                progress.update(bars[task_id], completed=task.progress, description=told)
                if task.status in _ENDED:
                    ended[task_id] = task.status
                    progress.update(bars[task_id], completed=1.0)
                    progress.stop_task(bars[task_id])
                    if lake.output.as_json:
                        lake.output.document({"task-id": task_id, "status": task.status})
            if len(ended) < len(bars):
                time.sleep(interval)
    if any(status != "SUCCESS" for status in ended.values()):
        raise click.exceptions.Exit(1)
