"""`lakeward authz verify`: whether authz knows of every object that the catalog has, where it is, and of no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import click

from lakeward_servicekit.process import loaded
from lakeward_servicekit.rpc import Caller
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings


async def verify(environ: Mapping[str, str], *, repair: bool) -> int:
    """Print each difference; with `repair` tell authz of what it lacks.

    Returns:
        1 where differences are left, else 0.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE.
    """
    from lakeward_authz.bootstrap import tree_alone  # noqa: PLC0415 - commands load what they run
    from lakeward_catalog.bootstrap import verify_tree  # noqa: PLC0415 - commands load what they run

    settings = loaded(_Stored, environ)
    async with tree_alone(settings.postgres) as authz:
        verified = await verify_tree(
            settings.postgres, authz=authz.channel(caller=Caller.CALLER_CATALOG), repair=repair, report=_show
        )
    if not verified.found and not verified.left:
        click.echo("authz knows of every object, and of no other")
    elif not verified.left:
        click.echo(f"differences: {verified.found}; all of them are repaired")
    else:
        advice = "run it again, and look into the logs of authz" if repair else "run `lakeward authz verify --repair`"
        click.echo(f"differences: {verified.found}; left: {verified.left}; {advice}", err=True)
    return 1 if verified.left else 0


def _show(difference: object) -> None:
    click.echo(str(difference))
