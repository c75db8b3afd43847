"""`lakeward authz appoint`: an administrator of the server, where nobody is one who could make others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import click

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings


async def appoint(environ: Mapping[str, str], *, user: str, operator: bool) -> int:
    """Give a user the right, and say whether it was new.

    Returns:
        0; 1 where that can't be done, with what is wrong.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
    """
    from lakeward_authz.bootstrap import appointments_alone  # noqa: PLC0415 - commands load what they run

    settings = loaded(_Stored, environ)
    what = "operator" if operator else "administrator"
    try:
        async with appointments_alone(settings.postgres) as appointments:
            appointed = await appointments(user, operator=operator)
    except Refusal as refusal:
        click.echo(refusal.message, err=True)
        return 1
    click.echo(f"{appointed.user_id} {'is' if appointed.anew else 'was already'} an {what} of this server")
    return 0
