"""`lakeward authz verify`, on what a catalog and an authz have written."""

from __future__ import annotations

import secrets
from uuid import UUID

import pytest

from lakeward_authz.adapters.openfga.feeding import Feeder
from lakeward_cli.verifying import verify
from lakeward_components.openfga import OpenFgaServer
from tests.support.authz_stores import openfga_store
from tests.support.catalog.joined import joined_at

pytestmark = pytest.mark.integration


async def test_the_command_says_what_differs_and_ends_with_1_until_it_is_repaired(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    async with joined_at(postgres_url) as joined:
        house = await joined.a_house()
        await house.make_namespace("sales")
        await house.make_table("sales", "orders")
        assert await verify(environment, repair=False) == 0
        assert capsys.readouterr().out == "authz knows of every object, and of no other\n"

        warehouse, lost = UUID(house.warehouse_id), await joined.pool.fetchval("select incarnation from tabular")
        await joined.authz.pool.execute(
            "delete from objects where warehouse_id = $1 and object_id = $2", warehouse, lost
        )
        assert await verify(environment, repair=False) == 1
        told = capsys.readouterr()
        line = f"missing in authz: table {lost} 'sales.orders' in warehouse {warehouse} of project"
        assert told.out.startswith(line)
        assert "--repair" in told.err

        assert await verify(environment, repair=True) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "differences: 1; all of them are repaired"
        assert await joined.differences() == []
        assert await verify(environment, repair=False) == 0


async def test_where_openfga_decides_its_store_is_compared_too(
    postgres_url: str, openfga_server: OpenFgaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    store, prefix = f"t{secrets.token_hex(6)}", "collaboration"
    environment = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url,
        "LAKEKEEPER__AUTHZ_BACKEND": "openfga",
        "LAKEKEEPER__OPENFGA__ENDPOINT": openfga_server.url,
        "LAKEKEEPER__OPENFGA__API_KEY": openfga_server.api_key,
        "LAKEKEEPER__OPENFGA__STORE_NAME": store,
        "LAKEKEEPER__OPENFGA__AUTHORIZATION_MODEL_PREFIX": prefix,
    }
    async with (
        joined_at(postgres_url) as joined,
        openfga_store(openfga_server, name=store, prefix=prefix) as openfga,
    ):
        house = await joined.a_house()
        await house.make_namespace("sales")
        await house.make_table("sales", "orders")
        await Feeder(joined.authz.pool, openfga).catch_up()
        assert await verify(environment, repair=True) == 0  # another test's tables are there too
        capsys.readouterr()
        assert await verify(environment, repair=False) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "OpenFGA holds what authz knows, and nothing else of it"

        lost = [each async for each in openfga.tuples() if each.object.startswith("table:") and "/" in each.user][-1]
        await openfga.write([(lost, False)])
        assert await verify(environment, repair=False) == 1
        told = capsys.readouterr()
        assert told.out.splitlines() == [f"missing in OpenFGA: {lost.user} {lost.relation} {lost.object}"]
        assert "--repair" in told.err

        assert await verify(environment, repair=True) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "differences: 1; all of them are repaired"
        assert lost in [each async for each in openfga.tuples()]
        assert await verify(environment, repair=False) == 0
