"""Files to and from a table's place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

from lakeward import transfers
from lakeward._sync.generic import GenericTable
from lakeward._sync.iceberg import Iceberg
from lakeward.cli.lake import Lake, speaks
from lakeward.cli.tables import split
from lakeward.errors import ConfigurationError


@click.command()
@click.argument("warehouse")
@click.argument("source")
@click.argument("target")
@click.option("--create", is_flag=True, help="Make the table that is uploaded to, if there is none: a dataset.")
@click.option("--resume", is_flag=True, help="Leave out what an earlier copy brought whole.")
@speaks
def cp(lake: Lake, warehouse: str, source: str, target: str, *, create: bool, resume: bool) -> None:
    """Copy files between this machine and a table's place.

    One of SOURCE and TARGET is a place, a table and a colon, and what is below it may follow: `ai.images:` or
    `ai.images:cats/1.png`. The other is a file or a directory.

        lakeward cp sales ./images ai.images: --create

        lakeward cp sales ai.images:cats ./cats
    """
    if find_spec("obstore") is None:
        raise ConfigurationError("obstore is not installed; `pip install 'lakeward[obstore]'` brings it")
    found = lake.client.warehouse(warehouse)
    if (place := _place(target)) is not None and _place(source) is None:
        table = _made(found, place[0]) if create else found.generic.load(*split(place[0]))
        store = table.access().obstore()
        what = transfers.uploads(Path(source), store, place[1], resume=resume)
        with _shown(what, lake) as progress:
            transfers.upload(what, store, progress)
    elif (place := _place(source)) is not None and _place(target) is None:
        store = found.generic.load(*split(place[0])).access().obstore()
        what = transfers.downloads(store, place[1], Path(target), resume=resume)
        with _shown(what, lake) as progress:
            transfers.download(what, store, progress)
    else:
        raise ConfigurationError(
            f"one of {source!r} and {target!r} should be a table's place, as in ai.images: or ai.images:cats, and one a file; "
            f"a file whose name has a colon is written ./{source}"
        )
    size = sum(each.size for each in what)
    lake.output.done(f"Copied {len(what)} files, {size} bytes.", files=len(what), bytes=size)


def _made(warehouse: Iceberg, table: str) -> GenericTable:
    namespace, name = split(table)
    return warehouse.generic.create(namespace, name, format="dataset", exist_ok=True)


def _place(text: str) -> tuple[str, str] | None:
    table, colon, path = text.partition(":")
    return (table, path.lstrip("/")) if colon and "/" not in table and "\\" not in table else None


@contextmanager
def _shown(what: Sequence[transfers.Transfer], lake: Lake) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    lock = threading.Lock()
    with Progress(*columns, console=console, disable=lake.output.as_json or not console.is_terminal) as bar:
        task = bar.add_task("", total=sum(each.size for each in what))

        def advance(count: int) -> None:
            with lock:  # of many threads
                bar.advance(task, count)

        yield advance
