"""`lakeward migrate` and `lakeward wait-for-db`."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Final

import click

from lakeward_authz.authorization import migrate_openfga
from lakeward_authz.settings import DecidingSettings
from lakeward_catalog.settings import IdentitySettings
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.migrating import migrate as migrate_schema
from lakeward_servicekit.postgres.migrating import newest_of
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.postgres.schemas import version_of
from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.postgres import PostgresSettings

# Authz first and the catalog last: a catalog that is ready finds the others ready.
MIGRATIONS: Final = {
    "authz": "lakeward_authz.adapters.postgres.migrations",
    "vending": "lakeward_vending.adapters.postgres.migrations",
    "catalog": "lakeward_catalog.adapters.postgres.migrations",
}


@dataclasses.dataclass(frozen=True)
class _Migrated:
    """What migrations are told."""

    postgres: PostgresSettings
    deciding: DecidingSettings
    identity: IdentitySettings


async def migrate(environ: Mapping[str, str]) -> None:
    """Bring every service's schema to its newest version, and OpenFGA's model where that decides."""
    settings = loaded(_Migrated, environ)
    await migrate_all(settings.postgres, settings.deciding, settings.identity)


async def migrate_all(settings: PostgresSettings, deciding: DecidingSettings, identity: IdentitySettings) -> None:
    """Bring every service's schema to its newest version, and OpenFGA's model where that decides.

    Raises:
        MigrationFailed: a role may not create a schema, or one holds revisions of something else.
        SettingsError: a model that this release does not know.
        Refusal: DATABASE_UNAVAILABLE; AUTHORIZATION_UNAVAILABLE, when the schemas are done.
    """
    for service, package in MIGRATIONS.items():
        await migrate_schema(
            settings.direct_url,
            package=package,
            schema=settings.schema_of(service),
            root_cert=settings.ssl_root_cert,
            given={} if identity.server_id is None else {"server_id": str(identity.server_id)},
        )
    await migrate_openfga(deciding)


async def wait(environ: Mapping[str, str], *, retries: int, backoff: float, migrated: bool) -> int:
    """Try until Postgres answers, and with `migrated` until its schemas are ready; 1 where it does not in time."""
    settings = loaded(PostgresSettings, environ)
    problem = ""
    for attempt in range(retries + 1):
        if attempt:
            await asyncio.sleep(backoff)
        try:
            problem = await _missing(settings, migrated=migrated)
        except Refusal as refusal:
            problem = refusal.message
        if not problem:
            return 0
    click.echo(f"lakeward: {problem}", err=True)
    return 1


async def _missing(settings: PostgresSettings, *, migrated: bool) -> str:
    """What is not there yet; "" where all is."""
    async with open_pool(settings.write_url, size=1, name="lakeward wait", root_cert=settings.ssl_root_cert) as pool:
        await pool.ping()
        if not migrated:
            return ""
        for service, package in MIGRATIONS.items():
            version = await version_of(pool, settings.schema_of(service))
            if version is None or version.number < newest_of(package):
                return f"the schema of {service} is not migrated; run `lakeward migrate`"
    return ""
