"""The server's commands. Each imports what it runs when it runs, so that `lakeward version` costs nothing."""

from __future__ import annotations

import os
from collections.abc import Coroutine
from importlib.metadata import entry_points
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import click

SERVICES: Final = ("catalog", "authz", "vending", "gateway")
_HOME_HELP: Final = "Where state is kept; LAKEWARD_HOME, else .lakeward, or .lakeward-secure where callers are asked."
_SERVE: Final = "lakeward.services"  # group of entry points: what `python -m` runs in each service's own distribution


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(installed("lakeward-server"))


@click.command()
@click.argument("service", required=False, type=click.Choice(SERVICES))
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that host everything and share one listener. Pods need one each: scale pods instead.",
)
@click.option("--fd", type=int, hidden=True, help="A listening socket that the parent handed over.")
@click.option("--worker", type=int, default=0, hidden=True, help="Which of the parent's workers this is, from 0.")
def serve(service: str | None, workers: int, fd: int | None, worker: int) -> None:
    """Serve everything in one process, or one SERVICE that meets the others over gRPC."""
    if service is not None:
        if workers > 1:
            raise click.UsageError(
                "--workers goes with all services in a process; start more pods of one service instead"
            )
        (found,) = entry_points(group=_SERVE, name=service)
        _run(found.load()(os.environ))
    if workers > 1:
        from lakeward_cli.workers import serve_many  # noqa: PLC0415 - see the module

        _run(serve_many(workers, os.environ))
    from lakeward_cli.serving import serve_all  # noqa: PLC0415 - see the module

    _run(serve_all(os.environ, fd=fd, worker=worker))


@click.command()
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help=_HOME_HELP)
@click.option("--secure", is_flag=True, help="Ask callers who they are: with three people, admin, writer and reader.")
def up(home: Path | None, *, secure: bool) -> None:
    """Start the embedded catalog: Postgres, NATS and an S3 store too. Ctrl-C ends what it started, and nothing else."""
    from lakeward_cli.embedded import up as start  # noqa: PLC0415 - see the module

    _run(start(_home(home, secure=secure), os.environ, secure=secure))


@click.command()
@click.argument("name", type=click.Choice(("admin", "writer", "reader")))
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help=_HOME_HELP)
def token(name: str, home: Path | None) -> None:
    """Print a fresh access token of somebody who is known to a running `lakeward up --secure`."""
    from lakeward_cli.people import token as fresh  # noqa: PLC0415 - see the module

    async def printed() -> None:
        click.echo(await fresh(_home(home, secure=True), name))

    _run(printed())


@click.command()
def migrate() -> None:
    """Bring the schemas of all services to what this release needs. May be repeated, and may skip releases."""
    from lakeward_cli.migrating import migrate as run  # noqa: PLC0415 - see the module

    _run(run(os.environ))


@click.command("wait-for-db")
@click.option("-r", "--retries", default=15, show_default=True, help="Attempts.")
@click.option("-b", "--backoff", default=2.0, show_default=True, help="Seconds between attempts.")
@click.option("-m", "--migrated", is_flag=True, help="Wait until the schemas are what this release needs, too.")
def wait_for_db(retries: int, backoff: float, *, migrated: bool) -> None:
    """Wait until Postgres answers."""
    from lakeward_cli.migrating import wait  # noqa: PLC0415 - see the module

    _run(wait(os.environ, retries=retries, backoff=backoff, migrated=migrated))


@click.command()
@click.option("-s", "--server", "server", is_flag=True, help="Ask the running server; the default.")
@click.option("-d", "--database", "database", is_flag=True, help="Ask Postgres.")
@click.option("-a", "--all", "everything", is_flag=True, help="Ask both.")
def healthcheck(*, server: bool, database: bool, everything: bool) -> None:
    """Exit 0 where what was asked is well, else 1."""
    from lakeward_cli.health import check  # noqa: PLC0415 - see the module

    ask_database = database or everything
    _run(check(os.environ, server=server or everything or not ask_database, database=ask_database))


@click.group()
def secrets() -> None:
    """Look after storage secrets."""


@secrets.command()
def rotate() -> None:
    """Put every storage secret under the first key of the ring, and refuse the others from now on.

    May run while others serve, and may be repeated: one that was cut short goes on.
    """
    from lakeward_cli.secrets import rotate as run  # noqa: PLC0415 - see the module

    _run(run(os.environ))


@secrets.command()
@click.option("--to", type=click.Choice(("postgres", "kv2")), required=True, help="Where they are to lie.")
def move(to: Literal["postgres", "kv2"]) -> None:
    """Bring every storage secret to another store, each read back before it leaves the old one.

    May run while others serve that can use both stores, and may be repeated: one that was cut short goes on.
    """
    from lakeward_cli.secrets import move as run  # noqa: PLC0415 - see the module

    _run(run(os.environ, to=to))


@click.command(hidden=True)
def reencrypt() -> None:
    """Do what `secrets rotate` does, under its earlier name."""
    from lakeward_cli.secrets import rotate as run  # noqa: PLC0415 - see the module

    _run(run(os.environ))


@click.group()
def authz() -> None:
    """Look after what authz knows."""


@authz.command()
@click.option("--repair", is_flag=True, help="Tell authz of what it does not know as it is, and wait until it does.")
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="Of a `lakeward up` that runs; without, the environment says where the database is.",
)
def verify(*, repair: bool, home: Path | None) -> None:
    """Compare authz's objects with the catalog's, and OpenFGA's tuples with authz's grants where that decides.

    Exits with 1 where differences are left. May run while others serve.
    """
    from lakeward_cli.homes import settings_of  # noqa: PLC0415 - see the module
    from lakeward_cli.verifying import verify as run  # noqa: PLC0415 - see the module

    async def verified() -> int:
        return await run({**({} if home is None else settings_of(home)), **os.environ}, repair=repair)

    _run(verified())


@authz.command()
@click.argument("user")
@click.option("--operator", is_flag=True, help="May do everything; else it gives rights, and keeps projects and users.")
def appoint(user: str, *, operator: bool) -> None:
    """Make USER, as in oidc~4711, an administrator of the server. May be repeated, and may run while others serve."""
    from lakeward_cli.appointing import appoint as run  # noqa: PLC0415 - see the module

    _run(run(os.environ, user=user, operator=operator))


@click.group("dead-letters")
def dead_letters() -> None:
    """Look after events that a sink refused for what they are, and that were set aside."""


@dead_letters.command("list")
@click.option("--sink", help="Of this sink alone, as nats or kafka.")
def list_dead_letters(sink: str | None) -> None:
    """Print them with the sink's reason, the longest refused first."""
    from lakeward_cli.dead_letters import Which, show  # noqa: PLC0415 - see the module

    _run(show(os.environ, Which(sink=sink)))


@dead_letters.command("retry")
@click.argument("service", type=click.Choice(["catalog", "authz", "vending"]))
@click.option("--sink", help="Of this sink alone.")
@click.option("--stream", help="Of this stream alone.")
@click.option("--sequence", type=int, help="This one alone; of --stream.")
def retry_dead_letters(service: str, sink: str | None, stream: str | None, sequence: int | None) -> None:
    """Have SERVICE's published again, behind what went out meanwhile; do it once the cause is gone."""
    from lakeward_cli.dead_letters import Which, retry  # noqa: PLC0415 - see the module

    _run(retry(os.environ, Which((service,), sink, stream, sequence)))


@dead_letters.command("drop")
@click.argument("service", type=click.Choice(["catalog", "authz", "vending"]))
@click.option("--sink", required=True, help="Of this sink alone.")
@click.option("--stream", help="Of this stream alone.")
@click.option("--sequence", type=int, help="This one alone; of --stream.")
def drop_dead_letters(service: str, sink: str, stream: str | None, sequence: int | None) -> None:
    """Forget SERVICE's; the sink never gets them."""
    from lakeward_cli.dead_letters import Which, drop  # noqa: PLC0415 - see the module

    _run(drop(os.environ, Which((service,), sink, stream, sequence)))


@click.group()
def config() -> None:
    """Look at the configuration: of SERVICE alone, or of all services in one process."""


@config.command()
@click.argument("service", required=False, type=click.Choice(SERVICES))
def show(service: str | None) -> None:
    """Print what is in force and where each value comes from, with secrets masked."""
    from lakeward_cli import configuration  # noqa: PLC0415 - see the module

    _run(configuration.show(os.environ, service))


@config.command()
@click.argument("service", required=False, type=click.Choice(SERVICES))
def check(service: str | None) -> None:
    """Print the same, and exit with 0 where a server could start with it, or with 78 and all that is wrong."""
    from lakeward_cli import configuration  # noqa: PLC0415 - see the module

    _run(configuration.check(os.environ, service))


def _home(given: Path | None, *, secure: bool) -> Path:
    # Two homes: in one that anybody opened for use, nobody in particular has rights.
    default = ".lakeward-secure" if secure else ".lakeward"
    return given or Path(os.environ.get("LAKEWARD_HOME") or default)


@click.command()
@click.argument("who")
@click.argument("action")
@click.argument("on")
@click.option("--url", envvar="LAKEWARD_URL", default="http://127.0.0.1:8181", show_default=True, help="Of the server.")
@click.option("--token", envvar="LAKEWARD_TOKEN", default="", help="Yours; LAKEWARD_TOKEN.")
def why(who: str, action: str, on: str, url: str, token: str) -> None:
    """Say why WHO may take ACTION on ON, or what they would have to be given.

    WHO is a user's id, role:ID, or me. ON is server, project[/ID], warehouse/NAME, namespace/WAREHOUSE/a.b, or
    table/WAREHOUSE/a.b.t, and so on for a view or generic-table. Exits with 1 where they may not, and with 2 where that is not
    known.
    """
    from lakeward_cli.why import why as run  # noqa: PLC0415 - see the module

    raise SystemExit(run(url, token, (who, action, on)))


def _run(command: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Run a command to its exit status; what a user can mend is one message, not a stack."""
    from lakeward_cli.failing import explained  # noqa: PLC0415 - see the module
    from lakeward_servicekit.process import run  # noqa: PLC0415 - see the module

    with explained():
        run(command)
