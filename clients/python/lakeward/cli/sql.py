"""SQL over a namespace, and the first rows of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.cli.output import Output
from lakeward.cli.tables import split
from lakeward.duck import Duck, quoted
from lakeward.errors import ConfigurationError, LakewardError

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_BATCH = 1024  # rows that are held at once
_BYTES_SHOWN = 32  # of a value that is no text: people look at what there is, files are for programs


@click.command()
@click.argument("warehouse")
@click.argument("namespace")
@click.argument("query", required=False)
@speaks
def sql(lake: Lake, warehouse: str, namespace: str, query: str | None) -> None:
    """Ask DuckDB about a namespace's tables, of Iceberg, Delta, Lance, Parquet, CSV and JSON alike.

    Without QUERY statements are read, from a terminal one after the other. Each ends with a semicolon.
    """
    duckdb = _duckdb()
    with Duck(lake.client.warehouse(warehouse), namespace) as duck:
        if query is None and sys.stdin.isatty():
            _shell(duck, lake.output)
            return
        try:
            _print(duck.run(sys.stdin.read() if query is None else query), lake.output)
        except duckdb.Error as error:
            raise SqlError(str(error)) from error


@click.command()
@click.argument("warehouse")
@click.argument("table")
@click.option("--rows", default=10, show_default=True, type=click.IntRange(0, 100_000), help="How many.")
@click.option("--column", "columns", multiple=True, help="This one alone; may be given several times.")
@speaks
def cat(lake: Lake, warehouse: str, table: str, *, rows: int, columns: tuple[str, ...]) -> None:
    """Show the first rows of a table. TABLE is like sales.eu.orders."""
    duckdb = _duckdb()
    namespace, name = split(table)
    wanted = ", ".join(map(quoted, columns)) or "*"
    with Duck(lake.client.warehouse(warehouse), namespace) as duck:
        try:
            _print(duck.run(f"select {wanted} from {quoted(name)} limit {rows}"), lake.output)  # noqa: S608 - quoted
        except duckdb.Error as error:
            raise SqlError(str(error)) from error


class SqlError(LakewardError):
    """DuckDB refuses a statement, or fails at it; the message is its own."""


def _shell(duck: Duck, output: Output) -> None:
    import readline  # noqa: F401, PLC0415 - lines can be edited once it is imported

    import duckdb  # noqa: PLC0415 - it is there: the caller looked

    click.echo("Statements end with a semicolon; Ctrl-D ends the shell.", err=True)
    pending = ""
    while True:
        try:
            pending += input("lake> " if not pending else "  ... ") + "\n"
        except KeyboardInterrupt:
            pending = ""
            click.echo()
            continue
        except EOFError:
            click.echo()
            return
        if not pending.strip():
            pending = ""
        elif pending.rstrip().endswith(";"):
            statements, pending = pending, ""
            try:
                _print(duck.run(statements), output)
            except (duckdb.Error, LakewardError) as error:
                # A shell goes on.
                click.echo(f"Error: {error}", err=True)
            except KeyboardInterrupt:
                click.echo("Interrupted.", err=True)


def _print(answer: DuckDBPyRelation | None, output: Output) -> None:
    if answer is None:
        return
    columns = list(answer.columns)
    if output.as_json:
        output.lines(_documents(answer, columns))
    else:
        output.table(columns, ([_short(value) for value in row] for row in _rows(answer)))


def _documents(answer: DuckDBPyRelation, columns: list[str]) -> Iterator[Mapping[str, Any]]:
    for row in _rows(answer):
        yield dict(zip(columns, (_plain(value) for value in row), strict=True))


def _rows(answer: DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    while rows := answer.fetchmany(_BATCH):
        yield from rows


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _short(value: object) -> object:
    if isinstance(value, bytes):
        head = value[:_BYTES_SHOWN].hex()
        return f"{head}… ({len(value)} bytes)" if len(value) > _BYTES_SHOWN else head
    return value


def _duckdb() -> Any:  # noqa: ANN401 - a module
    if find_spec("duckdb") is None:
        raise ConfigurationError("DuckDB is not installed; `pip install 'lakeward[duckdb]'` brings it")
    import duckdb  # noqa: PLC0415 - an engine that not everybody has

    return duckdb
