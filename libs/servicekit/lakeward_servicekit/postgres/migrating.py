"""Brings a service's schema to its newest version.

A service's migrations are a folder of Alembic revisions, `versions/`, in a package of its own. Revisions are numbered
("0001", "0002", ...), name no schema (the session's search path does), and say with `oldest_release` which release is
the oldest that may use the schema after them. There is no env.py: what it would hold is the same for all, and is here.
"""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import asyncpg
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from lakeward_servicekit.postgres import failures
from lakeward_servicekit.postgres.addresses import Address, address_of, quoted
from lakeward_servicekit.postgres.schemas import TABLE, MigrationFailed, Version, release_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from alembic.runtime.migration import MigrationInfo
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from lakeward_servicekit.secrecy import SecretStr

_LOG: Final = logging.getLogger(__name__)
_ALEMBIC_TABLE: Final = "alembic_version"
_LONGEST_STATEMENT: Final = "60min"
_OLDEST: Final = "0.0.0"
_CREATE: Final = """
create table if not exists schema_version (
    only_row boolean primary key default true check (only_row),
    number integer not null,
    oldest_release text not null,
    migrated_at timestamptz not null default now())
"""
_SAY: Final = """
insert into schema_version (number, oldest_release) values (:number, :oldest)
on conflict (only_row) do update
   set number = excluded.number, oldest_release = excluded.oldest_release, migrated_at = now()
"""


async def migrate(
    url: SecretStr, *, package: str, schema: str, root_cert: Path | None = None, given: Mapping[str, str] | None = None
) -> Version:
    """Bring a schema to the newest version that `package` knows; all of it in one transaction.

    Two that run at once wait for each other by an advisory lock of the schema's name. A schema that is newer than
    `package` is left as it is. May be repeated, and may skip versions.

    Args:
        url: past any pooler.
        package: with a `versions/` folder of revisions: "lakeward_catalog.adapters.postgres.migrations".
        schema: made if it is missing.
        root_cert: CA bundle that the server is verified with, where the URL asks for that.
        given: what an operator says of the rows that migrations make; they find it in `context.config.attributes`.

    Returns:
        The version it has now.

    Raises:
        MigrationFailed: the role may not create the schema, or it holds revisions of something else.
        Refusal: DATABASE_UNAVAILABLE.
    """
    scripts = scripts_of(package)
    engine = _engine(address_of(url.get_secret_value(), name="lakeward migrate", schema=schema, root_cert=root_cert))
    try:
        async with engine.begin() as connection:
            await connection.execute(sa.text(f"set local statement_timeout = '{_LONGEST_STATEMENT}'"))
            await connection.execute(
                sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": schema}
            )
            await _make_schema(connection, schema)
            await connection.execute(sa.text(_CREATE))
            version = await connection.run_sync(_upgrade, scripts, schema, given or {})
    except OSError as away:
        raise failures.unreachable(away) from away
    except DBAPIError as failed:
        raise _told(failed) from failed
    finally:
        await engine.dispose()
    _LOG.info("schema is up to date", extra={"schema": schema, "version": version.number})
    return version


async def differences(url: SecretStr, *, schema: str, metadata: sa.MetaData) -> list[str]:
    """How the tables of a migrated schema differ from `metadata`, for a test that they don't."""
    engine = _engine(address_of(url.get_secret_value(), name="lakeward differences", schema=schema))
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_compare, metadata)
    finally:
        await engine.dispose()


def scripts_of(package: str) -> ScriptDirectory:
    """The revisions of a package.

    Raises:
        MigrationFailed: the package has none.
    """
    spec = importlib.util.find_spec(package)
    locations = [] if spec is None else list(spec.submodule_search_locations or ())
    folder = next((Path(each) for each in locations if (Path(each) / "versions").is_dir()), None)
    if folder is None:
        raise MigrationFailed(f"the package {package} has no folder of revisions, versions/")
    return ScriptDirectory(str(folder), version_locations=[str(folder / "versions")])


def newest_of(package: str) -> int:
    """The number of a package's newest revision."""
    head = scripts_of(package).get_current_head()
    return 0 if head is None else int(head)


def _engine(address: Address) -> AsyncEngine:
    async def connect() -> asyncpg.Connection[asyncpg.Record]:
        return await asyncpg.connect(address.dsn, ssl=address.ssl, server_settings=dict(address.server_settings))

    return create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=sa.pool.NullPool)


async def _make_schema(connection: AsyncConnection, schema: str) -> None:
    found = await connection.scalar(sa.text("select to_regnamespace(:name)::text"), {"name": quoted(schema)})
    if found is None:
        await connection.execute(sa.text(f"create schema {quoted(schema)}"))
    resolved = await connection.scalar(sa.text("select current_schema()"))
    if resolved != schema:
        raise MigrationFailed(
            f"the session works in the schema {resolved}, not in {schema}; a transaction pooler drops the search path: "
            "set LAKEWARD__PG_DIRECT_URL to an address past it"
        )


def _upgrade(connection: sa.Connection, scripts: ScriptDirectory, schema: str, given: Mapping[str, str]) -> Version:
    head = scripts.get_current_head()
    known = {revision.revision for revision in scripts.walk_revisions()}
    before = MigrationContext.configure(
        connection, opts={"version_table": _ALEMBIC_TABLE, "version_table_schema": schema}
    ).get_current_revision()
    if before is not None and before not in known:
        return _newer(connection, before, schema)

    def revisions(current: Any, _: object) -> Any:  # noqa: ANN401 - Alembic's own types are not public
        return scripts._upgrade_revs("head", current)  # noqa: SLF001 - what Alembic's own upgrade command calls

    with EnvironmentContext(
        Config(attributes=dict(given)), scripts, fn=revisions, destination_rev="head"
    ) as environment:
        environment.configure(
            connection=connection,
            version_table=_ALEMBIC_TABLE,
            version_table_schema=schema,
            on_version_apply=_say_applied,
        )
        environment.run_migrations()
    version = Version(0 if head is None else int(head), _oldest_release(scripts))
    connection.execute(sa.text(_SAY), {"number": version.number, "oldest": version.oldest_release})
    return version


def _say_applied(ctx: MigrationContext, step: MigrationInfo, heads: object, run_args: object) -> None:
    del heads, run_args  # Alembic passes all four by these names
    _LOG.info("applied a migration", extra={"schema": ctx.version_table_schema, "revision": step.up_revision_id})


def _newer(connection: sa.Connection, revision: str, schema: str) -> Version:
    row = connection.execute(sa.text("select number, oldest_release from schema_version")).one_or_none()
    if row is None or not revision.isdecimal():
        raise MigrationFailed(
            f"the schema {schema} holds the revision {revision!r} of something else; choose another schema"
        )
    _LOG.info("schema is newer than this release", extra={"schema": schema, "version": row.number})
    return Version(row.number, row.oldest_release)


def _oldest_release(scripts: ScriptDirectory) -> str:
    """The latest release that any revision asks for."""
    asked = [getattr(revision.module, "oldest_release", _OLDEST) for revision in scripts.walk_revisions()]
    return max(asked, key=release_key, default=_OLDEST)


def _compare(connection: sa.Connection, metadata: sa.MetaData) -> list[str]:
    def ours(_: object, name: str | None, kind: str, __: bool, ___: object) -> bool:  # noqa: FBT001 - Alembic calls it so
        return not (kind == "table" and name in {_ALEMBIC_TABLE, TABLE})

    context = MigrationContext.configure(
        connection, opts={"compare_type": True, "include_object": ours, "version_table": _ALEMBIC_TABLE}
    )
    return [str(difference) for difference in compare_metadata(context, metadata)]


def _told(failed: DBAPIError) -> Exception:
    cause = failed.orig if failed.orig is None else failed.orig.__cause__ or failed.orig
    known = None if cause is None else failures.refusal_of(cause)
    return known or MigrationFailed(f"a migration failed and was rolled back: {cause}")
