"""Migrations of a service's own schema, and whether a binary may serve on it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.migrating import differences, migrate, newest_of
from lakeward_servicekit.postgres.pools import open_connection, open_pool
from lakeward_servicekit.postgres.schemas import (
    MigrationFailed,
    Needs,
    SchemaMismatch,
    SchemaState,
    Version,
    check_schema,
)
from lakeward_servicekit.secrecy import SecretStr

pytestmark = pytest.mark.integration

_COUNTER = itertools.count()
_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = {down!r}
oldest_release = "{oldest}"

def upgrade():
    {upgrade}
"""
_CREATE = 'op.create_table("thing", sa.Column("id", sa.Integer, primary_key=True))'
_WIDEN = 'op.add_column("thing", sa.Column("name", sa.Text))'
_FAIL = 'op.execute("select 1/0")'

Write = Callable[..., str]


@pytest.fixture
def revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a package of revisions, in order, and gives its name."""

    def write(*upgrades: str, oldest: tuple[str, ...] = ()) -> str:
        package = f"migrations_{next(_COUNTER)}"
        versions = tmp_path / package / "versions"
        versions.mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        down = None
        for number, upgrade in enumerate(upgrades, start=1):
            revision = f"{number:04}"
            text = _REVISION.format(
                revision=revision, down=down, oldest=(*oldest, *["0.1.0"] * 9)[number - 1], upgrade=upgrade
            )
            (versions / f"{revision}_step.py").write_text(text)
            down = revision
        monkeypatch.syspath_prepend(str(tmp_path))
        return package

    return write


@pytest.fixture
def url(postgres_url: str) -> SecretStr:
    return SecretStr(postgres_url)


@pytest.fixture
def schema() -> str:
    return f"Acme_{next(_COUNTER)}"


def _needs(schema: str, number: int, release: str = "0.1.0") -> Needs:
    return Needs(service="catalog", schema=schema, number=number, release=release)


async def _state(url: SecretStr, needs: Needs) -> tuple[SchemaState, str]:
    async with open_pool(url, size=1, name="t") as pool:
        try:
            await check_schema(pool, needs)
        except SchemaMismatch as mismatch:
            return mismatch.state, str(mismatch)
    return SchemaState.READY, ""


async def test_a_schema_is_made_with_its_tables_and_says_its_version(
    url: SecretStr, schema: str, revisions: Write
) -> None:
    package = revisions(_CREATE, _WIDEN)
    assert await migrate(url, package=package, schema=schema) == Version(2, "0.1.0")
    assert newest_of(package) == 2
    async with open_pool(url, size=1, name="t", schema=schema) as pool:
        assert await pool.fetchval("select count(name) from thing") == 0
        assert await pool.fetchval("select number from schema_version") == 2
    assert await migrate(url, package=package, schema=schema) == Version(2, "0.1.0")


async def test_versions_may_be_skipped(url: SecretStr, schema: str, revisions: Write) -> None:
    await migrate(url, package=revisions(_CREATE), schema=schema)
    everything = revisions(_CREATE, _WIDEN, 'op.create_table("other", sa.Column("n", sa.Integer))')
    assert (await migrate(url, package=everything, schema=schema)).number == 3


async def test_two_that_migrate_at_once_wait_for_each_other(url: SecretStr, schema: str, revisions: Write) -> None:
    package = revisions(_CREATE, _WIDEN)
    both = await asyncio.gather(*(migrate(url, package=package, schema=schema) for _ in range(3)))
    assert set(both) == {Version(2, "0.1.0")}


async def test_a_migration_that_fails_leaves_the_schema_as_it_was(
    url: SecretStr, schema: str, revisions: Write
) -> None:
    await migrate(url, package=revisions(_CREATE), schema=schema)
    with pytest.raises(MigrationFailed, match="division by zero"):
        await migrate(url, package=revisions(_CREATE, _WIDEN, _FAIL), schema=schema)
    async with open_pool(url, size=1, name="t", schema=schema) as pool:
        assert await pool.fetchval("select number from schema_version") == 1
        columns = "select count(*) from information_schema.columns where table_schema = $1 and table_name = 'thing'"
        assert await pool.fetchval(columns, schema) == 1


async def test_an_older_release_leaves_a_newer_schema_alone(url: SecretStr, schema: str, revisions: Write) -> None:
    await migrate(url, package=revisions(_CREATE, _WIDEN, oldest=("0.1.0", "0.2.0")), schema=schema)
    assert await migrate(url, package=revisions(_CREATE), schema=schema) == Version(2, "0.2.0")


async def test_revisions_of_something_else_are_not_touched(url: SecretStr, schema: str, revisions: Write) -> None:
    async with open_connection(url, name="t") as connection:
        await connection.execute(
            f'create schema "{schema}"; create table "{schema}".alembic_version (version_num varchar(32));'
            f"insert into \"{schema}\".alembic_version values ('abcdef')"
        )
    with pytest.raises(MigrationFailed, match="of something else"):
        await migrate(url, package=revisions(_CREATE), schema=schema)


async def test_services_share_a_database_and_nothing_else(url: SecretStr, schema: str, revisions: Write) -> None:
    one, other = f"{schema}_one", f"{schema}_other"
    await migrate(url, package=revisions(_CREATE, _WIDEN), schema=one)
    await migrate(url, package=revisions(_CREATE), schema=other)
    assert await _state(url, _needs(one, 2)) == (SchemaState.READY, "")
    assert (await _state(url, _needs(other, 2)))[0] is SchemaState.BEHIND


async def test_a_binary_refuses_a_schema_that_is_missing_behind_or_too_new(
    url: SecretStr, schema: str, revisions: Write
) -> None:
    state, message = await _state(url, _needs(schema, 1))
    assert state is SchemaState.MISSING
    assert "run `lakeward migrate`" in message
    await migrate(url, package=revisions(_CREATE, _WIDEN, oldest=("0.1.0", "0.2.0")), schema=schema)
    assert (await _state(url, _needs(schema, 3, "0.3.0")))[0] is SchemaState.BEHIND
    assert (await _state(url, _needs(schema, 1, "0.1.9")))[0] is SchemaState.TOO_NEW
    assert (await _state(url, _needs(schema, 1, "0.10.0")))[0] is SchemaState.READY


async def test_tables_that_differ_from_their_definition_are_listed(
    url: SecretStr, schema: str, revisions: Write
) -> None:
    metadata = sa.MetaData()
    thing = sa.Table("thing", metadata, sa.Column("id", sa.Integer, primary_key=True))
    await migrate(url, package=revisions(_CREATE), schema=schema)
    assert await differences(url, schema=schema, metadata=metadata) == []
    thing.append_column(sa.Column("name", sa.Text))
    (difference,) = await differences(url, schema=schema, metadata=metadata)
    assert "add_column" in difference


async def test_a_database_that_is_away_is_told_as_such(revisions: Write) -> None:
    with pytest.raises(Refusal) as refused:
        await migrate(SecretStr("postgresql://u:p@127.0.0.1:1/d"), package=revisions(_CREATE), schema="s")
    assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE


async def test_a_package_without_revisions_is_named(url: SecretStr) -> None:
    with pytest.raises(MigrationFailed, match="has no folder of revisions"):
        await migrate(url, package="lakeward_servicekit", schema="s")
