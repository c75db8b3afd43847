"""`lakeward migrate`, where OpenFGA decides."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Callable

import asyncpg
import pytest

from lakeward_components.openfga import OpenFgaServer
from tests.support.authz_stores import openfga_store
from tests.support.installations import foreign_removed

pytestmark = pytest.mark.integration


@pytest.fixture
def database(make_database: Callable[[], str]) -> str:
    return make_database()


def migrate(database: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **foreign_removed(os.environ),
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__AUTHZ_BACKEND": "openfga",
        **variables,
    }
    command = [sys.executable, "-m", "lakeward_cli", "migrate"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


async def test_it_makes_the_store_and_the_model_once_however_often_it_is_run(
    database: str, openfga_server: OpenFgaServer
) -> None:
    name = f"t{secrets.token_hex(6)}"
    variables = {
        "LAKEKEEPER__OPENFGA__ENDPOINT": openfga_server.url,
        "LAKEKEEPER__OPENFGA__API_KEY": openfga_server.api_key,
        "LAKEKEEPER__OPENFGA__STORE_NAME": name,
        "LAKEKEEPER__OPENFGA__AUTHORIZATION_MODEL_PREFIX": "lakes",
    }
    models = []
    for _ in range(2):
        done = migrate(database, **variables)
        assert done.returncode == 0, done.stderr
        async with openfga_store(openfga_server, name=name, prefix="lakes") as store:
            models.append(await store.model())
    assert models[0] is not None
    assert models[0] == models[1]
    assert openfga_server.api_key not in done.stderr + done.stdout


async def test_without_openfga_it_says_so_and_the_schemas_are_there_all_the_same(database: str) -> None:
    done = migrate(database, LAKEKEEPER__OPENFGA__ENDPOINT="http://127.0.0.1:1")
    assert done.returncode == 69
    assert "OpenFGA gives no answer" in done.stderr
    connection = await asyncpg.connect(database)
    try:
        assert await connection.fetchval("select count(*) from lakeward_catalog.schema_version") == 1
    finally:
        await connection.close()


def test_it_waits_for_nobody_where_another_decides(database: str) -> None:
    done = migrate(database, LAKEKEEPER__AUTHZ_BACKEND="builtin", LAKEKEEPER__OPENFGA__ENDPOINT="http://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
