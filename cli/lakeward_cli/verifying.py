"""`lakeward authz verify`: whether authz knows of every object that the catalog has, and OpenFGA of all that authz knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import click

from lakeward_authz.settings import DecidingSettings
from lakeward_servicekit.process import loaded
from lakeward_servicekit.rpc import Caller
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings
    deciding: DecidingSettings


async def verify(environ: Mapping[str, str], *, repair: bool) -> int:
    """Print each difference; with `repair` tell authz of what it lacks, and OpenFGA, where that decides.

    Returns:
        1 where differences are left, else 0.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE; AUTHORIZATION_UNAVAILABLE, where OpenFGA decides and gives no answer.
    """
    from lakeward_authz.bootstrap import tree_alone, verify_openfga  # noqa: PLC0415 - commands load what they run
    from lakeward_catalog.bootstrap import verify_tree  # noqa: PLC0415 - commands load what they run

    settings = loaded(_Stored, environ)
    async with tree_alone(settings.postgres) as authz:
        verified = await verify_tree(
            settings.postgres, authz=authz.channel(caller=Caller.CALLER_CATALOG), repair=repair, report=_show
        )
    # behind the tree, since what is mended there is told to OpenFGA like any change
    drift = await verify_openfga(settings.deciding, settings.postgres, repair=repair)
    for each in drift or ():
        click.echo(each)
    found, left = verified.found + len(drift or ()), verified.left + (0 if repair else len(drift or ()))
    if not found and not left:
        click.echo("authz knows of every object, and of no other")
        if drift is not None:
            click.echo("OpenFGA holds what authz knows, and nothing else of it")
    elif not left:
        click.echo(f"differences: {found}; all of them are repaired")
    else:
        advice = "run it again, and look into the logs of authz" if repair else "run `lakeward authz verify --repair`"
        click.echo(f"differences: {found}; left: {left}; {advice}", err=True)
    return 1 if left else 0


def _show(difference: object) -> None:
    click.echo(str(difference))
