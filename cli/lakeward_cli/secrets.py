"""`lakeward secrets`: storage secrets under another key, or in another store."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

import click

from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.audit import AuditSettings
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_vending.settings import SecretSettings


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings
    secrets: SecretSettings
    audit: AuditSettings


async def rotate(environ: Mapping[str, str]) -> None:
    """Encrypt anew what another key encrypted, say how many secrets that were, and let nothing be under another any more.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, or SECRET_UNREADABLE where a key is gone already.
    """
    from lakeward_vending import bootstrap  # noqa: PLC0415 - the one command that needs vending and nothing else

    settings = loaded(_Stored, environ)
    count = await bootstrap.reencrypt(settings.postgres, settings.secrets, audits=settings.audit.records != "off")
    click.echo(f"{count} secrets were under another key, and are under {settings.secrets.key_ring[0].id!r} now")


async def move(environ: Mapping[str, str], *, to: Literal["postgres", "kv2"]) -> int:
    """Bring every secret to a store, and say how many were elsewhere.

    Returns:
        1 where secrets were not to be found in the store that has them, else 0.

    Raises:
        SettingsError: with everything that is wrong.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, SECRET_STORE_UNAVAILABLE, or SECRET_UNREADABLE where a key is gone.
    """
    from lakeward_vending import bootstrap  # noqa: PLC0415 - see above

    settings = loaded(_Stored, environ)
    moved, lost = await bootstrap.move_secrets(
        settings.postgres, settings.secrets, to=to, audits=settings.audit.records != "off"
    )
    click.echo(f"{moved} secrets were elsewhere, and lie in {to} now")
    for secret_id in lost:
        click.echo(
            f"lakeward: the secret {secret_id} is not in its store; give its warehouse a credential again", err=True
        )
    return 1 if lost else 0
