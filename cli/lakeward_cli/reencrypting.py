"""`lakeward reencrypt`: every storage secret under the first key of the ring, so that an older one can be taken away."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import click

from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_vending.settings import SecretSettings


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings
    secrets: SecretSettings


async def reencrypt(environ: Mapping[str, str]) -> None:
    """Encrypt anew what another key encrypted, and say how many secrets that were.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, or SECRET_UNREADABLE where a key is gone already.
    """
    from lakeward_vending import bootstrap  # noqa: PLC0415 - the one command that needs vending and nothing else

    settings = loaded(_Stored, environ)
    count = await bootstrap.reencrypt(settings.postgres, settings.secrets)
    click.echo(f"{count} secrets were under another key, and are under {settings.secrets.key_ring[0].id!r} now")
